import { createHash } from 'node:crypto';
import { bucketOf, crc16 } from '@laddercast/domain';
import type { RankList } from '../ranks/rank-projection.js';
import type { ListRef } from '../ranks/snapshot-store.js';

/**
 * Every key of the service in Redis, on one page. Keys hold numbers only, because a player's id may hold a `}`; what
 * stands between the braces decides the slot (Redis Cluster specification, "Hash tags"), one for each shard.
 */

const CLUSTER_SLOTS = 16_384;

const shardTag = (list: RankList, shard: number): string =>
  `{${list.boardUid}.${list.windowUid}.${list.scope}.${shard}}${list.generation}`;

/** One text for each list of the projection. */
export const nameOfList = ({ boardUid, windowUid, scope, generation }: RankList): string =>
  `${boardUid}.${windowUid}.${scope}.${generation}`;

/** The numbers of a list's shards. */
export const allShards = (list: RankList): number[] => Array.from({ length: list.shards }, (_, shard) => shard);

/** The sorted set of a shard: score and member of each {@link SortKey}. */
export const entriesKey = (list: RankList, shard: number): string => `${shardTag(list, shard)}:z`;

/** How many changes a shard has seen. */
export const counterKey = (list: RankList, shard: number): string => `${shardTag(list, shard)}:v`;

/** Which keys a shard has, so that one that is lost is missed: a string of bits, see `lua/include/parts.lua`. */
export const partsKey = (list: RankList, shard: number): string => `${shardTag(list, shard)}:k`;

/** The distinct values of a shard that keeps them: a sorted set of {@link distinctValueOf}. */
export const distinctKey = (list: RankList, shard: number): string => `${shardTag(list, shard)}:u`;

/** How many checkpoints of a list can be open at once, each in a slot of its own. */
export const CHECKPOINT_SLOTS = 4;
const CHECKPOINT_SLOT_NUMBERS = Array.from({ length: CHECKPOINT_SLOTS }, (_, slot) => slot);

/** The open checkpoints of a shard: a hash of slot → what is noted of it, a space, when it closes (Unix ms). */
export const checkpointsKey = (list: RankList, shard: number): string => `${shardTag(list, shard)}:c`;

/** What changed since a checkpoint: a sorted set of the entries as they were, and one of what became of their players. */
export const checkpointKeys = (list: RankList, shard: number, slot: number): [was: string, is: string] => [
  `${shardTag(list, shard)}:c${slot}:was`,
  `${shardTag(list, shard)}:c${slot}:is`,
];

/**
 * What a shard of a list by ranges has beside the others. As the home of players: `unfinished`, a hash of player → index
 * values of the places where its entry may still stand. As the holder of entries: `state`, a hash of
 * `crossings`; `pending`, a hash of player → version and time of an entry that is crossing; `written`, a hash of player →
 * version of what was written in the epoch, which the field without a name holds.
 */
export const rangeKeys = (
  list: RankList,
  shard: number,
): Record<'unfinished' | 'state' | 'pending' | 'written', string> => ({
  unfinished: `${shardTag(list, shard)}:m`,
  state: `${shardTag(list, shard)}:x`,
  pending: `${shardTag(list, shard)}:p`,
  written: `${shardTag(list, shard)}:w`,
});

/** Which checkpoint of a list by ranges, in a slot, is known to be whole: its id, a space, the version of the list. */
export const provenCheckpointKey = (list: RankList, slot: number): string => `${shardTag(list, 0)}:c${slot}:whole`;

/** Who read a page of the checkpoint in a slot a moment ago read the one of this id; absent: nobody did. */
export const checkpointReadKey = (list: RankList, shard: number, slot: number): string =>
  `${shardTag(list, shard)}:seen${slot}`;

/** The keys that an apply writes to beside the index and the note of them, in the order of `apply-entries.lua`. */
export const shardHead = (list: RankList, shard: number): string[] => [
  entriesKey(list, shard),
  counterKey(list, shard),
  distinctKey(list, shard),
  checkpointsKey(list, shard),
  ...CHECKPOINT_SLOT_NUMBERS.flatMap((slot) => checkpointKeys(list, shard, slot)),
];

/** What the keys of all buckets of a shard begin with: behind it stands the bucket's number. */
export const bucketsHead = (list: RankList, shard: number): string => `${shardTag(list, shard)}:i:`;

/** One bucket of a shard's index: player id → index value. */
export const bucketKey = (list: RankList, shard: number, bucket: number): string =>
  `${bucketsHead(list, shard)}${bucket}`;

/** The number of the index bucket that holds a player. */
export const playerBucketOf = (list: RankList, playerId: string): number => bucketOf(playerId, list.indexBuckets);

/** The index bucket that holds a player. */
export const playerBucketKey = (list: RankList, shard: number, playerId: string): string =>
  bucketKey(list, shard, playerBucketOf(list, playerId));

/** How many index buckets a shard of the list has. */
export const bucketCountOf = (list: RankList): number => list.indexBuckets;

/** All keys of a shard that live as long as it, the counter last. */
export function shardKeys(list: RankList, shard: number): string[] {
  const buckets = Array.from({ length: list.indexBuckets }, (_, bucket) => bucketKey(list, shard, bucket));
  const ofRange = list.boundaries === null ? [] : Object.values(rangeKeys(list, shard));
  return [
    ...buckets,
    ...ofRange,
    partsKey(list, shard),
    entriesKey(list, shard),
    distinctKey(list, shard),
    counterKey(list, shard),
  ];
}

/** All keys of a shard but the counter. */
export const droppedKeys = (list: RankList, shard: number): string[] => [
  ...shardHead(list, shard).filter((key) => key !== counterKey(list, shard)),
  ...shardKeys(list, shard).slice(0, -3),
  ...(list.boundaries === null || shard > 0
    ? []
    : CHECKPOINT_SLOT_NUMBERS.map((slot) => provenCheckpointKey(list, slot))),
];

/** The newest snapshot of a list, and the stream of its last deltas. */
export const snapshotKey = (list: ListRef): string => `{${list.boardUid}.${list.windowUid}.${list.scope}}:s`;
export const deltasKey = (list: ListRef): string => `{${list.boardUid}.${list.windowUid}.${list.scope}}:d`;

/** Notes of traced changes that are on their way into a list. */
export const tracesKey = (list: ListRef): string => `{${list.boardUid}.${list.windowUid}.${list.scope}}:t`;

/** The newest sketch of a list, with the generation and version that it is of. */
export const sketchKey = (list: ListRef): string => `{${list.boardUid}.${list.windowUid}.${list.scope}}:q`;

/** Lists whose ranks somebody estimates: as {@link IN_USE_KEY}. */
export const ESTIMATED_KEY = 'ladder:estimated';

/**
 * A bucket of the rate limits, by its limit and a hash of whom it is of: ids may hold braces.
 */
export const tokensKey = (bucket: string): string =>
  `ladder:tokens:${createHash('sha256').update(bucket).digest('base64url').slice(0, 22)}`;

/** Lists that somebody looks at: a sorted set of {@link nameOfRef} by the Unix ms until which they are ticked. */
export const IN_USE_KEY = 'ladder:in-use';

/** The channel of hints: {@link nameOfRef}, a dot and the `seq`. */
export const TICKS_CHANNEL = 'ladder:ticks';

/** The channel of announcements: each is one `Announcement`, as JSON. */
export const ANNOUNCEMENTS_CHANNEL = 'ladder:announcements';

/** The mark of a lane. In a cluster each master has its own: `tag` is chosen so that the key lands there. */
export const markKey = (lane: number, tag: number): string => `{m${tag}}ladder:mark:${lane}`;

/** A word left on a master, as {@link markKey}. */
export const proofKey = (name: string, tag: number): string => `{m${tag}}ladder:proof:${name}`;

/** How often the ledger was stamped, on one of the masters: see `ProjectionStore`. */
export const stampKey = (tag: number): string => `{m${tag}}ladder:stamp`;

/** Whether a key is one of {@link stampKey}. */
export const isStampKey = (key: string): boolean => key.endsWith('}ladder:stamp');

/** Whether a key is one of this page, and not of somebody who shares a Redis without a namespace. */
export const isOurKey = (key: string): boolean => /^(\{m?\d[-\d.]*\}|ladder:)/.test(key);

/** The board, scope and generation that a shard's key is of; null for other keys. */
export function generationOfKey(key: string): { boardUid: number; scope: number; generation: number } | null {
  const parts = /^\{(\d+)\.\d+\.(-?\d+)\.\d+\}(\d+):/.exec(key);
  return parts && { boardUid: Number(parts[1]), scope: Number(parts[2]), generation: Number(parts[3]) };
}

/** Shards that have lost a key: a set of {@link nameOfShard}. */
export const LOST_KEY = 'ladder:lost';

/** One text for each shard. */
export const nameOfShard = (list: RankList, shard: number): string => `${nameOfList(list)}.${shard}`;

/** The shard that a counter is of, as {@link nameOfShard}. */
export function shardOfCounter(counter: string): string {
  const [, list, shard, generation] = /\{(\d+\.\d+\.-?\d+)\.(\d+)\}(\d+):v$/.exec(counter)!;
  return `${list}.${generation}.${shard}`;
}

/** The {@link partsKey} beside a {@link counterKey}. */
export const partsKeyOfCounter = (counter: string): string => counter.replace(/v$/, 'k');

/** Whether a key is one of {@link counterKey}. */
export const isCounterKey = (key: string): boolean => key.endsWith(':v');

/** The cluster slot of one of these keys. */
export function slotOf(key: string): number {
  const tag = /\{([^}]+)\}/.exec(key)?.[1];
  return crc16(tag ?? key) % CLUSTER_SLOTS;
}
