import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isWindowOpen, kindOfWindowId, parseWindowId, windowAt, WINDOW_KINDS } from './window.js';

const HOUR_MS = 3_600_000;
const anyTime = fc.integer({ min: Date.UTC(1900, 0, 1), max: Date.UTC(2399, 11, 31) });

describe('the window of an instant', () => {
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
  ] as const)('%s at %s is %s', (kind, at, id) => expect(windowAt(kind, Date.parse(at)).id).toBe(id));

  it('holds the instant, and is the window that its id names', () =>
    fc.assert(
      fc.property(fc.constantFrom(...WINDOW_KINDS), anyTime, (kind, atMs) => {
        const window = windowAt(kind, atMs);
        if (window.startsAtMs !== null) expect(window.startsAtMs).toBeLessThanOrEqual(atMs);
        if (window.endsAtMs !== null) expect(window.endsAtMs).toBeGreaterThan(atMs);
        expect(parseWindowId(window.id)).toEqual(window);
        expect(kindOfWindowId(window.id)).toBe(kind);
      }),
    ));

  it('follows the one before without a gap, in the order of the ids within a year', () =>
    fc.assert(
      fc.property(fc.constantFrom('daily' as const, 'weekly' as const, 'monthly' as const), anyTime, (kind, atMs) => {
        const window = windowAt(kind, atMs);
        const next = windowAt(kind, window.endsAtMs!);
        expect(next.startsAtMs).toBe(window.endsAtMs);
        expect(next.id > window.id).toBe(true);
        const days = (window.endsAtMs! - window.startsAtMs!) / (24 * HOUR_MS);
        expect(kind === 'monthly' ? days >= 28 && days <= 31 : days === (kind === 'weekly' ? 7 : 1)).toBe(true);
      }),
    ));
});

describe('a window id', () => {
  it.each([
    'daily:2026-02-30',
    'daily:2025-02-29',
    'daily:2026-11',
    'daily:2026-W47',
    'weekly:2026-W54',
    'weekly:2025-W53',
    'weekly:2026-W00',
    'weekly:2026-11',
    'monthly:2026-13',
    'monthly:2026-00',
    'monthly:2026-11-05',
    'monthly:26-11',
    'season:s1',
    'alltime:',
    ' alltime',
    '',
  ])('%j names no window', (id) => expect(parseWindowId(id)).toBeNull());
});

describe('an ended window', () => {
  it('takes runs until its grace is over, and one without end takes them always', () => {
    const window = windowAt('daily', 0);
    expect(isWindowOpen(window, 300, window.endsAtMs! + 299_999)).toBe(true);
    expect(isWindowOpen(window, 300, window.endsAtMs! + 300_000)).toBe(false);
    expect(isWindowOpen(window, 0, window.endsAtMs! - 1)).toBe(true);
    expect(isWindowOpen(windowAt('alltime', 0), 0, Number.MAX_SAFE_INTEGER)).toBe(true);
  });
});
