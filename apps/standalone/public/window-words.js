/** Windows of a board in the reader's words: `{ id, kind, state, startsAt, endsAt, resetsAt, … }` as the service lists them. */

const RUNNING = { alltime: 'All time', daily: 'Today', weekly: 'This week', monthly: 'This month' };
/** The kinds that have one window after another: followed by the kind's name, whichever is running. */
const UNITS = { daily: 'day', weekly: 'week', monthly: 'month', cron: 'round' };
/** Seasons whose name says what they are: 1870s, 1998, 2024-25. */
const PERIOD = /^\d{4}(s|[-–/]\d{2,4})?$/;
const HOUR_MS = 3_600_000;
const WEEK_MS = 7 * 86_400_000;
const SHORT_MS = 6 * 3_600_000;

const weekdayAndTime = new Intl.DateTimeFormat(undefined, { weekday: 'long', hour: 'numeric', minute: '2-digit' });
const dayAndTime = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
// The date of an id is one of the board's time zone: it is written as it stands, not moved into the reader's.
const wholeDate = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeZone: 'UTC' });
const wholeMonth = new Intl.DateTimeFormat(undefined, { month: 'long', year: 'numeric', timeZone: 'UTC' });

/** How the window is asked for: `daily` for the running day, which then is followed; the id for all that stand alone. */
export function nameOf({ id, kind }) {
  return kind in UNITS ? kind : id;
}

/** The kind of the window that a name or an id means. */
export function kindOf(nameOrId) {
  return nameOrId.split(':')[0];
}

/** Whether a name means whichever window of a kind is running. */
export function isFollowed(name) {
  return name in UNITS;
}

/** "day", "week": one of the windows that follow each other. */
export function unitOf(kind) {
  return UNITS[kind];
}

/** "Today", "Season s1", "Last 24 hours", "Since Friday 6:00 PM". */
export function runningLabel(window, nowMs) {
  const { kind, id, startsAt } = window;
  if (kind === 'rolling') {
    const hours = Number.parseInt(id.slice('rolling:'.length), 10);
    return hours === 1 ? 'Last hour' : `Last ${hours} hours`;
  }
  if (kind !== 'cron') return RUNNING[kind] ?? endedLabel(window);
  const isRecent = nowMs - Date.parse(startsAt) < WEEK_MS;
  return `Since ${(isRecent ? weekdayAndTime : dayAndTime).format(new Date(startsAt))}`;
}

/** "Friday, November 20, 2026", "Week 47 of 2026", "Season s1": which one it is, whenever it is read. */
export function endedLabel(window) {
  const value = window.id.slice(window.id.indexOf(':') + 1);
  switch (window.kind) {
    case 'daily':
      return wholeDate.format(new Date(`${value}T00:00:00Z`));
    case 'weekly':
      return `Week ${Number(value.slice(-2))} of ${Number(value.slice(0, 4))}`;
    case 'monthly':
      return wholeMonth.format(new Date(`${value}-01T00:00:00Z`));
    case 'season':
      return PERIOD.test(value) ? value : `Season ${value}`;
    case 'cron':
      return spanWords(window);
    default:
      return runningLabel(window);
  }
}

/**
 * From when to when a season's content goes: a decade or a year is that of its name, whenever it was played here; a season of
 * less than an hour has no time that anybody wants to know.
 */
export function contentSpan(window) {
  const value = window.id.slice(window.id.indexOf(':') + 1);
  const decade = /^(\d{3})0s$/.exec(value)?.[1];
  if (decade) return `${decade}0–${decade}9`;
  if (PERIOD.test(value)) return '';
  const lasts = Date.parse(window.endsAt) - Date.parse(window.startsAt);
  return lasts < HOUR_MS ? '' : spanWords(window);
}

/**
 * From when to when, in the reader's own time. Seconds are told of windows that are over within some hours, and the year
 * where it is not this one.
 */
export function spanWords({ startsAt, endsAt }) {
  if (!startsAt || !endsAt) return '';
  const [start, end] = [new Date(startsAt), new Date(endsAt)];
  const year = new Date().getFullYear();
  const format = new Intl.DateTimeFormat(undefined, {
    month: 'short',
    day: 'numeric',
    hour: 'numeric',
    minute: '2-digit',
    ...(end - start < SHORT_MS && { second: '2-digit' }),
    ...([start, end].some((date) => date.getFullYear() !== year) && { year: 'numeric' }),
  });
  return format.formatRange(start, end);
}

/**
 * What the next moment of a window is, and when: `{ text: 'resets in', at }`. `at` is null when there is none to wait
 * for; the text then says all.
 */
export function nextMoment(window) {
  const { kind, state, startsAt, endsAt, resetsAt, isFrozen } = window;
  if (state === 'upcoming') return { text: 'starts in', at: startsAt };
  if (state === 'settled') return { text: 'final', at: null };
  if (state === 'ended') return { text: 'over', at: null };
  if (isFrozen) return { text: 'frozen, ends in', at: endsAt };
  if (kind === 'rolling') return { text: 'the oldest hour leaves in', at: resetsAt };
  if (kind === 'season') return { text: 'ends in', at: endsAt };
  return resetsAt ? { text: 'resets in', at: resetsAt } : { text: '', at: null };
}

/** Whether nothing, or only what comes late, may enter a window any more. */
export function isOver({ state }) {
  return state === 'ended' || state === 'settled';
}

/** What a window is called as it stands now. */
export function labelOf(window, nowMs) {
  return isOver(window) ? endedLabel(window) : runningLabel(window, nowMs);
}
