import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { BoardOrdering } from './board.js';
import {
  ACHIEVED_AT_MS_MAX,
  compareSortKeys,
  decodeSortKey,
  encodeSortKey,
  memberColumnBytes,
  memberPrefixBytes,
  toRankScore,
  type SortValues,
} from './sort-key.js';

const SHARP = [
  0,
  -0,
  5e-324,
  -5e-324,
  2 ** 53,
  2 ** 53 + 2,
  -(2 ** 53),
  1.7976931348623157e308,
  -1.7976931348623157e308,
];
const anyDouble = fc.oneof(
  fc.constantFrom(...SHARP),
  fc.integer({ min: -2, max: 2 }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);
const anyOrdering: fc.Arbitrary<BoardOrdering> = fc.record({
  order: fc.constantFrom('asc', 'desc'),
  operator: fc.constant('best'),
  tiebreak: fc.constantFrom('earliest', 'latest', 'none'),
  columns: fc.array(fc.record({ name: fc.constant('column'), order: fc.constantFrom('asc', 'desc') }), {
    maxLength: 4,
  }),
});
const anyEntry = (ordering: BoardOrdering): fc.Arbitrary<SortValues & { playerId: string }> =>
  fc.record({
    score: anyDouble,
    columns: fc.tuple(...ordering.columns.map(() => anyDouble)).map((columns) => [...columns]),
    achievedAtMs: fc.oneof(fc.constantFrom(0, 1, ACHIEVED_AT_MS_MAX), fc.integer({ min: 1000, max: 1002 })),
    playerId: fc.oneof(
      fc.constantFrom('a', 'aa', 'B', 'é', '\uffff', '😀', '}'),
      fc.string({ unit: 'binary', minLength: 1 }),
    ),
  });
const anyTwo = anyOrdering.chain((ordering) =>
  fc.record({ ordering: fc.constant(ordering), a: anyEntry(ordering), b: anyEntry(ordering) }),
);

/** The order as the contract says it, value by value. */
function compareValues(
  ordering: BoardOrdering,
  a: SortValues & { playerId: string },
  b: SortValues & { playerId: string },
): number {
  const pairs: [number, number, boolean][] = [[a.score, b.score, ordering.order === 'asc']];
  for (const [at, { order }] of ordering.columns.entries())
    pairs.push([a.columns[at]!, b.columns[at]!, order === 'asc']);
  if (ordering.tiebreak !== 'none') pairs.push([a.achievedAtMs, b.achievedAtMs, ordering.tiebreak === 'earliest']);
  for (const [left, right, ascending] of pairs) if (left !== right) return left < right === ascending ? -1 : 1;
  return Buffer.compare(Buffer.from(a.playerId), Buffer.from(b.playerId));
}

describe('a sort key', () => {
  it('orders as score, columns, tie-break and player id do, for every double', () =>
    fc.assert(
      fc.property(anyTwo, ({ ordering, a, b }) => {
        const order = compareSortKeys(encodeSortKey(ordering, a, a.playerId), encodeSortKey(ordering, b, b.playerId));
        expect(Math.sign(order)).toBe(compareValues(ordering, a, b));
      }),
      { numRuns: 3000 },
    ));

  it('gives its values back, bit for bit, with −0 as 0', () =>
    fc.assert(
      fc.property(anyTwo, ({ ordering, a }) => {
        const key = encodeSortKey(ordering, a, a.playerId);
        expect(decodeSortKey(ordering, key)).toEqual({
          playerId: a.playerId,
          score: a.score === 0 ? 0 : a.score,
          columns: a.columns.map((column) => (column === 0 ? 0 : column)),
          achievedAtMs: ordering.tiebreak === 'none' ? null : a.achievedAtMs,
        });
        expect(key.member.length).toBe(memberPrefixBytes(ordering) + Buffer.byteLength(a.playerId));
        expect(memberColumnBytes(ordering)).toBe(8 * ordering.columns.length);
      }),
    ));

  it('is the same for 0 and −0', () => {
    const ordering: BoardOrdering = {
      order: 'desc',
      operator: 'best',
      tiebreak: 'none',
      columns: [{ name: 'c', order: 'desc' }],
    };
    const of = (zero: number) => encodeSortKey(ordering, { score: zero, columns: [zero], achievedAtMs: 0 }, 'ada');
    expect(of(-0)).toEqual(of(0));
    expect(Object.is(of(0).score, 0)).toBe(true);
    expect(toRankScore('desc', toRankScore('desc', -7.5))).toBe(-7.5);
  });

  it('has a member of columns, time and id, in this very form', () => {
    const ordering: BoardOrdering = {
      order: 'desc',
      operator: 'best',
      tiebreak: 'earliest',
      columns: [{ name: 'c', order: 'asc' }],
    };
    const { score, member } = encodeSortKey(ordering, { score: 5, columns: [1], achievedAtMs: 258 }, 'ö');
    expect(score).toBe(-5);
    expect(member.toString('hex')).toBe('bff0000000000000' + '000000000102' + 'c3b6');
  });
});
