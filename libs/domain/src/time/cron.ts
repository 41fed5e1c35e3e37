import { BoundedCache } from '../bounded-cache.js';
import { firstInstantOf, latestLocalTime } from './time-zone.js';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const DAY_MINUTES = 1440;
const EXPRESSION_LENGTH_MAX = 512;
/**
 * How far a firing is searched for, each way. A leap day comes again after 8 years at most, a date in January or
 * February on a given weekday after 12; an expression that pauses for longer is refused.
 */
const SEARCH_YEARS = 13;
const SEARCH_DAYS = SEARCH_YEARS * 366;
/** The Gregorian calendar repeats, with its weekdays, after 400 years: these begin here (2000-01-01). */
const CYCLE_START_DAY = 10_957;
const CYCLE_DAYS = 146_097;
/** How many expressions are kept parsed; a board has at most one. The oldest goes, and is parsed again when needed. */
const SCHEDULES_MAX = 256;

interface CronField {
  title: string;
  min: number;
  max: number;
  names: readonly string[];
}

const FIELDS: readonly CronField[] = [
  { title: 'minute', min: 0, max: 59, names: [] },
  { title: 'hour', min: 0, max: 23, names: [] },
  { title: 'day-of-month', min: 1, max: 31, names: [] },
  {
    title: 'month',
    min: 1,
    max: 12,
    names: ['', 'JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'],
  },
  { title: 'day-of-week', min: 0, max: 7, names: ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'] },
];

interface CronSchedule {
  minutes: ReadonlySet<number>;
  hours: ReadonlySet<number>;
  /** 1-based */
  days: ReadonlySet<number>;
  /** 1-based */
  months: ReadonlySet<number>;
  /** 0 is Sunday */
  weekdays: ReadonlySet<number>;
  /** Both day fields are restricted: then a day matches if either does. */
  eitherDay: boolean;
}

const readValue = (field: CronField, text: string): number =>
  /^\d{1,2}$/.test(text) ? Number(text) : field.names.indexOf(text.toUpperCase());

/** One item of a field's list (`*`, `5`, `1-5`, with `/step` behind a range): its values, or what is wrong with it. */
function readItem(field: CronField, item: string): number[] | string {
  const match = /^(?:(\*)|(\w+)(?:-(\w+))?)(?:\/(\d{1,2}))?$/.exec(item);
  if (!match) return `${field.title} "${item}" is no number, name, range or step`;
  const [, star, firstText, lastText, stepText] = match;
  if (stepText && !star && !lastText) return `${field.title} "${item}" has a step without a range`;
  const first = star ? field.min : readValue(field, firstText!);
  let last = star ? field.max : lastText ? readValue(field, lastText) : first;
  // A range of days may end with Sunday: FRI-SUN.
  if (lastText?.toUpperCase() === 'SUN' && field.names[0] === 'SUN' && first > 0) last = 7;
  if (first < field.min || last < field.min || first > field.max || last > field.max) {
    return `${field.title} "${item}" is not within ${field.min}-${field.max}`;
  }
  if (first > last) return `${field.title} "${item}" ends before it begins`;
  const step = Number(stepText ?? 1);
  if (step === 0) return `${field.title} "${item}" has a step of 0`;
  const values: number[] = [];
  for (let value = first; value <= last; value += step) values.push(value);
  return values;
}

function readField(field: CronField, text: string): Set<number> | string {
  const values = new Set<number>();
  for (const item of text.split(',')) {
    const read = readItem(field, item);
    if (typeof read === 'string') return read;
    for (const value of read) values.add(value);
  }
  return values;
}

/** The schedule, or what is wrong with the expression. */
function readCron(expression: string): CronSchedule | string {
  if (expression.length > EXPRESSION_LENGTH_MAX) return `must be at most ${EXPRESSION_LENGTH_MAX} characters`;
  const texts = expression.split(/[ \t]+/).filter((text) => text !== '');
  if (texts.length !== FIELDS.length) return `must have 5 fields: ${FIELDS.map(({ title }) => title).join(' ')}`;
  const sets: Set<number>[] = [];
  for (const [index, field] of FIELDS.entries()) {
    const read = readField(field, texts[index]!);
    if (typeof read === 'string') return read;
    sets.push(read);
  }
  const [minutes, hours, days, months, weekdays] = sets as [
    Set<number>,
    Set<number>,
    Set<number>,
    Set<number>,
    Set<number>,
  ];
  if (weekdays.has(7)) weekdays.add(0);
  // Vixie cron: a field that begins with a star does not restrict, even with a step behind it.
  const eitherDay = !texts[2]!.startsWith('*') && !texts[4]!.startsWith('*');
  const schedule = { minutes, hours, days, months, weekdays, eitherDay };
  return pausesTooLong(schedule) ? `must fire at least once in any ${SEARCH_YEARS} years` : schedule;
}

const matchesDay = (schedule: CronSchedule, date: Date): boolean => {
  const day = schedule.days.has(date.getUTCDate());
  const weekday = schedule.weekdays.has(date.getUTCDay());
  return schedule.eitherDay ? day || weekday : day && weekday;
};

/** The first matching minute of a day (0-1439) from this one on, forwards or backwards; null when none is left. */
function matchingMinuteOfDay(schedule: CronSchedule, fromMinute: number, direction: 1 | -1): number | null {
  let minute = fromMinute;
  while (minute >= 0 && minute < DAY_MINUTES) {
    const hour = Math.floor(minute / 60);
    if (!schedule.hours.has(hour)) minute = direction > 0 ? (hour + 1) * 60 : hour * 60 - 1;
    else if (schedule.minutes.has(minute % 60)) return minute;
    else minute += direction;
  }
  return null;
}

/** The first matching local minute from this one on, forwards or backwards; null when {@link SEARCH_DAYS} hold none. */
function matchingMinute(schedule: CronSchedule, fromMinute: number, direction: 1 | -1): number | null {
  const firstDay = Math.floor(fromMinute / DAY_MINUTES);
  const edge = direction > 0 ? 0 : DAY_MINUTES - 1;
  let day = firstDay;
  while (Math.abs(day - firstDay) <= SEARCH_DAYS) {
    const date = new Date(day * DAY_MS);
    if (!schedule.months.has(date.getUTCMonth() + 1)) {
      day = direction > 0 ? date.setUTCMonth(date.getUTCMonth() + 1, 1) / DAY_MS : date.setUTCDate(1) / DAY_MS - 1;
      continue;
    }
    if (matchesDay(schedule, date)) {
      const from = day === firstDay ? fromMinute - day * DAY_MINUTES : edge;
      const minute = matchingMinuteOfDay(schedule, from, direction);
      if (minute !== null) return day * DAY_MINUTES + minute;
    }
    day += direction;
  }
  return null;
}

/** Whether a search from some minute of the calendar's cycle would find nothing. */
function pausesTooLong(schedule: CronSchedule): boolean {
  let minute = CYCLE_START_DAY * DAY_MINUTES;
  while (minute < (CYCLE_START_DAY + CYCLE_DAYS) * DAY_MINUTES) {
    if (matchingMinute(schedule, minute + 1, 1) === null) return true;
    const lastDay = Math.floor((minute + 1) / DAY_MINUTES) + SEARCH_DAYS;
    minute = matchingMinute(schedule, lastDay * DAY_MINUTES + DAY_MINUTES - 1, -1)!;
  }
  return false;
}

const schedules = new BoundedCache<string, CronSchedule | string>(SCHEDULES_MAX);

/**
 * What is wrong with a cron expression, or null when it can be used. Five fields: minute, hour, day of month, month,
 * day of week (0 and 7 are Sunday), each a list of `*`, values, ranges and steps; `MON` and `JAN` in any case. One that
 * never fires (30 February), or pauses for more than 13 years, is refused.
 */
export function faultOfCron(expression: string): string | null {
  const read = readCron(expression);
  return typeof read === 'string' ? read : null;
}

/**
 * The last firing not after the instant, and the first one after it, in Unix ms; null when one of them lies more than
 * 13 years away. Firings in a gap of the local time happen once, at its end. A firing in a fold happens once, at the
 * first of the two times.
 *
 * At most 256 expressions are kept parsed; the oldest goes. A search looks at 4,758 days each way at most, and passes
 * months that do not match in one step.
 *
 * @throws RangeError for an expression or a zone that {@link faultOfCron} or `faultOfTimeZone` refuses
 */
export function firingsAround(
  expression: string,
  timeZone: string,
  atMs: number,
): { lastMs: number; nextMs: number } | null {
  const schedule = schedules.get(expression, () => readCron(expression));
  if (typeof schedule === 'string') throw new RangeError(`The cron expression "${expression}": ${schedule}.`);
  const minute = Math.floor(latestLocalTime(timeZone, atMs) / MINUTE_MS);
  const last = matchingMinute(schedule, minute, -1);
  const next = matchingMinute(schedule, minute + 1, 1);
  if (last === null || next === null) return null;
  return {
    lastMs: firstInstantOf(timeZone, last * MINUTE_MS),
    nextMs: firstInstantOf(timeZone, next * MINUTE_MS),
  };
}
