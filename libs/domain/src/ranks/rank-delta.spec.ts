import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyChanges, diffRows, mergeChanges, PASSED_MAX, type EntryRowChange } from './rank-delta.js';
import type { RankedEntry } from './ranking.js';

const players = Array.from({ length: 16 }, (_, at) => `p${at}`);

/** A whole list in ordinal ranks: some of few players, in any order, with few values, so that most things happen. */
const anyList: fc.Arbitrary<RankedEntry[]> = fc
  .shuffledSubarray(players)
  .chain((chosen) =>
    fc.tuple(
      ...chosen.map((playerId, at) =>
        fc.record({
          rank: fc.constant(at + 1),
          playerId: fc.constant(playerId),
          displayName: fc.constantFrom(null, 'Name'),
          score: fc.integer({ min: 0, max: 2 }),
          columns: fc.constantFrom<Record<string, number>[]>({}, { moves: 1 }),
          achievedAt: fc.constantFrom('2026-11-20T18:00:00.000Z', '2026-11-20T18:00:00.001Z'),
          metadata: fc.constantFrom(null, { a: 1 }),
          verified: fc.boolean(),
          proof: fc.constantFrom(null, 'https://replays.example/1'),
        }),
      ),
    ),
  )
  .map((rows) => [...rows]);

/** A list after another: most rows keep their values, as between two ticks. */
const anySuccessor = (list: RankedEntry[]): fc.Arbitrary<RankedEntry[]> =>
  fc.tuple(anyList, fc.infiniteStream(fc.boolean())).map(([next, keeps]) => {
    const known = new Map(list.map((row) => [row.playerId, row]));
    return next.map((row) => {
      const old = known.get(row.playerId);
      return old !== undefined && keeps.next().value ? { ...old, rank: row.rank } : row;
    });
  });

const anyTwo = anyList.chain((first) => fc.tuple(fc.constant(first), anySuccessor(first)));
const anyFour = anyTwo.chain(([first, second]) =>
  anySuccessor(second).chain((third) =>
    anySuccessor(third).map((fourth): [RankedEntry[], ...RankedEntry[][]] => [first, second, third, fourth]),
  ),
);
const anyLimit = fc.integer({ min: 1, max: players.length + 2 });

const row = (rank: number, playerId: string, score: number): RankedEntry => ({
  rank,
  playerId,
  displayName: null,
  score,
  columns: {},
  achievedAt: '2026-11-20T18:00:00.000Z',
  metadata: null,
});

describe('the difference of two lists', () => {
  it('turns the one into the other', () =>
    fc.assert(
      fc.property(anyTwo, ([before, after]) => {
        expect(applyChanges(before, diffRows(before, after))).toEqual(after);
      }),
      { numRuns: 1000 },
    ));

  it('has every row whose rank or values changed, once, and no other', () =>
    fc.assert(
      fc.property(anyTwo, ([before, after]) => {
        const old = new Map(before.map((entry) => [entry.playerId, JSON.stringify(entry)]));
        const now = new Map(after.map((entry) => [entry.playerId, JSON.stringify(entry)]));
        const changed = players.filter((playerId) => old.get(playerId) !== now.get(playerId));
        expect(
          diffRows(before, after)
            .map(({ playerId }) => playerId)
            .sort(),
        ).toEqual(changed.sort());
        expect(diffRows(after, after)).toEqual([]);
      }),
    ));

  it('names whom a row passed: those that stood before it and now stand behind it, at most ten', () =>
    fc.assert(
      fc.property(anyTwo, ([before, after]) => {
        const old = new Map(before.map(({ playerId, rank }) => [playerId, rank]));
        for (const change of diffRows(before, after)) {
          if (!('passed' in change)) continue;
          const passed = after.filter(
            ({ playerId, rank }) =>
              rank > change.rank && old.has(playerId) && old.get(playerId)! < (old.get(change.playerId) ?? Infinity),
          );
          expect(change.passed).toEqual(passed.slice(0, PASSED_MAX).map(({ playerId }) => playerId));
        }
      }),
    ));

  it('says where a row was, what it was, and who only shifted or left', () => {
    const before = [row(1, 'ada', 9), row(2, 'bob', 8), row(3, 'cy', 7), row(4, 'dee', 6)];
    const after = [row(1, 'cy', 10), row(2, 'ada', 9), row(3, 'bob', 8), row(4, 'eve', 7)];
    expect(diffRows(before, after)).toEqual([
      { ...row(1, 'cy', 10), previousRank: 3, previousScore: 7, passed: ['ada', 'bob'] },
      { playerId: 'ada', rank: 2, previousRank: 1 },
      { playerId: 'bob', rank: 3, previousRank: 2 },
      { ...row(4, 'eve', 7), previousRank: null, previousScore: null, passed: [] },
      { playerId: 'dee', rank: null, previousRank: 4 },
    ]);
  });
});

describe('merged changes', () => {
  it('bring a list of any length from before the ticks to after them', () =>
    fc.assert(
      fc.property(anyFour, anyLimit, (lists, limit) => {
        const history = lists.slice(1).map((list, at) => diffRows(lists[at]!, list));
        const last = lists.at(-1)!;
        const merged = mergeChanges(history, last, limit);
        expect(applyChanges(lists[0].slice(0, limit), merged)).toEqual(last.slice(0, limit));
      }),
      { numRuns: 1000 },
    ));

  it('have each player once, only those that the reader sees, and say where they stood in what the reader had', () =>
    fc.assert(
      fc.property(anyFour, anyLimit, (lists, limit) => {
        const history = lists.slice(1).map((list, at) => diffRows(lists[at]!, list));
        const seen = new Map(lists[0].slice(0, limit).map(({ playerId, rank }) => [playerId, rank]));
        const now = new Map(
          lists
            .at(-1)!
            .slice(0, limit)
            .map(({ playerId, rank }) => [playerId, rank]),
        );
        const merged = mergeChanges(history, lists.at(-1)!, limit);
        expect(new Set(merged.map(({ playerId }) => playerId)).size).toBe(merged.length);
        for (const change of merged) {
          expect(change.previousRank).toBe(seen.get(change.playerId) ?? null);
          expect(change.rank).toBe(now.get(change.playerId) ?? null);
          const { passed = [] } = change as Partial<EntryRowChange>;
          expect(passed.length).toBeLessThanOrEqual(PASSED_MAX);
          for (const other of passed) expect(now.get(other)).toBeGreaterThan(change.rank!);
        }
      }),
      { numRuns: 1000 },
    ));

  it('of one tick seen whole are its changes', () =>
    fc.assert(
      fc.property(anyTwo, ([before, after]) => {
        const changes = diffRows(before, after);
        expect(mergeChanges([changes], after, players.length)).toEqual(changes);
      }),
    ));

  it('keep the score from before the first tick', () => {
    const lists = [3, 5, 9].map((score) => [row(1, 'ada', score)]);
    const history = [diffRows(lists[0]!, lists[1]!), diffRows(lists[1]!, lists[2]!)];
    expect(mergeChanges(history, lists[2]!, 10)).toEqual([
      { ...row(1, 'ada', 9), previousRank: 1, previousScore: 3, passed: [] },
    ]);
  });

  it('are cut by rank: a place whose player is not listed is a place', () => {
    const before = [row(1, 'ada', 9), row(3, 'cy', 7), row(4, 'di', 6)];
    const after = [row(1, 'ada', 9), row(2, 'di', 8), row(4, 'cy', 7)];
    expect(mergeChanges([diffRows(before, after)], after, 3)).toEqual([
      { ...row(2, 'di', 8), previousRank: null, previousScore: 6, passed: [] },
      { playerId: 'cy', rank: null, previousRank: 3 },
    ]);
  });
});

it('a row of a circle whose rank among everybody changed comes whole', () => {
  const before = [{ ...row(1, 'ada', 9), globalRank: 4 }];
  const after = [{ ...row(1, 'ada', 9), globalRank: 5 }];
  expect(diffRows(before, after)).toEqual([{ ...after[0], previousRank: 1, previousScore: 9, passed: [] }]);
  expect(applyChanges(before, diffRows(before, after))).toEqual(after);
});
