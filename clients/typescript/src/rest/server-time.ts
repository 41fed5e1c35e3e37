import type { Clock } from '../world.js';

const SAMPLES_MAX = 5;
/** A Date header is cut to the second: on average it is half of one behind. */
const HALF_A_SECOND_MS = 500;

/** What time it is for the service, by the `Date` of its answers: the median of the last five says how far off we are. */
export interface ServerTime {
  /** Takes the `Date` header of an answer; when it was asked for and came, by our own clock. */
  observe(date: string | null, askedAt: number, cameAt: number): void;
  /** Unix ms; our own clock as long as no answer came. */
  now(): number;
  /** How far the service is ahead, ms; null: not known. */
  ahead(): number | null;
}

export function createServerTime(clock: Clock): ServerTime {
  const samples: number[] = [];
  const ahead = (): number | null => [...samples].sort((a, b) => a - b)[samples.length >> 1] ?? null;
  return {
    observe(date, askedAt, cameAt) {
      const stated = Date.parse(date ?? '');
      if (Number.isNaN(stated)) return;
      samples.push(stated + HALF_A_SECOND_MS - (askedAt + cameAt) / 2);
      if (samples.length > SAMPLES_MAX) samples.shift();
    },
    now: () => clock.now() + (ahead() ?? 0),
    ahead,
  };
}
