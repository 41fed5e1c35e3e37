import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HOUR_MS, windowAt, windowOfId } from './window.js';

const KINDS = ['daily', 'weekly', 'monthly'] as const;
const ZONES = [
  'Europe/Berlin',
  'America/Sao_Paulo',
  'Asia/Kathmandu',
  'Pacific/Chatham',
  'Pacific/Apia',
  'America/St_Johns',
  'UTC',
];
const anyTime = fc.integer({ min: Date.UTC(1990, 0, 1), max: Date.UTC(2040, 0, 1) });
const iso = (ms: number | null): string => new Date(ms!).toISOString().replace(/:00\.000Z$/, 'Z');

const formats = new Map(
  ZONES.map((zone) => [zone, new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short' })]),
);
/** What a calendar on the wall shows, asked of Intl: `2026-03-29`. */
const localDate = (zone: string, ms: number): string => formats.get(zone)!.format(ms);

/** The id of the window that holds a local date, worked out from the text of the date alone. */
function idOfDate(kind: (typeof KINDS)[number], date: string): string {
  if (kind === 'daily') return `daily:${date}`;
  if (kind === 'monthly') return `monthly:${date.slice(0, 7)}`;
  const thursday = new Date(`${date}T00:00Z`);
  thursday.setUTCDate(thursday.getUTCDate() + 4 - (thursday.getUTCDay() || 7));
  const year = thursday.getUTCFullYear();
  const week = 1 + Math.floor((thursday.getTime() - Date.UTC(year, 0, 1)) / (7 * 24 * HOUR_MS));
  return `weekly:${year}-W${String(week).padStart(2, '0')}`;
}

describe('the calendar window of an instant', () => {
  it.each([
    ['weekly', '2026-11-20T18:00:00.000Z', 'weekly:2026-W47'],
    ['weekly', '2021-01-03T23:59:59.999Z', 'weekly:2020-W53'],
    ['weekly', '2021-01-04T00:00:00.000Z', 'weekly:2021-W01'],
    ['weekly', '2024-12-30T00:00:00.000Z', 'weekly:2025-W01'],
    ['weekly', '1965-06-15T12:00:00.000Z', 'weekly:1965-W24'],
    ['weekly', '1969-12-28T12:00:00.000Z', 'weekly:1969-W52'],
    ['daily', '2024-02-29T23:59:59.999Z', 'daily:2024-02-29'],
    ['monthly', '2026-12-31T23:59:59.999Z', 'monthly:2026-12'],
    ['alltime', '2026-11-20T18:00:00.000Z', 'alltime'],
  ] as const)('%s at %s is %s', (kind, at, id) => expect(windowAt(kind, 'UTC', Date.parse(at))!.id).toBe(id));

  it.each([
    ['Europe/Berlin', 'daily:2026-03-28', '2026-03-27T23:00Z', '2026-03-28T23:00Z', 24],
    ['Europe/Berlin', 'daily:2026-03-29', '2026-03-28T23:00Z', '2026-03-29T22:00Z', 23],
    ['Europe/Berlin', 'daily:2026-10-25', '2026-10-24T22:00Z', '2026-10-25T23:00Z', 25],
    ['Europe/Berlin', 'weekly:2026-W13', '2026-03-22T23:00Z', '2026-03-29T22:00Z', 167],
    ['Europe/Berlin', 'monthly:2026-10', '2026-09-30T22:00Z', '2026-10-31T23:00Z', 745],
    ['America/Sao_Paulo', 'daily:2018-11-03', '2018-11-03T03:00Z', '2018-11-04T03:00Z', 24],
    ['America/Sao_Paulo', 'daily:2018-11-04', '2018-11-04T03:00Z', '2018-11-05T02:00Z', 23],
    ['America/Sao_Paulo', 'daily:2017-10-15', '2017-10-15T03:00Z', '2017-10-16T02:00Z', 23],
    ['America/Sao_Paulo', 'daily:2018-02-17', '2018-02-17T02:00Z', '2018-02-18T03:00Z', 25],
    ['Asia/Kathmandu', 'daily:1986-01-01', '1985-12-31T18:30Z', '1986-01-01T18:15Z', 23.75],
    ['Pacific/Chatham', 'daily:2026-04-05', '2026-04-04T10:15Z', '2026-04-05T11:15Z', 25],
    ['Pacific/Chatham', 'daily:2026-09-27', '2026-09-26T11:15Z', '2026-09-27T10:15Z', 23],
    ['Pacific/Apia', 'daily:2011-12-29', '2011-12-29T10:00Z', '2011-12-30T10:00Z', 24],
    ['Pacific/Apia', 'daily:2011-12-31', '2011-12-30T10:00Z', '2011-12-31T10:00Z', 24],
    ['Pacific/Apia', 'weekly:2011-W52', '2011-12-26T10:00Z', '2012-01-01T10:00Z', 144],
    // Clocks went from 00:01 back to 23:01: the day begins when midnight is shown first.
    ['America/St_Johns', 'daily:2006-10-28', '2006-10-28T02:30Z', '2006-10-29T02:30Z', 24],
    ['America/St_Johns', 'daily:2006-10-29', '2006-10-29T02:30Z', '2006-10-30T03:30Z', 25],
  ])('in %s %s is from %s to %s, %d hours', (zone, id, starts, ends, hours) => {
    const window = windowOfId(KINDS, zone, id)!;
    const kind = window.kind as 'daily';
    expect([iso(window.startsAtMs), iso(window.endsAtMs)]).toEqual([starts, ends]);
    expect((window.endsAtMs! - window.startsAtMs!) / HOUR_MS).toBe(hours);
    for (const atMs of [window.startsAtMs!, (window.startsAtMs! + window.endsAtMs!) / 2, window.endsAtMs! - 1]) {
      expect(windowAt(kind, zone, atMs)).toEqual(window);
    }
    expect(windowAt(kind, zone, window.startsAtMs! - 1)!.endsAtMs).toBe(window.startsAtMs);
    expect(windowAt(kind, zone, window.endsAtMs!)!.startsAtMs).toBe(window.endsAtMs);
  });

  it('begins at the first instant of its local date, and holds no instant of a later one', () =>
    fc.assert(
      fc.property(fc.constantFrom(...KINDS), fc.constantFrom(...ZONES), anyTime, (kind, zone, atMs) => {
        const window = windowAt(kind, zone, atMs)!;
        const { startsAtMs, endsAtMs } = window as { startsAtMs: number; endsAtMs: number };
        expect(window.kind).toBe(kind);
        expect(startsAtMs <= atMs && atMs < endsAtMs).toBe(true);
        expect(idOfDate(kind, localDate(zone, startsAtMs))).toBe(window.id);
        expect(localDate(zone, startsAtMs - 1) < localDate(zone, startsAtMs)).toBe(true);
        for (const ms of [atMs, endsAtMs - 1]) expect(idOfDate(kind, localDate(zone, ms)) <= window.id).toBe(true);
        expect(idOfDate(kind, localDate(zone, endsAtMs)) > window.id).toBe(true);
      }),
      { numRuns: 3000 },
    ));

  it('is of another date than the calendar shows only where midnight was shown twice', () => {
    const others: string[] = [];
    for (let atMs = Date.UTC(2006, 0, 1); atMs < Date.UTC(2007, 0, 1); atMs += HOUR_MS / 2) {
      for (const zone of ZONES) {
        const { id } = windowAt('daily', zone, atMs)!;
        if (id !== `daily:${localDate(zone, atMs)}`) others.push(`${zone} ${iso(atMs)} ${id}`);
      }
    }
    expect(others).toEqual(['America/St_Johns 2006-10-29T03:00Z daily:2006-10-29']);
  });

  it('is none where a year of four digits cannot say it', () => {
    const [firstMs, endMs] = [Date.parse('0001-01-01T00:00:00.000Z'), Date.UTC(10_000, 0, 1)];
    expect(windowAt('daily', 'UTC', endMs - 1)!.id).toBe('daily:9999-12-31');
    expect(windowAt('daily', 'UTC', endMs)).toBeNull();
    expect(windowAt('daily', 'Asia/Kathmandu', endMs - 1)).toBeNull();
    expect(windowAt('monthly', 'UTC', firstMs)!.id).toBe('monthly:0001-01');
    expect(windowAt('monthly', 'UTC', firstMs - 1)).toBeNull();
    for (const ms of [NaN, Infinity, -Infinity, 8.64e15, Number.MAX_SAFE_INTEGER]) {
      for (const spec of [...KINDS, { cron: '0 18 * * 5' }]) {
        expect(windowAt(spec, 'Europe/Berlin', ms)).toBeNull();
      }
    }
  });
});
