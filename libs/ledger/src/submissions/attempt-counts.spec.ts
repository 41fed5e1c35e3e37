import { HOUR_MS, withBoardDefaults, type Board, type StoredWindow } from '@laddercast/domain';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AttemptCounts, attemptKeysOf } from './attempt-counts.js';
import type { PlacedWrite } from './window-placement.js';
import type { SubmitWrite } from '../entries/ledger-writes.js';

const NOW_MS = Date.parse('2026-11-20T20:30:00Z');
const HOUR = Math.floor(NOW_MS / HOUR_MS);
const bounds = { startsAtMs: null, endsAtMs: null, freezeAtMs: null, state: 'open' } as const;
const ALL_TIME: StoredWindow = { uid: 1, kind: 'alltime', id: 'alltime', ...bounds };
const DAY: StoredWindow = { uid: 2, kind: 'daily', id: 'daily:2026-11-20', ...bounds, endsAtMs: NOW_MS + HOUR_MS };
const TWO_HOURS: StoredWindow = { uid: 3, kind: 'rolling', id: 'rolling:2h', ...bounds };

const board = (attemptsMax: number | null): Board => {
  const definition = withBoardDefaults({ order: 'desc', operator: 'best', limits: { attemptsMax } });
  return {
    uid: 7,
    id: 'b',
    revision: 1,
    definitionRevision: 1,
    definition,
    windowsSinceMs: {},
    layouts: {} as Board['layouts'],
  };
};
const placed = (attemptsMax: number | null, given: Partial<PlacedWrite> & { windowId?: string } = {}) => {
  const { windowId = null, ...rest } = given;
  const write = { kind: 'submit', board: board(attemptsMax), playerId: 'ada', windowId } as unknown as SubmitWrite;
  return { write, atMs: NOW_MS, nowMs: NOW_MS, windows: [ALL_TIME], ...rest } as PlacedWrite<SubmitWrite>;
};
const used = (windowUid: number, runs: number, hour = 0) => ({ windowUid, playerId: 'ada', hour, runs });

describe('attempts', () => {
  it('are neither read nor counted on a board without a limit', () => {
    const counts = new AttemptCounts([]);
    counts.count(placed(null), [ALL_TIME]);
    expect(attemptKeysOf([placed(null)])).toEqual([]);
    expect(counts.windowsLeft(placed(null))).toEqual([ALL_TIME]);
    expect(counts.changed).toEqual([]);
  });

  it('are counted on inside a batch', () => {
    const counts = new AttemptCounts([used(1, 1)]);
    expect(counts.windowsLeft(placed(2))).toEqual([ALL_TIME]);
    counts.count(placed(2), [ALL_TIME]);
    expect(() => counts.windowsLeft(placed(2))).toThrow('has used its 2 attempts in alltime.');
    expect(counts.changed).toEqual([used(1, 2)]);
  });

  it('leave a window out in which none is left, and refuse the run when that one is named', () => {
    const counts = new AttemptCounts([used(2, 1)]);
    const windows = [DAY, ALL_TIME];
    expect(counts.windowsLeft(placed(1, { windows }))).toEqual([ALL_TIME]);
    expect(() => counts.windowsLeft(placed(1, { windows, windowId: DAY.id }))).toThrow(
      'has used its one attempt in daily:2026-11-20; it has new ones from 2026-11-20T21:30:00.000Z on.',
    );
  });

  it('of a rolling window are read from its first hour on, and come back as hours leave it', () => {
    const given = placed(2, { windows: [TWO_HOURS] });
    expect(attemptKeysOf([given])).toEqual([{ windowUid: 3, playerId: 'ada', firstHour: HOUR - 1 }]);
    const counts = new AttemptCounts([used(3, 1, HOUR), used(3, 1, HOUR - 1)]);
    expect(() => counts.windowsLeft(given)).toThrow('it has new ones from 2026-11-20T21:00:00.000Z on');
  });

  it('let as many runs through as the limit says, in any order of windows and hours', () => {
    const anyRun = fc.record({
      windows: fc.subarray([ALL_TIME, DAY, TWO_HOURS], { minLength: 1 }),
      early: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(anyRun, { maxLength: 20 }), fc.integer({ min: 1, max: 4 }), (runs, attemptsMax) => {
        const counts = new AttemptCounts([]);
        const counted = new Map<number, number>();
        for (const { windows, early } of runs) {
          const given = placed(attemptsMax, { windows, atMs: early ? NOW_MS - HOUR_MS : NOW_MS });
          const open = windows.filter(({ uid }) => (counted.get(uid) ?? 0) < attemptsMax);
          if (open.length === 0) {
            expect(() => counts.windowsLeft(given)).toThrow('has used');
            continue;
          }
          expect(counts.windowsLeft(given)).toEqual(open);
          counts.count(given, open);
          for (const { uid } of open) counted.set(uid, (counted.get(uid) ?? 0) + 1);
        }
        const stored = new Map<number, number>();
        for (const { windowUid, runs } of counts.changed) stored.set(windowUid, (stored.get(windowUid) ?? 0) + runs);
        expect(stored).toEqual(counted);
      }),
    );
  });
});
