import { counterStart, memberColumnBytes, playerIdIn, rangeShardOf, shardOf, type SortKey } from '@laddercast/domain';
import { nowMs } from '@laddercast/platform';
import { Injectable } from '@nestjs/common';
import { RankInspection, type HeldEntry, type IndexPlace, type ShardInspection } from '../ranks/rank-inspection.js';
import { RankProjection, type RankList } from '../ranks/rank-projection.js';
import { RedisConnection } from '../redis/redis-connection.js';
import { isEntryValue, packIndexValue, sortKeyOfIndexValue, versionOfIndexValue } from '../redis/redis-index-value.js';
import {
  bucketCountOf,
  bucketKey,
  counterKey,
  distinctKey,
  entriesKey,
  partsKey,
  playerBucketKey,
} from '../redis/redis-keys.js';
import { RangePlaces, type PlayerPlaces } from '../range-shards/range-places.js';
import { countIn } from '../range-shards/range-read-calls.js';
import { removeStraysAmong, removeStraysOf } from '../range-shards/range-strays.js';
import { chunksOf } from '../redis/chunks.js';
import { callOf, redisScripts } from '../redis/redis-scripts.js';
import { ShardReads } from '../hash-shards/redis-shard-reads.js';
import type { RunShards } from '../hash-shards/redis-rank-pages.js';
import { KeyNumbers, readKeysOf, readRows, type ShardCall } from '../hash-shards/redis-shard-calls.js';

/** The most players, rows or values that one call looks at. */
const LOOKED_AT_ONCE = 500;
/** Index buckets that are read side by side: those of a large list hold some hundred players each. */
const BUCKETS_AT_ONCE = 8;
/** Counters begin by the clocks of processes, which may be so far behind that of the ledger. */
const CLOCKS_APART_MS = 600_000;

/** Looks into lists in Redis. */
@Injectable()
export class RedisRankInspection extends RankInspection {
  private readonly reads: ShardReads;

  constructor(
    private readonly redis: RedisConnection,
    private readonly projection: RankProjection,
  ) {
    super();
    this.reads = new ShardReads(redis);
  }

  async held(list: RankList, playerIds: readonly string[]): Promise<HeldEntry[]> {
    const found = new Map<string, HeldEntry>();
    for (const chunk of chunksOf([...new Set(playerIds)], LOOKED_AT_ONCE)) {
      const held =
        list.boundaries === null ? await this.heldByPlayer(list, chunk) : await this.heldByRange(list, chunk);
      for (const one of held) found.set(one.playerId, one);
    }
    return playerIds.map((playerId) => found.get(playerId)!);
  }

  async players(list: RankList, from: IndexPlace): Promise<{ playerIds: string[]; next: IndexPlace | null }> {
    const playerIds: string[] = [];
    let place: IndexPlace | null = from;
    while (place !== null && playerIds.length < LOOKED_AT_ONCE) {
      const part = await this.playersIn(list, place);
      for (const playerId of part.playerIds) playerIds.push(playerId);
      place = part.next;
    }
    return { playerIds, next: place };
  }

  somePlace(list: RankList): IndexPlace {
    return {
      shard: Math.floor(Math.random() * list.shards),
      bucket: Math.floor(Math.random() * bucketCountOf(list)),
      scan: '0',
    };
  }

  async size(list: RankList, shard: number): Promise<number> {
    return (await this.redis.command('ZCARD', entriesKey(list, shard))) as number;
  }

  async removeStrays(
    list: RankList,
    shard: number,
    from: number,
    keepUntilMs: number | null,
  ): Promise<ShardInspection> {
    const { rows, removed } =
      list.boundaries === null
        ? await this.removeStraysByPlayer(list, shard, from)
        : await this.removeStraysByRange(list, shard, from, keepUntilMs);
    const next = rows < LOOKED_AT_ONCE ? null : from + rows - removed;
    return { looked: rows, repaired: removed, next };
  }

  async restoreValues(list: RankList, shard: number, from: number): Promise<ShardInspection> {
    if (!list.dense) return { looked: 0, repaired: 0, next: null };
    const keys = [...readKeysOf(list, shard), distinctKey(list, shard)];
    const args = [memberColumnBytes(list.ordering), from, from, LOOKED_AT_ONCE];
    const [answer] = await this.redis.run([callOf(redisScripts.restoreValues, keys, args)]);
    const [rows, added, values, removed] = answer as [number, number, number, number];
    const isEnd = rows < LOOKED_AT_ONCE && values < LOOKED_AT_ONCE;
    return { looked: rows, repaired: added + removed, next: isEnd ? null : from + LOOKED_AT_ONCE - removed };
  }

  async restoreCounter(list: RankList, shard: number, madeAtMs: number, keepUntilMs: number | null): Promise<boolean> {
    const least = counterStart(list, madeAtMs - CLOCKS_APART_MS);
    const until = keepUntilMs === null ? '' : Math.round(keepUntilMs);
    const keys = [entriesKey(list, shard), counterKey(list, shard)];
    const [restored] = await this.redis.run([
      callOf(redisScripts.restoreCounter, keys, [counterStart(list, nowMs()), least, until]),
    ]);
    return restored === 1;
  }

  /**
   * A removal takes everything out that belongs to the entry, and is forgotten then. In a list by ranges the shard would
   * remember it, too, and keep out what comes back.
   */
  async forget(list: RankList, held: HeldEntry, keepUntilMs: number | null, comesBack: boolean): Promise<void> {
    const { playerId, version, seen } = held;
    if (version === null || seen === null) return;
    const home = shardOf(playerId, list.shards);
    const removal = { playerId, version: version + 1, key: null };
    const isRemoved = list.boundaries === null || !comesBack;
    if (isRemoved) await this.projection.apply(list, home, [removal], keepUntilMs);
    const bucket = playerBucketKey(list, home, playerId);
    const known = isRemoved ? packIndexValue(removal) : seen;
    await this.redis.run([callOf(redisScripts.forgetPlayer, [bucket, partsKey(list, home)], [playerId, known])]);
  }

  async removeStray(list: RankList, { key }: HeldEntry, keepUntilMs: number | null): Promise<void> {
    if (key === null || list.boundaries === null) return;
    await removeStraysOf(this.run, list, rangeShardOf(list.boundaries, key.score), [key], keepUntilMs);
  }

  private async playersIn(list: RankList, from: IndexPlace): Promise<{ playerIds: string[]; next: IndexPlace | null }> {
    const buckets = bucketCountOf(list);
    const isInside = from.scan !== '0';
    const last = isInside ? from.bucket : Math.min(buckets, from.bucket + BUCKETS_AT_ONCE) - 1;
    const asked = Array.from({ length: last - from.bucket + 1 }, (_, at) => from.bucket + at);
    const answers = (await Promise.all(
      asked.map((bucket) =>
        this.redis.command('HSCAN', bucketKey(list, from.shard, bucket), from.scan, 'COUNT', LOOKED_AT_ONCE),
      ),
    )) as [Buffer, Buffer[]][];
    const playerIds: string[] = [];
    for (const [at, [scan, fields]] of answers.entries()) {
      for (let index = 0; index < fields.length; index += 2) {
        if (isEntryValue(fields[index + 1]!)) playerIds.push(fields[index]!.toString());
      }
      // The rest of a large bucket comes before the ones behind it, which are read again.
      if (String(scan) !== '0') return { playerIds, next: { ...from, bucket: asked[at]!, scan: String(scan) } };
    }
    if (last + 1 < buckets) return { playerIds, next: { shard: from.shard, bucket: last + 1, scan: '0' } };
    const shard = from.shard + 1;
    return { playerIds, next: shard < list.shards ? { shard, bucket: 0, scan: '0' } : null };
  }

  private async heldByPlayer(list: RankList, playerIds: readonly string[]): Promise<HeldEntry[]> {
    const byShard = new Map<number, string[]>();
    for (const playerId of playerIds) {
      const shard = shardOf(playerId, list.shards);
      byShard.set(shard, [...(byShard.get(shard) ?? []), playerId]);
    }
    const shards = [...byShard];
    const answers = await this.run(
      shards.map(([shard, ids]): ShardCall<[Buffer | null, Buffer | null][]> => {
        const keys = new KeyNumbers(list, shard, readKeysOf(list, shard));
        const args = ids.flatMap((playerId) => [keys.numberOf(playerId), playerId]);
        const call = callOf(redisScripts.checkEntries, keys.keys, args);
        return { call, read: (raw) => raw as [Buffer | null, Buffer | null][] };
      }),
    );
    return shards.flatMap(([, ids], at) =>
      answers[at]!.map(([value, score], index) => {
        const key = keyIn(value, ids[index]!);
        const isStanding = key !== null && score !== null && Number(String(score)) === key.score;
        return heldOf(ids[index]!, value, key, isStanding, false);
      }),
    );
  }

  /** The index lies at the player's home, and the entry in the shard of its score: between two looks it may have moved. */
  private async heldByRange(list: RankList, playerIds: readonly string[]): Promise<HeldEntry[]> {
    const finder = new RangePlaces(this.run);
    const before = await finder.of(list, playerIds);
    const standing = await this.standingIn(list, [...before.values()]);
    const after = await finder.of(list, playerIds);
    return playerIds.map((playerId) => {
      const { read } = before.get(playerId)!;
      const now = after.get(playerId)!.read;
      const isSame = read.value === now.value || (read.value !== null && now.value?.equals(read.value) === true);
      const isMoving = !isSame || read.places !== null || now.places !== null;
      return heldOf(playerId, read.value, keyIn(read.value, playerId), standing.has(playerId), isMoving);
    });
  }

  private async standingIn(list: RankList, places: readonly PlayerPlaces[]): Promise<Set<string>> {
    const byShard = new Map<number, { playerId: string; key: SortKey }[]>();
    for (const { candidates, isSettled } of places) {
      if (!isSettled) continue;
      const { shard, playerId, key } = candidates[0]!;
      byShard.set(shard, [...(byShard.get(shard) ?? []), { playerId, key }]);
    }
    const shards = [...byShard];
    const keysOf = (entries: readonly { key: SortKey }[]): SortKey[] => entries.map(({ key }) => key);
    const answers = await this.run(shards.map(([shard, ofShard]) => countIn(list, shard, keysOf(ofShard), 'ordinal')));
    const standing = shards.flatMap(([, ofShard], at) =>
      ofShard.filter((_, index) => answers[at]!.counted[index]!.isThere).map(({ playerId }) => playerId),
    );
    return new Set(standing);
  }

  private async removeStraysByPlayer(
    list: RankList,
    shard: number,
    from: number,
  ): Promise<{ rows: number; removed: number }> {
    const [{ rows } = { rows: [] }] = await this.run([readRows(list, shard, from, LOOKED_AT_ONCE, 'ordinal')]);
    if (rows.length === 0) return { rows: 0, removed: 0 };
    const keys = new KeyNumbers(list, shard, readKeysOf(list, shard));
    const args = rows.flatMap((row) => {
      const playerId = playerOf(list, row);
      return [keys.numberOf(playerId), playerId, row.member];
    });
    const [removed] = await this.redis.run([callOf(redisScripts.removeStrays, keys.keys, args)]);
    return { rows: rows.length, removed: removed as number };
  }

  /** Whoever has no index at all gets the oldest removal there is: then what stands of the player is known to be old. */
  private async removeStraysByRange(
    list: RankList,
    shard: number,
    from: number,
    keepUntilMs: number | null,
  ): Promise<{ rows: number; removed: number }> {
    const [{ rows } = { rows: [] }] = await this.run([readRows(list, shard, from, LOOKED_AT_ONCE, 'ordinal')]);
    const playerIds = [...new Set(rows.map((row) => playerOf(list, row)))];
    const places = await new RangePlaces(this.run).of(list, playerIds);
    for (const playerId of playerIds) {
      if (places.get(playerId)!.read.value !== null) continue;
      const removal = { playerId, version: 0, key: null };
      await this.projection.apply(list, shardOf(playerId, list.shards), [removal], keepUntilMs);
    }
    return removeStraysAmong(this.run, list, shard, from, keepUntilMs);
  }

  /** What has lost a key is not put right entry by entry: it is brought back. */
  private readonly run: RunShards = (calls) => this.reads.run(calls);
}

const keyIn = (value: Buffer | null, playerId: string): SortKey | null =>
  value !== null && isEntryValue(value) ? sortKeyOfIndexValue(value, playerId) : null;

/** Also of a member that is too short to be one. */
const playerOf = ({ ordering }: RankList, { member }: SortKey): string => playerIdIn(ordering, member);

const heldOf = (
  playerId: string,
  value: Buffer | null,
  key: SortKey | null,
  isStanding: boolean,
  isMoving: boolean,
): HeldEntry => ({
  playerId,
  version: value === null ? null : versionOfIndexValue(value),
  key,
  isStanding,
  isMoving,
  seen: value,
});
