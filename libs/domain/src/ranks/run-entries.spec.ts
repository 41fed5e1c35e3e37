import { describe, expect, it } from 'vitest';
import { withBoardDefaults } from '../boards/board.js';
import { entryOfKey, keyOfEntry, playerOfKey } from '../boards/entry-key.js';
import { laneOf, shardOf } from '../boards/hash-placement.js';
import { compareSortKeys, encodeSortKey } from '../boards/sort-key.js';
import { applyChanges, diffRows, mergeChanges } from './rank-delta.js';
import type { RankedEntry } from './ranking.js';
import { foldRunEntries, standRun, type StandingRun } from './run-entries.js';
import type { KeptRun } from './run-fold.js';

const definition = withBoardDefaults({
  ...{ order: 'desc', operator: 'best', runs: { keepDays: 7 } },
  ...{ entriesPer: 'run', entriesPerPlayerMax: 2 },
});

const run = (entryId: string, score: number, achievedAtMs = 1): StandingRun => ({
  entryId,
  state: { score, columns: [], achievedAtMs, metadata: null, version: 1 },
});
const ids = (standing: readonly StandingRun[]): string[] => standing.map(({ entryId }) => entryId);

describe('the key of an entry', () => {
  it.each([{ playerId: 'ada' }, { playerId: 'ada', entryId: 'r1' }, { playerId: 'Zoë 😀', entryId: 'ü' }])(
    'names %o and nothing else',
    (entry) => {
      expect(entryOfKey(keyOfEntry(entry))).toEqual(entry);
      expect(playerOfKey(keyOfEntry(entry))).toBe(entry.playerId);
    },
  );

  it('puts all entries of a player into the lane and the shard of the player', () => {
    for (const entryId of ['a', 'b', 'run-77', '😀']) {
      const key = keyOfEntry({ playerId: 'ada', entryId });
      expect([laneOf(key, 7), shardOf(key, 5)]).toEqual([laneOf('ada', 7), shardOf('ada', 5)]);
    }
  });

  it('orders equal entries by the bytes of their runs, also where one id begins another', () => {
    const entries = [
      ['r', 'zoe'],
      ['r ', 'bob'],
      ['r1', 'ada'],
      ['r10', 'zoe'],
      ['r2', 'ada'],
      ['é', 'ada'],
    ].map(([entryId, playerId]) => keyOfEntry({ playerId: playerId!, entryId: entryId! }));
    const keys = entries.map((key) => encodeSortKey(definition, { score: 1, columns: [], achievedAtMs: 1 }, key));
    for (const [at, key] of keys.slice(1).entries()) expect(compareSortKeys(keys[at]!, key)).toBeLessThan(0);
  });
});

describe('the entries of a player', () => {
  it('are the best, and a better one pushes the last out', () => {
    const first = standRun(definition, [], run('a', 1));
    expect(first).toMatchObject({ stands: true, displaced: null });
    const two = standRun(definition, first.standing, run('b', 3)).standing;
    const third = standRun(definition, two, run('c', 2));
    expect(ids(third.standing)).toEqual(['b', 'c']);
    expect(third.displaced?.entryId).toBe('a');
    expect(standRun(definition, third.standing, run('d', 1))).toMatchObject({ stands: false, displaced: null });
  });

  it('that are equal stand by time, then by their ids, in whatever order they came', () => {
    const runs = [run('b', 1), run('a', 1), run('c', 1, 0)];
    for (const order of [
      [0, 1, 2],
      [2, 1, 0],
      [1, 0, 2],
    ]) {
      let standing: StandingRun[] = [];
      for (const at of order) ({ standing } = standRun(definition, standing, runs[at]!));
      expect(ids(standing)).toEqual(['c', 'a']);
    }
  });

  it('have each id once', () => {
    const { standing, stands } = standRun(definition, [run('a', 1)], run('a', 9));
    expect([stands, standing]).toEqual([false, [run('a', 1)]]);
  });

  it('are those behind the last wall that counts', () => {
    const kept = (kind: KeptRun['kind'], state: KeptRun['state'], entry: StandingRun['state'] | null): KeptRun => ({
      ...{ kind, state, entry },
    });
    const fold = (...runs: [string, KeptRun][]): string[] =>
      ids(
        runs.reduce<readonly StandingRun[]>((standing, [id, one]) => foldRunEntries(definition, standing, one, id), []),
      );
    const state = run('', 5).state;
    const a: [string, KeptRun] = ['a', kept('run', 'counted', state)];
    const b: [string, KeptRun] = ['b', kept('run', 'counted', { ...state, score: 4 })];
    expect(fold(a, ['w', kept('override', 'counted', { ...state, score: 1 })], b)).toEqual(['b', 'w']);
    expect(fold(a, ['w', kept('removal', 'counted', null)], b)).toEqual(['b']);
    expect(fold(a, ['w', kept('removal', 'voided', null)], b)).toEqual(['a', 'b']);
    expect(fold(a, ['h', kept('run', 'held', { ...state, score: 9 })])).toEqual(['a']);
  });
});

describe('deltas of lists with several entries of a player', () => {
  const row = (rank: number, playerId: string, entryId: string, score: number): RankedEntry => ({
    ...{ rank, playerId, entryId, score, columns: {} },
    ...{ displayName: null, achievedAt: null, metadata: null },
  });
  const before = [row(1, 'ada', 'a1', 9), row(2, 'bob', 'x', 8), row(3, 'ada', 'a2', 7)];
  const after = [row(1, 'bob', 'y', 10), row(2, 'ada', 'a1', 9), row(3, 'bob', 'x', 8)];

  it('tell the rows apart by player and run', () => {
    const changes = diffRows(before, after);
    expect(changes).toEqual([
      { ...after[0], previousRank: null, previousScore: null, passed: ['ada'] },
      { playerId: 'ada', entryId: 'a1', rank: 2, previousRank: 1 },
      { playerId: 'bob', entryId: 'x', rank: 3, previousRank: 2 },
      { playerId: 'ada', entryId: 'a2', rank: null, previousRank: 3 },
    ]);
    expect(applyChanges(before, changes)).toEqual(after);
  });

  it('are right for a reader of the first places, over several ticks', () => {
    const third = [row(1, 'ada', 'a1', 9), row(2, 'bob', 'x', 8)];
    const history = [diffRows(before, after), diffRows(after, third)];
    for (const limit of [1, 2, 3]) {
      const cut = (rows: RankedEntry[]): RankedEntry[] => rows.slice(0, limit);
      expect(applyChanges(cut(before), mergeChanges(history, third, limit))).toEqual(cut(third));
    }
  });

  it('have the same id of two players as two rows', () => {
    const two = [row(1, 'ada', 'r', 9), row(2, 'bob', 'r', 8)];
    expect(applyChanges([], diffRows([], two))).toEqual(two);
    expect(diffRows(two, [row(1, 'bob', 'r', 8)])).toEqual([
      { playerId: 'bob', entryId: 'r', rank: 1, previousRank: 2 },
      { playerId: 'ada', entryId: 'r', rank: null, previousRank: 1 },
    ]);
  });
});
