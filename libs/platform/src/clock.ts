import { setTimeout as delay } from 'node:timers/promises';

/** This process's clock, Unix ms. What a board shows never depends on it: the ledger asks PostgreSQL for the time. */
export const nowMs = (): number => Date.now();

/** Milliseconds that only move forward, for measuring. */
export const monotonicMs = (): number => performance.now();

/** RFC 3339 UTC with milliseconds. */
export const toTimestamp = (unixMs: number): string => new Date(unixMs).toISOString();

/** Resolves after `ms`, at once when the signal aborts (it never rejects). */
export async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  await delay(ms, undefined, signal ? { signal } : {}).catch(() => undefined);
}

/** Doubling waits from `firstMs` up to `maxMs`, with up to half of each left to chance so that peers do not march in step. */
export function backoffMs(attempt: number, firstMs: number, maxMs: number): number {
  const full = Math.min(maxMs, firstMs * 2 ** Math.min(attempt, 30));
  return full / 2 + Math.random() * (full / 2);
}
