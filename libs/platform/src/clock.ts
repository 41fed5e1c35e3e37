/** This process's clock, Unix ms. What a board shows never depends on it: the ledger asks PostgreSQL for the time. */
export const nowMs = (): number => Date.now();

/** Milliseconds that only move forward, for measuring. */
export const monotonicMs = (): number => performance.now();

/** RFC 3339 UTC with milliseconds. */
export const toTimestamp = (unixMs: number): string => new Date(unixMs).toISOString();

/** A wait that ends early when it is woken. */
export interface Nap {
  /** Never rejects. */
  readonly over: Promise<void>;
  wake(): void;
}

/** Waits for so long, or until it is woken or the signal aborts. */
export function nap(ms: number, signal?: AbortSignal): Nap {
  let wake!: () => void;
  // An AbortError with its stack for each wait that ends early would cost more than the wait.
  const over = new Promise<void>((resolve) => {
    const timer = setTimeout(() => wake(), ms);
    wake = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', wake);
      resolve();
    };
    if (signal?.aborted) wake();
    else signal?.addEventListener('abort', wake, { once: true });
  });
  return { over, wake };
}

/** Waits for so long, or until the signal aborts; it never rejects. */
export const sleep = (ms: number, signal?: AbortSignal): Promise<void> => nap(ms, signal).over;

/** Doubling waits from `firstMs` up to `maxMs`, with up to half of each left to chance so that peers do not march in step. */
export function backoffMs(attempt: number, firstMs: number, maxMs: number): number {
  const full = Math.min(maxMs, firstMs * 2 ** Math.min(attempt, 30));
  return full / 2 + Math.random() * (full / 2);
}
