import { nowMs } from '@laddercast/platform';
import {
  countedKey,
  counterStart,
  memberColumnBytes,
  type RankStyle,
  type ShardMarks,
  type SortKey,
} from '@laddercast/domain';
import type { ProjectedChange, RankList } from '../ranks/rank-projection.js';
import { PackedArray } from '../redis/redis-packed-array.js';
import { isEntryValue, packIndexValue, sortKeyOfIndexValue, versionOfIndexValue } from '../redis/redis-index-value.js';
import {
  bucketsHead,
  counterKey,
  distinctKey,
  entriesKey,
  partsKey,
  playerBucketKey,
  playerBucketOf,
  shardHead,
} from '../redis/redis-keys.js';
import { callOf, redisScripts, type ScriptCall } from '../redis/redis-scripts.js';

/** A script call with the reader of its answer. */
export interface ShardCall<Answer> {
  call: ScriptCall;
  read: (raw: unknown) => Answer;
  /** Of a reading that says it: the apply counter, whose key is the second. */
  counterIn?: (raw: unknown) => number;
}

/** What became of the changes of a shard. */
export interface ShardApplied {
  newer: number;
  /** All keys of the shard want a later expiry. */
  wantsLaterExpiry: boolean;
  /** It has lost a key: nothing is changed until it was emptied and filled anew. */
  isLost: boolean;
}

/** What every answer of a shard begins with. */
export interface ShardReading {
  total: number;
  counter: number;
}

/** A player who is asked for with up to `above` rows before the entry and `below` after it. */
export interface PlayerAsked {
  playerId: string;
  above: number;
  below: number;
}

export interface PlayerOfShard {
  version: number | null;
  /** 0-based, null when the player has no entry. */
  index: number | null;
  firstIndex: number;
  rows: SortKey[];
  /** What stands before the first row in the style that was asked for; null for ordinal. */
  countBefore: number | null;
}

/** A sort key with how many rows of a shard are wanted before and after it. */
export interface KeyAsked {
  key: SortKey;
  above: number;
  below: number;
}

export interface RowsOfShard extends ShardReading {
  rows: SortKey[];
  /** What stands before the first row in the style that was asked for; null for ordinal. */
  countBefore: number | null;
}

export interface EntryOfShard {
  index: number;
  /** What stands before it in the shard in the style that was asked for; null for ordinal. */
  countBefore: number | null;
  version: number;
  key: SortKey;
}

export const NO_COLUMNS = -1;
/** A checkpoint is closed early once so many entries of the list changed. */
export const CHECKPOINT_CHANGES_MAX = 100_000;

/** Brings a shard up to the changes. */
export function applyEntries(
  list: RankList,
  shard: number,
  changes: readonly ProjectedChange[],
  keepUntilMs: number | null,
  isRecovery: boolean,
  checkpointChangesMax = CHECKPOINT_CHANGES_MAX,
): ShardCall<ShardApplied> {
  const keys = new KeyNumbers(list, shard, [...shardHead(list, shard), partsKey(list, shard)]);
  const atMs = nowMs();
  const args: (string | number | Buffer)[] = [
    keepUntilMs === null ? '' : Math.round(keepUntilMs),
    counterStart(list, atMs),
    isRecovery ? 1 : 0,
    list.dense ? memberColumnBytes(list.ordering) : NO_COLUMNS,
    atMs,
    Math.ceil(checkpointChangesMax / list.shards),
  ];
  const packed = new PackedArray(4 * changes.length);
  for (const change of changes) {
    packed.number(keys.numberOf(change.playerId));
    packed.text(change.playerId);
    packed.bytes(packIndexValue(change));
    packed.text(change.key === null ? '' : String(change.key.score));
  }
  args.push(packed.packed());
  return {
    call: callOf(redisScripts.applyEntries, keys.keys, args),
    read: (raw) => {
      const [newer, wantsLater, word] = raw as [number, number, Buffer | null];
      return { newer, wantsLaterExpiry: wantsLater === 1, isLost: isLostWord(word) };
    },
  };
}

/** The entries of players of this shard with what stands around them, in the order asked. */
export function readPlayers(
  list: RankList,
  shard: number,
  asked: readonly PlayerAsked[],
  style: RankStyle,
): ShardCall<ShardReading & { players: PlayerOfShard[] }> {
  const keys = new KeyNumbers(list, shard, shardSets(list, shard));
  const players = asked.flatMap(({ playerId, above, below }) => [keys.numberOf(playerId), playerId, above, below]);
  const args = [style, memberColumnBytes(list.ordering), ...players];
  return {
    call: callOf(redisScripts.readPlayers, keys.keys, args),
    counterIn,
    read: (raw) => {
      type Found = [version: number | null, index: number, firstIndex: number, rows: Buffer[], before: number];
      const [total, counter, ...found] = raw as [number, number, ...Found[]];
      const read = found.map(([version, index, firstIndex, rows, before]) => ({
        version,
        index: index < 0 ? null : index,
        firstIndex,
        rows: rowsOf(rows),
        countBefore: before < 0 ? null : before,
      }));
      return { total, counter, players: read };
    },
  };
}

/** How many entries stand before each key, and rows on both sides of it, in the order asked. */
export function readAround(
  list: RankList,
  shard: number,
  asked: readonly KeyAsked[],
): ShardCall<ShardReading & { around: { better: number; rows: SortKey[] }[] }> {
  const args = asked.flatMap(({ key, above, below }) => [String(key.score), key.member, above, below]);
  return {
    call: callOf(redisScripts.readAround, readKeysOf(list, shard), args),
    counterIn,
    read: (raw) => {
      const [total, counter, ...found] = raw as [number, number, ...[number, Buffer[]][]];
      return { total, counter, around: found.map(([better, rows]) => ({ better, rows: rowsOf(rows) })) };
    },
  };
}

/** `limit` rows from a 0-based index. */
export function readRows(
  list: RankList,
  shard: number,
  index: number,
  limit: number,
  style: RankStyle = 'ordinal',
): ShardCall<RowsOfShard> {
  const args = [index, limit, style, memberColumnBytes(list.ordering)];
  return {
    call: callOf(redisScripts.readRows, shardSets(list, shard), args),
    counterIn,
    read: (raw) => {
      const [total, counter, rows, before] = raw as [number, number, Buffer[], number];
      return { total, counter, rows: rowsOf(rows), countBefore: before < 0 ? null : before };
    },
  };
}

/** The entries of players of this shard, in the order asked. */
export function readEntries(
  list: RankList,
  shard: number,
  playerIds: readonly string[],
  style: RankStyle,
): ShardCall<ShardReading & { entries: (EntryOfShard | null)[] }> {
  const keys = new KeyNumbers(list, shard, shardSets(list, shard));
  const players = playerIds.flatMap((playerId) => [keys.numberOf(playerId), playerId]);
  const args = [style, memberColumnBytes(list.ordering), ...players];
  return {
    call: callOf(redisScripts.readEntries, keys.keys, args),
    counterIn,
    read: (raw) => {
      const [total, counter, ...found] = raw as [number, number, ...([number, Buffer, number] | null)[]];
      const entries = found.map((entry, at) => {
        if (entry === null) return null;
        const [index, value, before] = entry;
        const key = sortKeyOfIndexValue(value, playerIds[at]!);
        return { index, version: versionOfIndexValue(value), key, countBefore: before < 0 ? null : before };
      });
      return { total, counter, entries };
    },
  };
}

/**
 * Some of a shard's entries at equal steps.
 * @param stepsMax a longer shard is read at a longer step
 */
export function readMarks(
  list: RankList,
  shard: number,
  step: number,
  stepsMax: number,
): ShardCall<ShardReading & ShardMarks> {
  return {
    call: callOf(redisScripts.readMarks, readKeysOf(list, shard), [step, stepsMax]),
    counterIn,
    read: (raw) => {
      const [total, counter, taken, rows] = raw as [number, number, number, Buffer[]];
      return { total, counter, step: taken, keys: rowsOf(rows) };
    },
  };
}

/** The sort keys of players of this shard, in the order asked. */
export function readKeys(
  list: RankList,
  shard: number,
  playerIds: readonly string[],
): ShardCall<ShardReading & { found: (SortKey | null)[] }> {
  const keys = new KeyNumbers(list, shard, readKeysOf(list, shard));
  const args = playerIds.flatMap((playerId) => [keys.numberOf(playerId), playerId]);
  return {
    call: callOf(redisScripts.readKeys, keys.keys, args),
    counterIn,
    read: (raw) => {
      const [total, counter, ...values] = raw as [number, number, ...(Buffer | null)[]];
      const found = values.map((value, at) =>
        value !== null && isEntryValue(value) ? sortKeyOfIndexValue(value, playerIds[at]!) : null,
      );
      return { total, counter, found };
    },
  };
}

/** How many entries stand before each key; in other styles than ordinal, what stands before its score and columns. */
export function countBetter(
  list: RankList,
  shard: number,
  keys: readonly SortKey[],
  style: RankStyle = 'ordinal',
): ShardCall<ShardReading & { better: number[] }> {
  const counted = keys.map((key) => countedKey(list.ordering, key, style));
  return {
    call: callOf(redisScripts.countBetter, shardSets(list, shard), [style, ...argumentsOf(counted)]),
    counterIn,
    read: (raw) => {
      const [total, counter, ...better] = raw as number[];
      return { total: total!, counter: counter!, better };
    },
  };
}

/** How many entries stand before each key, and how many there are, as if the player had none. */
export function countWithoutPlayer(
  list: RankList,
  shard: number,
  playerId: string,
  keys: readonly SortKey[],
): ShardCall<ShardReading & { version: number | null; better: number[] }> {
  const names = [...readKeysOf(list, shard), playerBucketKey(list, shard, playerId)];
  return {
    call: callOf(redisScripts.countWithoutPlayer, names, [playerId, ...argumentsOf(keys)]),
    counterIn,
    read: (raw) => {
      const [total, counter, version, ...better] = raw as [number, number, number | null, ...number[]];
      return { total, counter, version, better };
    },
  };
}

/** Keys of a script whose buckets depend on its players: those of the shard first, then each bucket once. */
export class KeyNumbers {
  private readonly numbers = new Map<number, number>();
  private readonly head: string;

  /** @param keys those before the buckets */
  constructor(
    private readonly list: RankList,
    shard: number,
    readonly keys: string[],
  ) {
    this.head = bucketsHead(list, shard);
  }

  /** The 1-based number in KEYS of a player's bucket. */
  numberOf(playerId: string): number {
    const bucket = playerBucketOf(this.list, playerId);
    const known = this.numbers.get(bucket);
    if (known !== undefined) return known;
    const number = this.keys.push(`${this.head}${bucket}`);
    this.numbers.set(bucket, number);
    return number;
  }
}

const shardSets = (list: RankList, shard: number): string[] => [...readKeysOf(list, shard), distinctKey(list, shard)];

/** What each reading of a shard begins with. */
export const readKeysOf = (list: RankList, shard: number): string[] => [
  entriesKey(list, shard),
  counterKey(list, shard),
  partsKey(list, shard),
];

const counterIn = (raw: unknown): number => (raw as [number, number])[1];

/** Whether a script that changes a shard says by a word that it has lost a key. */
export const isLostWord = (word: Buffer | null | undefined): boolean => word?.toString('latin1') === 'lost';

/** A double's shortest decimal reads back as the same double, in JavaScript and in Redis. */
const argumentsOf = (keys: readonly SortKey[]): (string | Buffer)[] =>
  keys.flatMap((key) => [String(key.score), key.member]);

/** Members and scores by turns, as ZRANGE WITHSCORES answers. */
export function rowsOf(flat: readonly Buffer[]): SortKey[] {
  const rows: SortKey[] = [];
  for (let at = 0; at < flat.length; at += 2) rows.push({ member: flat[at]!, score: numberIn(flat[at + 1]!) });
  return rows;
}

/** Digits that always are a safe integer. */
const SAFE_DIGITS = 15;
const [DIGIT_0, DIGIT_9] = [0x30, 0x39];

/** A number in decimal text; most are few digits, which take a fifth of the time without a string. */
function numberIn(text: Buffer): number {
  let number = 0;
  let at = 0;
  for (; at < text.length && at < SAFE_DIGITS; at += 1) {
    const digit = text[at]!;
    if (digit < DIGIT_0 || digit > DIGIT_9) break;
    number = 10 * number + (digit - DIGIT_0);
  }
  return at === text.length ? number : Number(text.toString('latin1'));
}
