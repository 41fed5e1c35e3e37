// Pure: random lists, and clients that know nothing but the rule of the contract.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  applyChanges,
  diffRows,
  firstPlaces,
  mergeChanges,
  PASSED_MAX,
  type CircleRow,
  type RankedEntry,
  type RowChange,
} from '@laddercast/domain';

const LIMITS = [1, 3, 10, 25];

interface Place {
  player: number;
  score: number;
  named: boolean;
  isListed: boolean;
  ranksAbove: number;
}

const places = fc.uniqueArray(
  fc.record<Place>({
    player: fc.integer({ min: 0, max: 19 }),
    score: fc.integer({ min: 0, max: 3 }),
    named: fc.boolean(),
    isListed: fc.integer({ min: 0, max: 4 }).map((chance) => chance > 0),
    ranksAbove: fc.integer({ min: 0, max: 2 }),
  }),
  { selector: ({ player }) => player, maxLength: 20 },
);

const rowOf = ({ player, score, named }: Place, index: number): RankedEntry => ({
  rank: index + 1,
  playerId: `p${player}`,
  displayName: named ? `Player ${player}` : null,
  score,
  columns: {},
  achievedAt: '2026-11-20T18:00:00.000Z',
  metadata: null,
});

/** A list of some of twenty players in any order, scores and names changing now and then; some are not listed. */
const lists = places.map((found) =>
  found
    .map((place, index) => ({ row: rowOf(place, index), place }))
    .flatMap(({ row, place }) => (place.isListed ? [row] : [])),
);

/** As {@link lists}, of a circle: each row has a rank among everybody, too. */
const circles = places.map((found) => {
  let globalRank = 0;
  return found.flatMap((place, index): CircleRow[] => {
    globalRank += 1 + place.ranksAbove;
    return place.isListed ? [{ ...rowOf(place, index), globalRank }] : [];
  });
});

const histories = fc.array(lists, { minLength: 2, maxLength: 6 });

/** The contract's client: whole rows replace, shifted ones get their rank, null leaves. */
function follow(rows: readonly RankedEntry[], changes: readonly RowChange[]): RankedEntry[] {
  const held = new Map(rows.map((row) => [row.playerId, row]));
  for (const change of changes) {
    if (change.rank === null) expect(held.delete(change.playerId)).toBe(true);
    else if ('score' in change) {
      const { previousRank: _rank, previousScore: _score, passed: _passed, ...row } = change;
      held.set(change.playerId, row);
    } else {
      expect(held.has(change.playerId)).toBe(true);
      held.set(change.playerId, { ...held.get(change.playerId)!, rank: change.rank });
    }
  }
  return [...held.values()].sort((a, b) => a.rank - b.rank);
}

const changesOf = (history: readonly RankedEntry[][]): RowChange[][] =>
  history.slice(1).map((list, index) => diffRows(history[index]!, list));

describe('the difference of two lists', () => {
  it('turns the one into the other, and names each row that changed once and no other', () => {
    fc.assert(
      fc.property(lists, lists, (before, after) => {
        const changes = diffRows(before, after);
        expect(follow(before, changes)).toEqual(after);
        expect(applyChanges(before, changes)).toEqual(after);
        const textOf = (rows: readonly RankedEntry[], id: string) =>
          JSON.stringify(rows.find((row) => row.playerId === id));
        const ids = new Set([...before, ...after].map((row) => row.playerId));
        const changed = [...ids].filter((id) => textOf(before, id) !== textOf(after, id));
        expect(changes.map((change) => change.playerId).sort()).toEqual(changed.sort());
      }),
      { numRuns: 300 },
    );
  });

  it('of a circle names each row whose rank among everybody changed, whole', () => {
    fc.assert(
      fc.property(circles, circles, (before, after) => {
        const changes = diffRows(before, after);
        expect(follow(before, changes)).toEqual(after);
        expect(applyChanges(before, changes)).toEqual(after);
        for (const change of changes) {
          const [old, row] = [before, after].map((rows) => rows.find((one) => one.playerId === change.playerId));
          if (row && old?.globalRank !== row.globalRank) expect(change).toMatchObject(row);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('says where a row stood and what it was, and names only those it passed', () => {
    fc.assert(
      fc.property(lists, lists, (before, after) => {
        const rankIn = (rows: readonly RankedEntry[], id: string) => rows.find((row) => row.playerId === id)?.rank;
        for (const change of diffRows(before, after)) {
          const old = before.find((row) => row.playerId === change.playerId);
          expect(change.previousRank).toBe(old?.rank ?? null);
          if (!('passed' in change)) continue;
          expect(change.previousScore).toBe(old?.score ?? null);
          expect(change.passed.length).toBeLessThanOrEqual(PASSED_MAX);
          for (const id of change.passed) {
            expect(rankIn(before, id)).toBeLessThan(old?.rank ?? Infinity);
            expect(rankIn(after, id)).toBeGreaterThan(change.rank);
          }
        }
      }),
      { numRuns: 300 },
    );
  });
});

describe('the merged changes of several ticks', () => {
  it('bring a reader of the first rows to where it would be now, each player once', () => {
    fc.assert(
      fc.property(histories, fc.constantFrom(...LIMITS), (history, limit) => {
        const now = history.at(-1)!;
        const changes = mergeChanges(changesOf(history), now, limit);
        expect(follow(firstPlaces(history[0]!, limit), changes)).toEqual(firstPlaces(now, limit));
        expect(new Set(changes.map((change) => change.playerId)).size).toBe(changes.length);
      }),
      { numRuns: 500 },
    );
  });

  it('bring it there tick by tick too, and nothing is said when its rows did not change', () => {
    fc.assert(
      fc.property(histories, fc.constantFrom(...LIMITS), (history, limit) => {
        let held = firstPlaces(history[0]!, limit);
        for (const [index, list] of history.slice(1).entries()) {
          const changes = mergeChanges([diffRows(history[index]!, list)], list, limit);
          const next = firstPlaces(list, limit);
          if (JSON.stringify(held) === JSON.stringify(next)) expect(changes).toEqual([]);
          held = follow(held, changes);
          expect(held).toEqual(next);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('speak only of the rows that the reader sees', () => {
    fc.assert(
      fc.property(histories, fc.constantFrom(...LIMITS), (history, limit) => {
        const seen = new Set(
          [...history[0]!, ...history.at(-1)!].filter((row) => row.rank <= limit).map((row) => row.playerId),
        );
        for (const change of mergeChanges(changesOf(history), history.at(-1)!, limit)) {
          expect(change.previousRank ?? 1).toBeLessThanOrEqual(limit);
          expect(seen.has(change.playerId)).toBe(true);
        }
      }),
      { numRuns: 300 },
    );
  });
});
