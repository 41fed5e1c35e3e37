import { NAMED_ID_LENGTH_MAX } from '../ids.js';
import { firingsAround } from './cron.js';
import { firstInstantOf, latestLocalTime } from './time-zone.js';

export const CALENDAR_KINDS = ['alltime', 'daily', 'weekly', 'monthly'] as const;
export type CalendarKind = (typeof CALENDAR_KINDS)[number];

/** A stretch of time with a name; times are RFC 3339 text as the operator wrote them. */
export interface SeasonSpec {
  season: string;
  startsAt: string;
  endsAt: string;
  /** From here to the end everyone but admins sees the standings as they were. */
  freezeAt?: string | null;
}

/** The last hours, including the present one: `24h`; from `1h` to `720h`. */
export interface RollingSpec {
  rolling: string;
}

/** Windows from one firing to the next; five fields: minute, hour, day of month, month, day of week. */
export interface CronSpec {
  cron: string;
}

/** What an operator asks for in a board's `windows`. */
export type WindowSpec = CalendarKind | SeasonSpec | RollingSpec | CronSpec;
export type WindowKind = CalendarKind | 'season' | 'rolling' | 'cron';

/**
 * One window in time: from `startsAtMs` to before `endsAtMs`, both Unix milliseconds; null means without bound, as with
 * `alltime` and rolling windows.
 */
export interface WindowBounds {
  kind: WindowKind;
  /**
   * `alltime`, `daily:2026-11-20`, `weekly:2026-W47`, `monthly:2026-11` (the local date of the start), `season:s1`,
   * `rolling:24h`, `cron:20261120T1800Z` (the start in UTC).
   */
  id: string;
  startsAtMs: number | null;
  endsAtMs: number | null;
  /** Only seasons have one. */
  freezeAtMs: number | null;
}

/** `closed`: nothing enters any more; `settled`: its final standings are written too. */
export type WindowState = 'open' | 'closed' | 'settled';

/** A window that the ledger knows: its bounds were computed once and are stored under `uid`. */
export interface StoredWindow extends WindowBounds {
  uid: number;
  state: WindowState;
}

/** The longest window id, in characters: that of a season. */
export const WINDOW_ID_LENGTH_MAX = 'season:'.length + NAMED_ID_LENGTH_MAX;

export const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
const ROLLING_HOURS_MAX = 720;
/** Window ids write the year with four digits. */
const FIRST_YEAR = 1;
const LAST_YEAR = 9999;
/** 1970-01-01 was a Thursday: the Monday of its ISO week lies three days before. */
const EPOCH_ISO_WEEKDAY_OFFSET = 3;
/** Full ids of the kinds whose windows follow each other. */
const ID_SHAPES: Partial<Record<WindowKind, RegExp>> = {
  daily: /^daily:\d{4}-\d{2}-\d{2}$/,
  weekly: /^weekly:\d{4}-W\d{2}$/,
  monthly: /^monthly:\d{4}-\d{2}$/,
  cron: /^cron:\d{8}T\d{4}Z$/,
};

const pad = (value: number, width: number): string => String(value).padStart(width, '0');

/** Days since 1970 of a date; months (0-based) and days beyond their bounds roll over. */
const dayOf = (year: number, month: number, date: number): number =>
  new Date(0).setUTCFullYear(year, month, date) / DAY_MS;

/** No local time of these years lies beyond; far beyond, a Date is invalid. */
const FIRST_MS = (dayOf(FIRST_YEAR, 0, 1) - 1) * DAY_MS;
const END_MS = (dayOf(LAST_YEAR + 1, 0, 1) + 1) * DAY_MS;

export function kindOf(spec: WindowSpec): WindowKind {
  if (typeof spec === 'string') return spec;
  if ('season' in spec) return 'season';
  return 'rolling' in spec ? 'rolling' : 'cron';
}

/** The name by which a running window of the spec is requested: `daily`, `season:s1`, `rolling:24h`, `cron`. */
export function nameOfSpec(spec: WindowSpec): string {
  if (typeof spec === 'string') return spec;
  if ('season' in spec) return `season:${spec.season}`;
  return 'rolling' in spec ? `rolling:${spec.rolling}` : 'cron';
}

/**
 * The window of the spec that holds the instant (Unix ms); null when it holds none: outside the season, a cron before
 * its first or after its last firing, an instant outside the years 1 to 9999.
 *
 * A day, week or month lasts from the first instant of its first local date to that of the next one's, so that windows
 * of a kind touch and never overlap, also where clocks show midnight twice; a date that the zone skipped has none.
 * Some microseconds: only the zone's offsets and the cron expression are looked up (see `firstInstantOf`,
 * `firingsAround` for what bounds both).
 *
 * @throws RangeError for a zone or a cron expression that `faultOfTimeZone` or `faultOfCron` refuses
 */
export function windowAt(spec: WindowSpec, timeZone: string, atMs: number): WindowBounds | null {
  const kind = kindOf(spec);
  if (kind === 'alltime' || kind === 'rolling') return endless(kind, nameOfSpec(spec));
  if (!isWithinYears(atMs)) return null;
  if (typeof spec === 'string') {
    return calendarWindow(spec, timeZone, localDayAt(timeZone, atMs));
  }
  if ('cron' in spec) return cronWindow(spec, timeZone, atMs);
  const season = 'season' in spec ? seasonWindow(spec) : null;
  return season && season.startsAtMs! <= atMs && atMs < season.endsAtMs! ? season : null;
}

/**
 * The bounds behind a full window id on a board with these specs; null when it names no real window of them
 * (`daily:2026-02-30`, `weekly:2026-W54`, a cron instant at which it does not fire).
 *
 * @throws RangeError as {@link windowAt}
 */
export function windowOfId(specs: readonly WindowSpec[], timeZone: string, id: string): WindowBounds | null {
  for (const spec of specs) {
    const window = windowOfSpec(spec, timeZone, id);
    if (window) return window;
  }
  return null;
}

function windowOfSpec(spec: WindowSpec, timeZone: string, id: string): WindowBounds | null {
  const kind = kindOf(spec);
  const shape = ID_SHAPES[kind];
  if (shape ? !shape.test(id) : nameOfSpec(spec) !== id) return null;
  if (typeof spec === 'string') {
    if (kind === 'alltime') return endless(kind, id);
    // A date that does not exist rolls over into another window, whose id differs.
    const window = calendarWindow(spec, timeZone, firstDayOfId(id));
    return window?.id === id ? window : null;
  }
  if ('season' in spec) return seasonWindow(spec);
  if ('rolling' in spec) return endless(kind, id);
  const [, year, month, date, hour, minute] = /^cron:(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)Z$/.exec(id)!;
  const minuteMs = Date.parse(`${year}-${month}-${date}T${hour}:${minute}:00Z`);
  // Local mean times had seconds, so a firing may lie anywhere in its UTC minute.
  const window = isWithinYears(minuteMs) ? cronWindow(spec, timeZone, minuteMs + 59_999) : null;
  return window?.id === id ? window : null;
}

/** The spec behind a full id or the name of a running window; undefined if the board has none. */
export function specOf(specs: readonly WindowSpec[], idOrName: string): WindowSpec | undefined {
  return specs.find((spec) => nameOfSpec(spec) === idOrName || ID_SHAPES[kindOf(spec)]?.test(idOrName));
}

/** When a window takes nothing more, Unix ms; Infinity: it has no end. */
export const dueAtMs = ({ endsAtMs }: Pick<WindowBounds, 'endsAtMs'>, graceSeconds: number): number =>
  endsAtMs === null ? Infinity : endsAtMs + graceSeconds * 1000;

/** Whether a run may still enter the window at `nowMs`: it is not closed, and its end with the grace has not passed. */
export function isWindowOpen(
  window: Pick<StoredWindow, 'endsAtMs' | 'state'>,
  graceSeconds: number,
  nowMs: number,
): boolean {
  return window.state === 'open' && nowMs < dueAtMs(window, graceSeconds);
}

/**
 * Whether everyone but admins sees the window as it stood at its freeze.
 * @param latestMs the latest that the time can be, where it is only known within bounds
 */
export function isFrozen(
  { freezeAtMs, endsAtMs, state }: Pick<StoredWindow, 'freezeAtMs' | 'endsAtMs' | 'state'>,
  nowMs: number,
  latestMs = nowMs,
): boolean {
  if (state !== 'open' || freezeAtMs === null || endsAtMs === null) return false;
  return freezeAtMs <= latestMs && nowMs < endsAtMs;
}

/**
 * The hours of `24h`, `rolling:24h` or the spec.
 *
 * @throws RangeError for what {@link faultOfRolling} refuses
 */
export function rollingHours(spec: RollingSpec | string): number {
  const text = typeof spec === 'string' ? spec.replace(/^rolling:/, '') : spec.rolling;
  const fault = faultOfRolling(text);
  if (fault) throw new RangeError(`The rolling window "${text}" ${fault}.`);
  return Number(text.slice(0, -1));
}

/** The first UTC hour (hours since 1970) that a rolling window of so many hours still includes at an instant. */
export function firstRollingHour(hours: number, nowMs: number): number {
  return Math.floor(nowMs / HOUR_MS) - hours + 1;
}

/** What is wrong with the length of a rolling window, or null when it is `1h` to `720h`. */
export function faultOfRolling(text: string): string | null {
  const hours = /^[1-9]\d{0,2}h$/.test(text) ? Number(text.slice(0, -1)) : Infinity;
  return hours <= ROLLING_HOURS_MAX ? null : `must be whole hours from "1h" to "${ROLLING_HOURS_MAX}h"`;
}

const endless = (kind: WindowKind, id: string): WindowBounds => ({
  kind,
  id,
  startsAtMs: null,
  endsAtMs: null,
  freezeAtMs: null,
});

const isWithinYears = (atMs: number): boolean => atMs >= FIRST_MS && atMs < END_MS;

const hasYearOfId = (year: number): boolean => year >= FIRST_YEAR && year <= LAST_YEAR;

function seasonWindow(spec: SeasonSpec): WindowBounds | null {
  const startsAtMs = Date.parse(spec.startsAt);
  const endsAtMs = Date.parse(spec.endsAt);
  if (!(startsAtMs < endsAtMs)) return null;
  const freezeAtMs = spec.freezeAt == null ? null : Date.parse(spec.freezeAt);
  return { kind: 'season', id: nameOfSpec(spec), startsAtMs, endsAtMs, freezeAtMs };
}

function cronWindow(spec: CronSpec, timeZone: string, atMs: number): WindowBounds | null {
  const firings = firingsAround(spec.cron, timeZone, atMs);
  if (!firings || !hasYearOfId(new Date(firings.lastMs).getUTCFullYear())) return null;
  const start = new Date(firings.lastMs).toISOString().replace(/[-:]/g, '').slice(0, 'yyyymmddThhmm'.length);
  return {
    kind: 'cron',
    id: `cron:${start}Z`,
    startsAtMs: firings.lastMs,
    endsAtMs: firings.nextMs,
    freezeAtMs: null,
  };
}

/** The local date at an instant (Unix ms), as days since 1970. */
export const localDayAt = (timeZone: string, atMs: number): number =>
  Math.floor(latestLocalTime(timeZone, atMs) / DAY_MS);

/** The window of a local date (days since 1970); null if the zone skipped it, or its year has no four digits. */
export function calendarWindow(kind: CalendarKind, timeZone: string, day: number): WindowBounds | null {
  const span = calendarSpan(kind, day);
  if (!hasYearOfId(span.year)) return null;
  const startsAtMs = firstInstantOf(timeZone, span.firstDay * DAY_MS);
  const endsAtMs = firstInstantOf(timeZone, span.endDay * DAY_MS);
  return startsAtMs < endsAtMs ? { kind, id: `${kind}:${span.label}`, startsAtMs, endsAtMs, freezeAtMs: null } : null;
}

/** The local dates of a window, as days since 1970, and its id. */
function calendarSpan(
  kind: CalendarKind,
  day: number,
): { firstDay: number; endDay: number; year: number; label: string } {
  if (kind === 'weekly') {
    const monday = mondayOf(day);
    // ISO 8601: a week belongs to the year that holds its Thursday; 4 January is always in week 1.
    const year = new Date((monday + 3) * DAY_MS).getUTCFullYear();
    const week = (monday - mondayOf(dayOf(year, 0, 4))) / 7 + 1;
    return { firstDay: monday, endDay: monday + 7, year, label: `${pad(year, 4)}-W${pad(week, 2)}` };
  }
  const date = new Date(day * DAY_MS);
  const year = date.getUTCFullYear();
  const month = date.getUTCMonth();
  const label = `${pad(year, 4)}-${pad(month + 1, 2)}`;
  if (kind === 'monthly') return { firstDay: dayOf(year, month, 1), endDay: dayOf(year, month + 1, 1), year, label };
  return { firstDay: day, endDay: day + 1, year, label: `${label}-${pad(date.getUTCDate(), 2)}` };
}

/** The local date, as days since 1970, with which a daily, weekly or monthly id begins. */
function firstDayOfId(id: string): number {
  const [, year, week, month, date] = /:(\d{4})-(?:W(\d{2})|(\d{2})(?:-(\d{2}))?)$/.exec(id)!;
  return week
    ? dayOf(Number(year), 0, 4) + (Number(week) - 1) * 7
    : dayOf(Number(year), Number(month) - 1, Number(date ?? 1));
}

/** The Monday of a day's ISO week; both are days since 1970, which may be negative. */
const mondayOf = (day: number): number => day - ((((day + EPOCH_ISO_WEEKDAY_OFFSET) % 7) + 7) % 7);

/** When the earliest window of a board began that takes entries now, by its definition alone, Unix ms; Infinity: none did. */
export function windowsBeganMs(
  { windows, timeZone, graceSeconds }: { windows: readonly WindowSpec[]; timeZone: string; graceSeconds: number },
  nowMs: number,
): number {
  // One that is over still takes late games for as long as the grace lasts.
  const times = [nowMs, nowMs - graceSeconds * 1000];
  const began = windows.flatMap((spec) => {
    if (kindOf(spec) === 'rolling') {
      return [firstRollingHour(rollingHours(nameOfSpec(spec)), nowMs) * HOUR_MS];
    }
    return times.flatMap((atMs) => windowAt(spec, timeZone, atMs)?.startsAtMs ?? []);
  });
  return Math.min(Infinity, ...began);
}
