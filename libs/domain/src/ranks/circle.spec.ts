import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { BoardOrdering } from '../boards/board.js';
import { rankAmongThemselves, type CircleEntry } from './circle.js';

const ordering = (changes: Partial<BoardOrdering> = {}): BoardOrdering => ({
  order: 'desc',
  operator: 'best',
  tiebreak: 'earliest',
  columns: [],
  ...changes,
});

const entry = (
  playerId: string,
  score: number,
  achievedAtMs: number | null = 0,
  columns: number[] = [],
): CircleEntry => ({
  rank: 1,
  playerId,
  score,
  columns,
  achievedAtMs,
});

const places = (rows: { playerId: string; rank: number }[]): string[] =>
  rows.map((row) => `${row.rank} ${row.playerId}`);

describe('ranks among themselves', () => {
  it('order tied entries by time, then by the bytes of the id, whatever rank they came with', () => {
    const entries = [entry('b', 5, 2), entry('B', 5, 2), entry('late', 5, 3), entry('best', 9, 9)];
    entries[2]!.rank = 1;
    expect(places(rankAmongThemselves(ordering(), entries, 'ordinal'))).toEqual(['1 best', '2 B', '3 b', '4 late']);
  });

  it('are shared by entries of equal score and columns in competition and dense style', () => {
    const columns = [{ name: 'moves', order: 'asc' as const }];
    const entries = [entry('a', 5, 1, [3]), entry('b', 5, 2, [3]), entry('c', 5, 0, [4]), entry('d', 4, 0, [1])];
    const rows = rankAmongThemselves(ordering({ columns }), entries, 'competition');
    expect(places(rows)).toEqual(['1 a', '1 b', '3 c', '4 d']);
    expect(places(rankAmongThemselves(ordering({ columns }), entries, 'dense'))).toEqual(['1 a', '1 b', '2 c', '3 d']);
  });

  it('follow the direction of the board, and its latest-first tie-break', () => {
    const entries = [entry('slow', 12, 1), entry('old', 10, 1), entry('new', 10, 2)];
    const rows = rankAmongThemselves(ordering({ order: 'asc', tiebreak: 'latest' }), entries, 'ordinal');
    expect(places(rows)).toEqual(['1 new', '2 old', '3 slow']);
  });

  it('stand beside the rank in the list', () => {
    const rows = rankAmongThemselves(
      ordering(),
      [
        { ...entry('a', 5), rank: 70 },
        { ...entry('b', 6), rank: 12 },
      ],
      'ordinal',
    );
    expect(rows.map(({ rank, globalRank }) => [rank, globalRank])).toEqual([
      [1, 12],
      [2, 70],
    ]);
  });

  it('are 1, 2, 3 … in ordinal style, for any entries in any order', () => {
    const anyEntries = fc
      .array(fc.record({ score: fc.integer({ min: 0, max: 3 }), at: fc.integer({ min: 0, max: 3 }) }), {
        maxLength: 40,
      })
      .map((given) => given.map(({ score, at }, index) => entry(`p${index}`, score, at)));
    const anyOrder = anyEntries.chain((entries) =>
      fc.tuple(fc.constant(entries), fc.shuffledSubarray(entries, { minLength: entries.length })),
    );
    fc.assert(
      fc.property(anyOrder, ([entries, shuffled]) => {
        const rows = rankAmongThemselves(ordering(), shuffled, 'ordinal');
        expect(rows.map(({ rank }) => rank)).toEqual(rows.map((_, index) => index + 1));
        expect(rows).toEqual(rankAmongThemselves(ordering(), entries, 'ordinal'));
      }),
    );
  });
});
