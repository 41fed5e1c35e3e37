/**
 * Windows as plainly as they can be said: what the clock on the wall shows, looked at every quarter of an hour.
 * All zones of the tests change their clocks at full quarters.
 */
const QUARTER_MS = 900_000;
const DAY_MS = 86_400_000;

export interface NaiveWindow {
  id: string;
  startsAtMs: number;
  endsAtMs: number;
}

const formats = new Map<string, Intl.DateTimeFormat>();
const shown = new Map<string, string>();

/** `2026-11-20T18:30` as the zone's clocks show it. */
function wallClock(zone: string, atMs: number): string {
  const quarter = Math.floor(atMs / QUARTER_MS) * QUARTER_MS;
  const key = `${zone}/${quarter}`;
  const known = shown.get(key);
  if (known) return known;
  const format =
    formats.get(zone) ??
    new Intl.DateTimeFormat('sv-SE', {
      timeZone: zone,
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      hourCycle: 'h23',
    });
  formats.set(zone, format);
  const text = format.format(quarter).replace(' ', 'T');
  shown.set(key, text);
  return text;
}

const dayOf = (zone: string, atMs: number): string => wallClock(zone, atMs).slice(0, 10);

/** The name of the week that a local date is in, by its Thursday (ISO 8601). */
function weekOf(day: string): string {
  const date = new Date(`${day}T00:00:00Z`);
  const thursday = new Date(date.getTime() + (4 - (date.getUTCDay() || 7)) * DAY_MS);
  const year = thursday.getUTCFullYear();
  const week = 1 + Math.floor((thursday.getTime() - Date.UTC(year, 0, 1)) / (7 * DAY_MS));
  return `${year}-W${String(week).padStart(2, '0')}`;
}

/** The stretch of quarters around an instant that all have the same name. */
function stretch(atMs: number, nameOf: (ms: number) => string): { startsAtMs: number; endsAtMs: number } {
  const name = nameOf(atMs);
  let startsAtMs = Math.floor(atMs / QUARTER_MS) * QUARTER_MS;
  while (nameOf(startsAtMs - QUARTER_MS) === name) startsAtMs -= QUARTER_MS;
  let endsAtMs = startsAtMs + QUARTER_MS;
  while (nameOf(endsAtMs) === name) endsAtMs += QUARTER_MS;
  return { startsAtMs, endsAtMs };
}

export function naiveWindow(kind: 'daily' | 'weekly' | 'monthly', zone: string, atMs: number): NaiveWindow {
  const nameOf = (ms: number): string => {
    const day = dayOf(zone, ms);
    if (kind === 'daily') return day;
    return kind === 'weekly' ? weekOf(day) : day.slice(0, 7);
  };
  return { id: `${kind}:${nameOf(atMs)}`, ...stretch(atMs, nameOf) };
}

/**
 * The window of a clock that strikes once a day at a local time, `02:30`: at the first moment of the day at which the
 * clocks show that, or later.
 */
export function naiveDailyStroke(localTime: string, zone: string, atMs: number): NaiveWindow {
  const isStroke = (ms: number): boolean => {
    const [day, time] = wallClock(zone, ms).split('T') as [string, string];
    if (time < localTime) return false;
    for (let before = ms - QUARTER_MS; dayOf(zone, before) === day; before -= QUARTER_MS) {
      if (wallClock(zone, before).slice(11) >= localTime) return false;
    }
    return true;
  };
  let startsAtMs = Math.floor(atMs / QUARTER_MS) * QUARTER_MS;
  while (!isStroke(startsAtMs)) startsAtMs -= QUARTER_MS;
  let endsAtMs = startsAtMs + QUARTER_MS;
  while (!isStroke(endsAtMs)) endsAtMs += QUARTER_MS;
  const id = new Date(startsAtMs).toISOString().slice(0, 16).replaceAll('-', '').replace(':', '');
  return { id: `cron:${id}Z`, startsAtMs, endsAtMs };
}
