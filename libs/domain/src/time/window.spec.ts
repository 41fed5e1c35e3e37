import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  faultOfRolling,
  firstRollingHour,
  HOUR_MS,
  isWindowOpen,
  kindOf,
  nameOfSpec,
  rollingHours,
  specOf,
  windowAt,
  windowOfId,
  windowsBeganMs,
  type WindowBounds,
  type WindowSpec,
} from './window.js';

const SEASON = { season: 's1', startsAt: '2026-03-01T00:00:00+01:00', endsAt: '2026-06-01T00:00:00Z' };
const FROZEN = { ...SEASON, season: 's2', freezeAt: '2026-05-30T00:00:00Z' };
const ROLLING = { rolling: '24h' };
const FRIDAYS = { cron: '0 18 * * 5' };
const ALL: WindowSpec[] = ['alltime', 'daily', 'weekly', 'monthly', SEASON, FROZEN, ROLLING, FRIDAYS];
const ZONES = [
  'Europe/Berlin',
  'America/Sao_Paulo',
  'Asia/Kathmandu',
  'Pacific/Chatham',
  'Pacific/Apia',
  'America/St_Johns',
  'UTC',
];

describe('windows of a kind', () => {
  const specs: WindowSpec[] = [
    'daily',
    'weekly',
    'monthly',
    FRIDAYS,
    { cron: '*/40 1-3 * * *' },
    { cron: '30 0 1,15 * MON' },
  ];
  const anyTime = fc.integer({ min: Date.UTC(1990, 0, 1), max: Date.UTC(2040, 0, 1) });
  // Random instants seldom meet these: clocks put forward and back, a skipped day, midnight shown twice.
  const changes = ['2026-03-29T01:00Z', '2026-10-25T01:00Z', '2018-11-04T03:00Z', '2018-02-18T02:00Z'].concat([
    '2026-04-04T14:00Z',
    '2026-09-26T14:00Z',
    '2011-12-30T10:00Z',
    '2006-10-29T02:31Z',
  ]);
  const nearChange = fc
    .tuple(fc.constantFrom(...changes), fc.integer({ min: -36 * HOUR_MS, max: 36 * HOUR_MS }))
    .map(([change, byMs]) => Date.parse(change) + byMs);

  it('touch, never overlap, and are those that their ids name', () =>
    fc.assert(
      fc.property(
        fc.constantFrom(...specs),
        fc.constantFrom(...ZONES),
        fc.oneof(anyTime, nearChange),
        (spec, zone, atMs) => {
          const holding = windowAt(spec, zone, atMs)!;
          expect(holding.startsAtMs! <= atMs && atMs < holding.endsAtMs!).toBe(true);
          const windows: WindowBounds[] = [windowAt(spec, zone, holding.startsAtMs! - 1)!];
          while (windows.length < 8) windows.push(windowAt(spec, zone, windows.at(-1)!.endsAtMs!)!);
          expect(windows[1]).toEqual(holding);
          for (const [index, window] of windows.entries()) {
            expect(window.startsAtMs! < window.endsAtMs!).toBe(true);
            if (index > 0) expect(window.startsAtMs).toBe(windows[index - 1]!.endsAtMs);
            expect(windowAt(spec, zone, window.endsAtMs! - 1)).toEqual(window);
            expect(windowOfId([spec], zone, window.id)).toEqual(window);
            expect(specOf([spec], window.id)).toBe(spec);
          }
          const ids = windows.map(({ id }) => id);
          expect(new Set(ids).size).toBe(ids.length);
          expect(ids).toEqual([...ids].sort());
        },
      ),
      { numRuns: 800 },
    ));

  it('are found for any zone and year without searching long', () => {
    const fromMs = performance.now();
    for (let year = 1970; year < 9999; year += 97) {
      for (const zone of ['Europe/Berlin', 'America/Santiago', 'Africa/Casablanca']) {
        for (const spec of ['daily', 'weekly', 'monthly', FRIDAYS, { cron: '0 0 29 2 *' }] as const) {
          const window = windowAt(spec, zone, Date.UTC(year, 5, 15))!;
          expect(windowOfId([spec], zone, window.id)).toEqual(window);
        }
      }
    }
    expect(performance.now() - fromMs).toBeLessThan(60_000);
  });
});

describe('a season', () => {
  it('holds its start and not its end, and is the same in every zone', () => {
    const bounds = {
      kind: 'season',
      id: 'season:s1',
      startsAtMs: Date.UTC(2026, 1, 28, 23),
      endsAtMs: Date.UTC(2026, 5, 1),
      freezeAtMs: null,
    };
    for (const zone of ZONES) {
      for (const atMs of [bounds.startsAtMs, bounds.endsAtMs - 1]) expect(windowAt(SEASON, zone, atMs)).toEqual(bounds);
      for (const atMs of [bounds.startsAtMs - 1, bounds.endsAtMs]) expect(windowAt(SEASON, zone, atMs)).toBeNull();
      expect(windowOfId(ALL, zone, 'season:s1')).toEqual(bounds);
    }
    expect(windowOfId(ALL, 'UTC', 'season:s2')!.freezeAtMs).toBe(Date.UTC(2026, 4, 30));
  });
});

describe('a cron window', () => {
  it('is from one firing to the next, and its id says its start in UTC', () => {
    const window = windowAt(FRIDAYS, 'Europe/Berlin', Date.parse('2026-03-28T00:00:00Z'))!;
    expect(window).toEqual({
      kind: 'cron',
      id: 'cron:20260327T1700Z',
      startsAtMs: Date.UTC(2026, 2, 27, 17),
      endsAtMs: Date.UTC(2026, 3, 3, 16),
      freezeAtMs: null,
    });
    expect(windowOfId(ALL, 'Europe/Berlin', window.id)).toEqual(window);
    expect(windowOfId(ALL, 'Europe/London', window.id)).toBeNull();
    expect(windowOfId([{ cron: '0 0 1 1 *' }, FRIDAYS], 'Europe/Berlin', window.id)).toEqual(window);
  });
});

describe('a window id', () => {
  it.each([
    'daily:2026-02-30',
    'daily:2025-02-29',
    'daily:2026-11',
    'daily:2026-W47',
    'daily:0000-01-01',
    'weekly:2026-W54',
    'weekly:2025-W53',
    'weekly:2026-W00',
    'weekly:2026-11',
    'monthly:2026-13',
    'monthly:2026-00',
    'monthly:2026-11-05',
    'monthly:26-11',
    'season:s3',
    'season',
    'rolling:48h',
    'rolling',
    'cron',
    'cron:20261120T1801Z',
    'cron:20261119T1800Z',
    'cron:20261131T1800Z',
    'cron:20261120T2460Z',
    'cron:00000101T0000Z',
    'cron:2026-11-20T18:00Z',
    'alltime:',
    ' alltime',
    'alltime\n',
    'daily:2026-11-20\n',
    'constructor',
    '',
  ])('%j names no window', (id) => expect(windowOfId(ALL, 'UTC', id)).toBeNull());

  it('names none of a date that the zone skipped', () => {
    expect(windowOfId(ALL, 'Pacific/Apia', 'daily:2011-12-30')).toBeNull();
    expect(windowOfId(ALL, 'Pacific/Kwajalein', 'daily:1993-08-21')).toBeNull();
    expect(windowOfId(ALL, 'UTC', 'daily:2011-12-30')!.id).toBe('daily:2011-12-30');
  });

  it.each(['daily:2026-11-20', 'alltime', 'season:s1', 'rolling:24h', 'cron:20261120T1800Z'])(
    '%s names none on a board without such windows',
    (id) => {
      const others = ALL.filter((spec) => kindOf(spec) !== id.split(':')[0]);
      expect(windowOfId(ALL, 'UTC', id)!.id).toBe(id);
      expect(windowOfId(others, 'UTC', id)).toBeNull();
      expect(specOf(others, id)).toBeUndefined();
    },
  );
});

describe('the spec of a window', () => {
  it('is found by the name of the running window and by a full id', () => {
    const names = ['alltime', 'daily', 'weekly', 'monthly', 'season:s1', 'season:s2', 'rolling:24h', 'cron'];
    expect(ALL.map(nameOfSpec)).toEqual(names);
    for (const spec of ALL) {
      const window = windowAt(spec, 'UTC', Date.UTC(2026, 4, 1))!;
      expect(window.kind).toBe(kindOf(spec));
      expect(specOf(ALL, window.id)).toBe(spec);
      expect(specOf(ALL, nameOfSpec(spec))).toBe(spec);
    }
  });

  it.each(['season', 'season:s3', 'rolling', 'rolling:1h', 'daily:', 'daily:x', 'alltime:2026', 'hourly', ''])(
    '%j is of none',
    (name) => expect(specOf(ALL, name)).toBeUndefined(),
  );
});

describe('a rolling window', () => {
  it('has no bounds, and counts the present hour and those before', () => {
    const bounds = { kind: 'rolling', id: 'rolling:24h', startsAtMs: null, endsAtMs: null, freezeAtMs: null };
    expect(windowAt(ROLLING, 'Asia/Kathmandu', 0)).toEqual(bounds);
    expect(windowOfId([ROLLING], 'UTC', 'rolling:24h')).toEqual(bounds);
    for (const spec of ['24h', 'rolling:24h', ROLLING]) expect(rollingHours(spec)).toBe(24);
    const now = Date.UTC(2026, 10, 20, 18, 59, 59, 999);
    expect(firstRollingHour(1, now) * HOUR_MS).toBe(Date.UTC(2026, 10, 20, 18));
    expect(firstRollingHour(24, now) * HOUR_MS).toBe(Date.UTC(2026, 10, 19, 19));
    expect(firstRollingHour(24, now + 1) * HOUR_MS).toBe(Date.UTC(2026, 10, 19, 20));
  });

  it.each(['1h', '24h', '720h'])('may be %s', (text) => expect(faultOfRolling(text)).toBeNull());

  it.each(['0h', '721h', '024h', '1.5h', '24', '24H', '-1h', '7d', '1e2h', ''])('may not be %j', (text) => {
    expect(faultOfRolling(text)).toBe('must be whole hours from "1h" to "720h"');
    expect(() => rollingHours(text)).toThrow(RangeError);
  });
});

describe('an ended window', () => {
  it('takes runs until its grace is over, and one without end takes them always', () => {
    const window = { state: 'open' as const, endsAtMs: 1_000_000_000 };
    expect(isWindowOpen(window, 300, window.endsAtMs + 299_999)).toBe(true);
    expect(isWindowOpen(window, 300, window.endsAtMs + 300_000)).toBe(false);
    expect(isWindowOpen(window, 0, window.endsAtMs - 1)).toBe(true);
    expect(isWindowOpen(window, 0, window.endsAtMs)).toBe(false);
    expect(isWindowOpen({ state: 'open', endsAtMs: null }, 0, Number.MAX_SAFE_INTEGER)).toBe(true);
  });

  it.each(['closed', 'settled'] as const)('takes none once it is %s', (state) => {
    expect(isWindowOpen({ state, endsAtMs: 1000 }, 300, 0)).toBe(false);
    expect(isWindowOpen({ state, endsAtMs: null }, 300, 0)).toBe(false);
  });
});

describe('when the windows that take entries began', () => {
  const nowMs = Date.parse('2026-03-03T00:30:00Z');
  const began = (windows: WindowSpec[], graceSeconds = 0): string | number => {
    const beganMs = windowsBeganMs({ windows, timeZone: 'UTC', graceSeconds }, nowMs);
    return Number.isFinite(beganMs) ? new Date(beganMs).toISOString() : beganMs;
  };

  it('is the earliest of them', () => {
    expect(began(['daily', 'weekly'])).toBe('2026-03-02T00:00:00.000Z');
    expect(began(['monthly', 'daily'])).toBe('2026-03-01T00:00:00.000Z');
    expect(began([{ rolling: '3h' }])).toBe('2026-03-02T22:00:00.000Z');
  });

  it('is that of the one before while late games enter it', () => {
    expect(began(['daily'], 1799)).toBe('2026-03-03T00:00:00.000Z');
    expect(began(['daily'], 1801)).toBe('2026-03-02T00:00:00.000Z');
  });

  it('is never where they have no beginning, or are not there now', () => {
    const season = { season: 's', startsAt: '2026-04-01T00:00:00.000Z', endsAt: '2026-05-01T00:00:00.000Z' };
    expect(began(['alltime', season])).toBe(Infinity);
    expect(began([{ ...season, startsAt: '2026-01-01T00:00:00.000Z' }])).toBe('2026-01-01T00:00:00.000Z');
  });
});
