import type { Fault } from '../errors.js';
import { faultOfTimeZone } from '../time/time-zone.js';
import { calendarWindow, localDayAt } from '../time/window.js';
import { faultsOfNumber } from './parameters.js';
import type { RatingPool } from './pool.js';
import type { Moment } from './rating-algorithm.js';

export const PERIOD_KINDS = ['daily', 'weekly', 'monthly'] as const;

/** When ratings move in a pool that rates by periods: so long after the end of each. */
export interface PeriodRules {
  readonly every: (typeof PERIOD_KINDS)[number];
  readonly timeZone: string;
  readonly graceSeconds: number;
}

/** A period of a pool's calendar; times are Unix ms. */
export interface Period {
  /** Counted through from the one that holds 1970-01-01 on. */
  readonly number: number;
  /** As that of a window: `monthly:2026-11`. */
  readonly id: string;
  readonly startsAtMs: number;
  readonly endsAtMs: number;
  /** From then on it takes no games, and its games are rated. */
  readonly closesAtMs: number;
}

const DAY_MS = 86_400_000;
const GRACE_SECONDS_MAX = 30 * 86_400;
const PERIOD_DEFAULTS: PeriodRules = { every: 'monthly', timeZone: 'UTC', graceSeconds: 86_400 };

export const withPeriodDefaults = (given: Partial<PeriodRules> | null | undefined): PeriodRules => ({
  ...PERIOD_DEFAULTS,
  ...given,
});

export function faultsOfPeriods({ every, timeZone, graceSeconds }: PeriodRules): Fault[] {
  const zone = faultOfTimeZone(timeZone);
  return [
    ...(PERIOD_KINDS.includes(every)
      ? []
      : [{ pointer: '/periods/every', message: `must be one of ${PERIOD_KINDS.join(', ')}` }]),
    ...(zone === null ? [] : [{ pointer: '/periods/timeZone', message: zone }]),
    ...faultsOfNumber({ min: 0, max: GRACE_SECONDS_MAX, isInteger: true }, graceSeconds, '/periods/graceSeconds'),
  ];
}

/** The period that holds an instant (Unix ms) of the years 1 to 9999. */
export function periodAt(rules: PeriodRules, atMs: number): Period {
  const day = localDayAt(rules.timeZone, atMs);
  return periodOfDay(rules, numberOf(rules, day), day)!;
}

/** The period of that number; null where it lies beyond the year 9999, or is a day that the zone skipped. */
export const periodNumbered = (rules: PeriodRules, number: number): Period | null =>
  periodOfDay(rules, number, firstDayOf(rules, number));

/**
 * From when on a pool has what its games did, Unix ms; 0: all of it. Where it rates by periods that is the end of the last
 * one whose changes were given up.
 */
export function changesKeptFromMs(
  { periods }: { periods: PeriodRules | null },
  { historyFromMs, historyPeriod }: { historyFromMs: number | null; historyPeriod: number | null },
): number {
  if (periods === null) return historyFromMs ?? 0;
  return historyPeriod === null ? 0 : (periodNumbered(periods, historyPeriod)?.endsAtMs ?? 0);
}

/**
 * A time as the ratings of a pool see it. Where they move by periods, time stands still until a period is closed: before
 * that nobody has been idle in it.
 */
export function momentOf({ periods }: Pick<RatingPool, 'periods'>, atMs: number): Moment {
  return { atMs, period: periods && periodAt(periods, atMs - periods.graceSeconds * 1000).number };
}

function periodOfDay({ every, timeZone, graceSeconds }: PeriodRules, number: number, day: number): Period | null {
  const window = calendarWindow(every, timeZone, day);
  if (!window) return null;
  const [startsAtMs, endsAtMs] = [window.startsAtMs!, window.endsAtMs!];
  return { number, id: window.id, startsAtMs, endsAtMs, closesAtMs: endsAtMs + graceSeconds * 1000 };
}

/** Days are counted from 1970-01-01, a Thursday, on. */
function numberOf({ every }: PeriodRules, day: number): number {
  if (every === 'daily') return day;
  if (every === 'weekly') return Math.floor((day + 3) / 7);
  const date = new Date(day * DAY_MS);
  return (date.getUTCFullYear() - 1970) * 12 + date.getUTCMonth();
}

function firstDayOf({ every }: PeriodRules, number: number): number {
  if (every === 'daily') return number;
  if (every === 'weekly') return 7 * number - 3;
  return Date.UTC(1970, number, 1) / DAY_MS;
}
