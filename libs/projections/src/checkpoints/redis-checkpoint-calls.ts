import { memberColumnBytes, type SortKey } from '@laddercast/domain';
import { nowMs } from '@laddercast/platform';
import type { CheckpointName } from './checkpoints.js';
import type { RankList } from '../ranks/rank-projection.js';
import type { CheckpointLimits } from './redis-checkpoints.js';
import { sortKeyOfIndexValue } from '../redis/redis-index-value.js';
import {
  CHECKPOINT_SLOTS,
  checkpointKeys,
  checkpointReadKey,
  checkpointsKey,
  counterKey,
  distinctKey,
  entriesKey,
  partsKey,
  playerBucketKey,
} from '../redis/redis-keys.js';
import { callOf, redisScripts } from '../redis/redis-scripts.js';
import { rowsOf, type ShardCall } from '../hash-shards/redis-shard-calls.js';

/** What a shard noted of a checkpoint when it was opened there. */
export interface CheckpointNote {
  id: string;
  /** When the list's first shard opened it, Unix ms. */
  openedAtMs: number;
  /** The shard's apply counter and its number of entries. */
  counter: number;
  total: number;
  closesAtMs: number;
}

/** An answer of a shard; null: the checkpoint is not open there. */
export type Noted<Answer> = (Answer & { note: CheckpointNote }) | null;

/** A cut through the list: at a sort key (`behind` it, or before), or behind so many entries of the shard. */
export type Cut = { key: SortKey; behind: boolean } | { index: number };

export interface CheckpointRows {
  /** Entries of the shard before the cut. */
  before: number;
  /** In no order. */
  rows: SortKey[];
  /** The key up to which the shard was looked through, where that is not far enough to have found `limit` rows. */
  stoppedAt: SortKey | null;
}

/** Changed entries that one call counts distinct values of. */
const CHANGED_VALUES_MAX = 250;

/** How the first shard of a list chooses the slot of a checkpoint, Unix ms. */
export interface OpeningChoice {
  /** One that was opened since will do; beyond the time of opening: none will. */
  sharedSinceMs: number;
  /** Then one that was opened before this, and that nobody has read for a while, may be replaced. */
  keptSinceMs: number;
}

/** What an opening may use instead of a free slot. */
export const openingChoice = (
  openedAtMs: number,
  isShared: boolean,
  { sharedForMs, keptUnreadMs }: CheckpointLimits,
): OpeningChoice => ({
  sharedSinceMs: isShared ? openedAtMs - sharedForMs : Number.MAX_SAFE_INTEGER,
  keptSinceMs: openedAtMs - keptUnreadMs,
});

export function openCheckpoint(
  list: RankList,
  shard: number,
  { id, openedAtMs, closesAtMs }: { id: string; openedAtMs: number; closesAtMs: number },
  choice: { slot: number } | OpeningChoice,
): ShardCall<{ slot: number; note: CheckpointNote }> {
  const slots = Array.from({ length: CHECKPOINT_SLOTS }, (_, slot) => slot);
  const keys = [
    entriesKey(list, shard),
    counterKey(list, shard),
    checkpointsKey(list, shard),
    ...slots.flatMap((slot) => checkpointKeys(list, shard, slot)),
    ...slots.map((slot) => checkpointReadKey(list, shard, slot)),
    partsKey(list, shard),
  ];
  const chosen = 'slot' in choice ? [choice.slot, 0, 0] : ['', choice.sharedSinceMs, choice.keptSinceMs];
  return {
    call: callOf(redisScripts.openCheckpoint, keys, [id, openedAtMs, closesAtMs, ...chosen]),
    read: (raw) => {
      const [slot, note] = raw as [number, Buffer];
      return { slot, note: noteOf(note) };
    },
  };
}

/** Closes a checkpoint before its time. */
export function closeCheckpoint(list: RankList, shard: number, slot: number, id: string): ShardCall<boolean> {
  const keys = [checkpointsKey(list, shard), ...checkpointKeys(list, shard, slot)];
  return { call: callOf(redisScripts.closeCheckpoint, keys, [slot, id]), read: (raw) => raw === 1 };
}

/** The `limit` entries after the cut, or before it, that are nearest to it. */
export function readCheckpointRows(
  list: RankList,
  shard: number,
  name: CheckpointName,
  cut: Cut,
  direction: 'after' | 'before',
  limit: number,
  lookedAtMax: number,
): ShardCall<Noted<CheckpointRows>> {
  const at = 'key' in cut ? ['', String(cut.key.score), cut.key.member, cut.behind ? 1 : 0] : [cut.index, '', '', 0];
  const args = [direction === 'after' ? 1 : -1, ...at, limit, lookedAtMax];
  return {
    call: callOf(redisScripts.readCheckpointRows, keysOf(list, shard, name), [...argumentsOf(name), ...args]),
    read: noted((before: number, unchanged: Buffer[], saved: Buffer[], stop: Buffer[]) => ({
      before,
      rows: [...rowsOf(unchanged), ...rowsOf(saved)],
      stoppedAt: rowsOf(stop)[0] ?? null,
    })),
  };
}

/** How many entries stood before each key. */
export function countCheckpoint(
  list: RankList,
  shard: number,
  name: CheckpointName,
  keys: readonly SortKey[],
): ShardCall<Noted<{ before: number[] }>> {
  const args = keys.flatMap(({ score, member }) => [String(score), member]);
  return {
    call: callOf(redisScripts.countCheckpoint, keysOf(list, shard, name), [...argumentsOf(name), ...args]),
    read: noted((...before: number[]) => ({ before })),
  };
}

/** How many distinct values stood before that of the key; null when more changed than one call looks at. */
export function countCheckpointValues(
  list: RankList,
  shard: number,
  name: CheckpointName,
  { score, member }: SortKey,
): ShardCall<Noted<{ before: number | null }>> {
  const keys = [...keysOf(list, shard, name), distinctKey(list, shard), counterKey(list, shard)];
  const columns = member.subarray(0, memberColumnBytes(list.ordering));
  const args = [...argumentsOf(name), String(score), columns, CHANGED_VALUES_MAX];
  return {
    call: callOf(redisScripts.countCheckpointValues, keys, args),
    read: noted((before: number) => ({ before: before < 0 ? null : before })),
  };
}

/** The sort key that a player has now, and whether it is the one of then. */
export function readCheckpointPlayer(
  list: RankList,
  shard: number,
  name: CheckpointName,
  playerId: string,
): ShardCall<Noted<{ key: SortKey | null; isUnchanged: boolean }>> {
  const keys = [
    ...keysOf(list, shard, name),
    counterKey(list, shard),
    partsKey(list, shard),
    playerBucketKey(list, shard, playerId),
  ];
  return {
    call: callOf(redisScripts.readCheckpointPlayer, keys, [...argumentsOf(name), playerId]),
    read: noted((value: Buffer, unchanged: number) => ({
      key: value.length === 0 ? null : sortKeyOfIndexValue(value, playerId),
      isUnchanged: unchanged === 1,
    })),
  };
}

const keysOf = (list: RankList, shard: number, { slot }: CheckpointName): string[] => [
  entriesKey(list, shard),
  checkpointsKey(list, shard),
  ...checkpointKeys(list, shard, slot),
];

const argumentsOf = ({ slot, id }: CheckpointName): (string | number)[] => [slot, id, nowMs()];

const noted =
  <Parts extends unknown[], Answer>(read: (...parts: Parts) => Answer) =>
  (raw: unknown): Noted<Answer> => {
    if (raw === null) return null;
    const [note, ...parts] = raw as [Buffer, ...Parts];
    return { ...read(...parts), note: noteOf(note) };
  };

function noteOf(raw: Buffer): CheckpointNote {
  const [id, openedAtMs, counter, total, closesAtMs] = raw.toString().split(/[/ ]/);
  return {
    id: id!,
    openedAtMs: Number(openedAtMs),
    counter: Number(counter),
    total: Number(total),
    closesAtMs: Number(closesAtMs),
  };
}
