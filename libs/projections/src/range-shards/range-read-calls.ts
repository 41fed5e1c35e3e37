import { memberColumnBytes, type RankStyle, type SortKey } from '@laddercast/domain';
import type { RankList } from '../ranks/rank-projection.js';
import { counterKey, distinctKey, entriesKey, partsKey, rangeKeys } from '../redis/redis-keys.js';
import { callOf, redisScripts } from '../redis/redis-scripts.js';
import { rowsOf, type ShardCall, type ShardReading } from '../hash-shards/redis-shard-calls.js';

/** What every answer of a shard of a list by ranges begins with. */
export interface ShardLook extends ShardReading {
  /** How many entries ever came from other shards, or went to them. */
  crossings: number;
  /** How many entries are crossing into it now. */
  pending: number;
  /** Distinct values, where they are kept. */
  values: number;
}

/** A run of a shard's entries. */
export interface ShardRows {
  look: ShardLook;
  /** 0-based index of the first row in the shard. */
  first: number;
  rows: SortKey[];
  /** What the style counts before the first row in the shard; null for ordinal. */
  styled: number | null;
}

/** Where a sort key stands in its shard. */
export interface CountedKey {
  /** Whether it is that of an entry there. */
  isThere: boolean;
  /** Entries before it. */
  better: number;
  /** What the style counts before it; null for ordinal. */
  styled: number | null;
}

type RawLook = [number, number, number, number, number];

/** Looks at a shard, and counts what stands before each key. */
export function countIn(
  list: RankList,
  shard: number,
  keys: readonly SortKey[],
  style: RankStyle,
): ShardCall<{ look: ShardLook; counted: CountedKey[] }> {
  const args = [...styleOf(list, style), ...keys.flatMap((key) => [String(key.score), key.member])];
  return {
    call: callOf(redisScripts.rangeCount, readKeys(list, shard), args),
    counterIn,
    read: (raw) => {
      const [look, ...numbers] = raw as [RawLook, ...number[]];
      const counted = keys.map((_, at) => ({
        isThere: numbers[3 * at] === 1,
        better: numbers[3 * at + 1]!,
        styled: styledOf(numbers[3 * at + 2]!),
      }));
      return { look: lookOf(look), counted };
    },
  };
}

/** Looks at a shard, and reads `limit` rows from a 0-based index; from `−index` before the end where it is negative. */
export function rowsIn(
  list: RankList,
  shard: number,
  index: number,
  limit: number,
  style: RankStyle,
): ShardCall<ShardRows> {
  const args = [...styleOf(list, style), index, limit];
  return { call: callOf(redisScripts.rangeRows, readKeys(list, shard), args), counterIn, read: readShardRows };
}

/** Looks at a shard, and reads what stands around an entry; no rows when its key is not there. */
export function rowsAround(
  list: RankList,
  shard: number,
  key: SortKey,
  around: { above: number; below: number },
  style: RankStyle,
): ShardCall<ShardRows> {
  const args = [...styleOf(list, style), String(key.score), key.member, around.above, around.below];
  return { call: callOf(redisScripts.rangeAround, readKeys(list, shard), args), counterIn, read: readShardRows };
}

function readShardRows(raw: unknown): ShardRows {
  const [look, first, rows, styled] = raw as [RawLook, number, Buffer[], number];
  return { look: lookOf(look), first, rows: rowsOf(rows), styled: styledOf(styled) };
}

const readKeys = (list: RankList, shard: number): string[] => {
  const { state, pending } = rangeKeys(list, shard);
  return [
    entriesKey(list, shard),
    counterKey(list, shard),
    state,
    pending,
    distinctKey(list, shard),
    partsKey(list, shard),
  ];
};

const counterIn = (raw: unknown): number => (raw as [RawLook])[0][1];

const styleOf = (list: RankList, style: RankStyle): [string, number] => [style, memberColumnBytes(list.ordering)];

const lookOf = ([total, counter, crossings, pending, values]: RawLook): ShardLook => ({
  total,
  counter,
  crossings,
  pending,
  values,
});

const styledOf = (count: number): number | null => (count < 0 ? null : count);
