import {
  ACHIEVED_AT_MS_MAX,
  COLUMNS_MAX,
  encodeSortKey,
  faultOfOpaqueId,
  type BoardOrdering,
  type SortKey,
} from '@laddercast/domain';
import type { ProjectedChange } from '@laddercast/projections';
import fc from 'fast-check';
import type { OracleValues } from './sorted-array-oracle.js';

/** One new state of a player's entry, or its removal. */
export interface RankChange {
  playerId: string;
  version: number;
  values: Omit<OracleValues, 'playerId'> | null;
}

/** Doubles at which an order breaks first. */
const SHARP_DOUBLES = [
  0,
  -0,
  5e-324,
  -5e-324,
  2.2250738585072014e-308,
  2 ** 53 - 1,
  2 ** 53,
  2 ** 53 + 2,
  -(2 ** 53) - 2,
  0.1,
  0.1 + 0.2,
  0.3,
  1e21,
  1.7976931348623157e308,
  -1.7976931348623157e308,
];
const ODD_IDS = [
  'a',
  'aa',
  'aaa',
  'A',
  'B',
  'a}',
  '{a}',
  '}{',
  '{',
  ' ',
  'a b',
  '\u00e9',
  'e\u0301',
  '\uffff',
  '😀',
  '😀a',
];
const LONG_ID = 'x'.repeat(128);

/** Ids of any Unicode, many of them each other's beginnings. */
export const anyPlayerId = (): fc.Arbitrary<string> =>
  fc
    .oneof(
      { weight: 3, arbitrary: fc.constantFrom(...ODD_IDS, LONG_ID, LONG_ID.slice(1)) },
      { weight: 1, arbitrary: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }) },
      { weight: 1, arbitrary: fc.string({ unit: 'binary', minLength: 1, maxLength: 4 }) },
      { weight: 1, arbitrary: fc.integer({ min: 0, max: 999 }).map((number) => `player-${number}`) },
    )
    .filter((id) => faultOfOpaqueId(id) === null);

/** Mostly few different ones, so that ties are the rule. */
const anyDouble = (): fc.Arbitrary<number> =>
  fc.oneof(
    { weight: 5, arbitrary: fc.integer({ min: -2, max: 2 }) },
    { weight: 3, arbitrary: fc.constantFrom(...SHARP_DOUBLES) },
    { weight: 2, arbitrary: fc.double({ noNaN: true, noDefaultInfinity: true }) },
  );

/** Boundaries of 2-16 shards, as `RankList` has them. */
export const anyBoundaries = (): fc.Arbitrary<number[]> =>
  fc
    .uniqueArray(
      anyDouble().map((score) => (score === 0 ? 0 : score)),
      { minLength: 1, maxLength: 15 },
    )
    .map((boundaries) => boundaries.sort((a, b) => a - b));

const anyTime = (): fc.Arbitrary<number> =>
  fc.oneof(
    { weight: 4, arbitrary: fc.integer({ min: 1000, max: 1003 }) },
    { weight: 1, arbitrary: fc.constantFrom(0, 1, 2 ** 32, ACHIEVED_AT_MS_MAX) },
  );

export const anyOrdering = (): fc.Arbitrary<BoardOrdering> =>
  fc.record({
    order: fc.constantFrom('asc' as const, 'desc' as const),
    operator: fc.constant('best' as const),
    tiebreak: fc.constantFrom('earliest' as const, 'latest' as const, 'none' as const),
    columns: fc
      .array(fc.constantFrom('asc' as const, 'desc' as const), { maxLength: COLUMNS_MAX })
      .map((orders) => orders.map((order, at) => ({ name: `column${at}`, order }))),
  });

export const anyValues = (ordering: BoardOrdering): fc.Arbitrary<Omit<OracleValues, 'playerId'>> =>
  fc.record({
    score: anyDouble(),
    columns: fc.tuple(...ordering.columns.map(anyDouble)).map((columns) => [...columns] as number[]),
    achievedAtMs: anyTime(),
  });

/** A history with versions 1, 2, 3 …: one removal in six. */
export const anyHistory = (ordering: BoardOrdering, changesMax: number): fc.Arbitrary<RankChange[]> =>
  fc
    .uniqueArray(anyPlayerId(), { minLength: 1, maxLength: 24 })
    .chain((ids) =>
      fc.array(fc.tuple(fc.constantFrom(...ids), fc.option(anyValues(ordering), { freq: 5 })), {
        minLength: 1,
        maxLength: changesMax,
      }),
    )
    .map((changes) => changes.map(([playerId, values], at) => ({ playerId, version: at + 1, values })));

export const sortKeyOf = (ordering: BoardOrdering, values: OracleValues): SortKey =>
  encodeSortKey(ordering, values, values.playerId);

export function projectedChange(ordering: BoardOrdering, change: RankChange): ProjectedChange {
  const { playerId, version, values } = change;
  return { playerId, version, key: values === null ? null : encodeSortKey(ordering, values, playerId) };
}
