import { growingCache } from './growing-cache.js';

/** This process's clock, Unix ms. What a board shows never depends on it: the ledger asks PostgreSQL for the time. */
export const nowMs = (): number => Date.now();

/** Milliseconds that only move forward, for measuring. */
export const monotonicMs = (): number => performance.now();

const DAY_MS = 86_400_000;
/** The most days whose text is remembered. */
const DAYS_MAX = 10_000;
const YEAR_10000_MS = 253_402_300_800_000;

const days = growingCache<number, string>(DAYS_MAX);
const twoDigits = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, '0'));

/**
 * RFC 3339 UTC with milliseconds, as `Date.toISOString` writes it. That takes a microsecond, and a page has hundreds of
 * times.
 */
export function toTimestamp(unixMs: number): string {
  if (!(unixMs >= 0 && unixMs < YEAR_10000_MS)) return new Date(unixMs).toISOString();
  const day = Math.floor(unixMs / DAY_MS);
  const ofDayMs = Math.floor(unixMs) - day * DAY_MS;
  const seconds = Math.floor(ofDayMs / 1000);
  const time = `${twoDigits[Math.floor(seconds / 3600)]}:${twoDigits[Math.floor(seconds / 60) % 60]}:${twoDigits[seconds % 60]}`;
  return `${textOfDay(day)}${time}.${String(ofDayMs % 1000).padStart(3, '0')}Z`;
}

/** Such as `2026-11-20T`. */
function textOfDay(day: number): string {
  // Not `get`, which would also note the use, for each row of a page.
  let text = days.peek(day);
  if (text === undefined) {
    text = new Date(day * DAY_MS).toISOString().slice(0, 11);
    days.set(day, text);
  }
  return text;
}

/** A wait that ends early when it is woken. */
export interface Nap {
  /** Never rejects. */
  readonly over: Promise<void>;
  wake(): void;
}

/** Waits for so long, or until it is woken or the signal aborts. */
export function nap(ms: number, signal?: AbortSignal): Nap {
  let wake!: () => void;
  // No rejection: an AbortError with its stack costs more than the wait.
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

/** A timer may ring this much before its time, by the monotonic clock. */
const EARLY_MS = 5;

/**
 * How long until the next beat, a whole multiple of `everyMs` on this process's clock. What repeats at the same rhythm
 * so repeats at the same moment, whenever it began, and can be done together.
 * @returns more than 5 ms, and at most 5 ms more than `everyMs`
 */
export function untilBeatMs(everyMs: number): number {
  const waitMs = everyMs - (monotonicMs() % everyMs);
  return waitMs > EARLY_MS ? waitMs : waitMs + everyMs;
}

/** Waits that double from `firstMs` up to `maxMs`. Up to half of each is random, so that peers do not retry in step. */
export function backoffMs(attempt: number, firstMs: number, maxMs: number): number {
  const full = Math.min(maxMs, firstMs * 2 ** Math.min(attempt, 30));
  return full / 2 + Math.random() * (full / 2);
}
