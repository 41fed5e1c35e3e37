import { backoffMs, sleep } from '../clock.js';

/** How long to wait between tries: doubling from `firstMs`, capped at `maxMs`. */
export interface Backoff {
  firstMs: number;
  maxMs: number;
}

/**
 * Tries until it succeeds, the signal aborts, or an error is not worth another try (then that error is thrown).
 * @param onFailure told of every failed try that will be repeated
 */
export async function retryWhile<T>(
  attempt: () => Promise<T>,
  isRetriable: (error: unknown) => boolean,
  options: { backoff: Backoff; signal: AbortSignal; onFailure?: (error: unknown, waitMs: number) => void },
): Promise<T> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (options.signal.aborted || !isRetriable(error)) throw error;
      const waitMs = backoffMs(tries, options.backoff.firstMs, options.backoff.maxMs);
      options.onFailure?.(error, waitMs);
      await sleep(waitMs, options.signal);
      options.signal.throwIfAborted();
    }
  }
}
