import { markStepOf, shardOf, type RankStyle, type SortKey } from '@laddercast/domain';
import { CallBatcher } from '@laddercast/platform';
import { Inject, Injectable, Optional } from '@nestjs/common';
import { ProjectionWatch } from '../recovery/read-guard.js';
import {
  assertStyleKept,
  RankProjection,
  type MarksReading,
  type PageReading,
  type PlacementReading,
  type PlayerReading,
  type ProjectedChange,
  type ProjectedEntry,
  type RankList,
  type Reading,
  type SortKeysReading,
  type RecoveryRun,
} from '../ranks/rank-projection.js';
import { RedisConnection } from '../redis/redis-connection.js';
import { versionOfIndexValue } from '../redis/redis-index-value.js';
import {
  allShards,
  checkpointsKey,
  counterKey,
  droppedKeys,
  nameOfList,
  playerBucketKey,
  shardKeys,
} from '../redis/redis-keys.js';
import { RedisLaneMarks } from '../redis/redis-lane-marks.js';
import { RedisLostShards } from '../redis/redis-lost-shards.js';
import { RedisProofs } from '../redis/redis-write-proofs.js';
import { RangeApplier } from '../range-shards/range-apply.js';
import { RangeReader } from '../range-shards/range-reader.js';
import { removeStrays } from '../range-shards/range-strays.js';
import { chunksOf, sumOverChunks } from '../redis/chunks.js';
import { RedisRankLookup } from '../hash-shards/redis-rank-lookup.js';
import {
  countStyled,
  PAGE_LIMITS,
  readMergedPage,
  sumReadings,
  type RunShards,
} from '../hash-shards/redis-rank-pages.js';
import { RedisRankPlayers } from '../hash-shards/redis-rank-players.js';
import { rankRows } from '../hash-shards/redis-rank-rows.js';
import { callOf, redisScripts } from '../redis/redis-scripts.js';
import * as shards from '../hash-shards/redis-shard-calls.js';
import { ShardCounters } from '../hash-shards/shard-counters.js';
import { ShardReads, UNGUARDED, type ReadGuard } from '../hash-shards/redis-shard-reads.js';

/** The most changes that one script call applies: some five milliseconds of Redis. */
const APPLY_CHUNK = 500;
const KEYS_CHUNK = 256;
/** The most players whose sort keys one script call reads. */
const SORT_KEYS_CHUNK = 100;
/** The most players, and the most rows, that are read for requests that came together: less than a millisecond of Redis. */
const PLAYERS_GATHERED_MAX = 100;
const ROWS_GATHERED_MAX = 500;
/** Far longer than a process goes without hearing which generation serves. */
const RETIRED_KNOWN_MS = 86_400_000;

/** The ranks in Redis or Valkey: a sorted set and an index of players for each shard. */
@Injectable()
export class RedisRankProjection extends RankProjection {
  private readonly marks: RedisLaneMarks;
  private readonly proofs: RedisProofs;
  private readonly lookups: RedisRankLookup;
  private readonly ranges: RangeReader;
  private readonly rangeApplier: RangeApplier;
  private readonly players: RedisRankPlayers;
  /** Readings of one player: a script call costs more than what it does, for Redis and for this process. */
  private readonly alone = new CallBatcher(
    ({ list, style }: StyledList, playerIds: readonly string[]) => this.readAlone(list, playerIds, style),
    PLAYERS_GATHERED_MAX,
  );
  private readonly withNeighbours = new CallBatcher(
    ({ list, style }: StyledList, asked: readonly shards.PlayerAsked[]) => this.players.run(list, asked, style),
    ROWS_GATHERED_MAX,
  );
  private readonly keysOf = new CallBatcher(async (list: RankList, asked: readonly (readonly string[])[]) => {
    const reading = await this.readSortKeys(list, new Set(asked.flat()));
    return asked.map(() => reading);
  }, PLAYERS_GATHERED_MAX);

  private readonly reads: ShardReads;
  private readonly lost: RedisLostShards;

  constructor(
    private readonly redis: RedisConnection,
    @Optional() @Inject(ProjectionWatch) guard: ReadGuard = UNGUARDED,
    @Optional() private readonly pageLimits = PAGE_LIMITS,
    @Optional() private readonly checkpointChangesMax = shards.CHECKPOINT_CHANGES_MAX,
    @Optional() counters = new ShardCounters(),
  ) {
    super();
    this.reads = new ShardReads(redis, guard, counters);
    this.lost = new RedisLostShards(redis);
    this.marks = new RedisLaneMarks(redis);
    this.proofs = new RedisProofs(redis);
    this.lookups = new RedisRankLookup((calls) => this.read(calls));
    this.players = new RedisRankPlayers(this.read);
    this.ranges = new RangeReader(
      (calls) => this.read(calls),
      () => redis.session(),
    );
    this.rangeApplier = new RangeApplier(
      (calls) => this.run(calls),
      {
        extendExpiry: (list, shard, keepUntilMs) => this.extendExpiry(list, shard, keepUntilMs),
        noteLost: (list, shard) => this.lost.note(list, shard),
      },
      () => redis.session(),
      checkpointChangesMax,
    );
  }

  async apply(
    list: RankList,
    shard: number,
    changes: ProjectedChange[],
    keepUntilMs: number | null,
    recovery?: RecoveryRun,
  ): Promise<number> {
    if (list.boundaries !== null) return this.rangeApplier.apply(list, shard, changes, { keepUntilMs, recovery });
    return sumOverChunks(chunksOf(changes, APPLY_CHUNK), async (chunk) => {
      const [answer] = await this.run([
        shards.applyEntries(list, shard, chunk, keepUntilMs, recovery !== undefined, this.checkpointChangesMax),
      ]);
      const { newer, wantsLaterExpiry, isLost } = answer!;
      if (isLost) await this.lost.note(list, shard);
      if (wantsLaterExpiry) await this.extendExpiry(list, shard, keepUntilMs!);
      return newer;
    });
  }

  async page(list: RankList, offset: number, limit: number, style: RankStyle): Promise<PageReading> {
    assertStyleKept(list, style);
    if (list.boundaries !== null) return this.ranges.page(list, offset, limit, style);
    if (list.shards > 1) {
      return readMergedPage(this.read, list, { offset, limit, style }, this.pageLimits);
    }
    const [answer] = await this.read([shards.readRows(list, 0, offset, limit, style)]);
    const { rows, countBefore } = answer!;
    return { ...sumReadings(list, [answer!]), entries: rankRows(list, rows, offset, style, countBefore) };
  }

  async player(
    list: RankList,
    playerId: string,
    above: number,
    below: number,
    style: RankStyle,
  ): Promise<PlayerReading> {
    assertStyleKept(list, style);
    if (list.boundaries !== null) return this.ranges.player(list, playerId, above, below, style);
    const name = `${nameOfReading(list)} ${style}`;
    if (above + below === 0) return this.alone.ask(name, { list, style }, playerId);
    return this.withNeighbours.ask(name, { list, style }, { playerId, above, below }, 1 + above + below);
  }

  async lookup(
    list: RankList,
    playerIds: readonly string[],
    style: RankStyle,
  ): Promise<Reading & { entries: (ProjectedEntry | null)[] }> {
    assertStyleKept(list, style);
    const { versions: _versions, ...reading } = await this.lookupVersions(list, playerIds, style);
    return reading;
  }

  async lookupStates(
    list: RankList,
    playerIds: readonly string[],
  ): Promise<Reading & { states: ({ rank: number; version: number } | null)[] }> {
    const { entries, versions, ...reading } = await this.lookupVersions(list, playerIds, 'ordinal');
    const states = entries.map((entry, at) => entry && { rank: entry.rank, version: versions[at]! });
    return { ...reading, states };
  }

  private lookupVersions(
    list: RankList,
    playerIds: readonly string[],
    style: RankStyle,
  ): ReturnType<RedisRankLookup['run']> {
    return list.boundaries === null
      ? this.lookups.run(list, playerIds, style)
      : this.ranges.lookup(list, playerIds, style);
  }

  async rankOfKey(list: RankList, key: SortKey, style: RankStyle): Promise<Reading & { rank: number }> {
    assertStyleKept(list, style);
    if (list.boundaries !== null) return this.ranges.rankOfKey(list, key, style);
    const { before, ...reading } = await countStyled(this.read, list, key, style);
    return { ...reading, rank: 1 + before };
  }

  async placement(list: RankList, playerId: string, after: SortKey, before: SortKey | null): Promise<PlacementReading> {
    if (list.boundaries !== null) return this.ranges.placement(list, playerId, after, before);
    const keys = before === null ? [after] : [after, before];
    const owner = shardOf(playerId, list.shards);
    const [[own], others] = await Promise.all([
      this.read([shards.countWithoutPlayer(list, owner, playerId, keys)]),
      this.read(otherShards(list, owner).map((shard) => shards.countBetter(list, shard, keys))),
    ]);
    const readings = [own!, ...others];
    const rankOf = (at: number): number => 1 + readings.reduce((total, { better }) => total + better[at]!, 0);
    const { total, listVersion } = sumReadings(list, readings);
    return {
      total: total + 1,
      listVersion,
      after: rankOf(0),
      before: before === null ? null : rankOf(1),
      version: own!.version,
    };
  }

  async total(list: RankList): Promise<Reading> {
    if (list.boundaries !== null) return this.ranges.total(list);
    return sumReadings(list, await this.read(allShards(list).map((shard) => shards.countBetter(list, shard, []))));
  }

  async readMarks(list: RankList, marksMax: number): Promise<MarksReading> {
    const { total } = await this.total(list);
    // It may grow from one reading to the next, yet never to many more marks.
    const stepsMax = 2 * marksMax;
    const step = markStepOf(total, marksMax);
    if (list.boundaries !== null) return this.ranges.readMarks(list, step, stepsMax);
    const answers = await this.read(allShards(list).map((shard) => shards.readMarks(list, shard, step, stepsMax)));
    const marks = answers.map((answer) => ({ total: answer.total, step: answer.step, keys: answer.keys }));
    return { ...sumReadings(list, answers), shards: marks };
  }

  async sortKeys(list: RankList, playerIds: readonly string[]): Promise<SortKeysReading> {
    const { keyOf, listVersion } = await this.keysOf.ask(nameOfReading(list), list, playerIds, playerIds.length);
    return { keys: playerIds.map((playerId) => keyOf.get(playerId) ?? null), listVersion };
  }

  async entryVersion(list: RankList, playerId: string): Promise<number | null> {
    if (list.boundaries !== null) return this.ranges.entryVersion(list, playerId);
    const bucket = playerBucketKey(list, shardOf(playerId, list.shards), playerId);
    const value = (await this.redis.command('HGET', bucket, playerId)) as Buffer | null;
    return value === null ? null : versionOfIndexValue(value);
  }

  override async finishMoves(list: RankList, keepUntilMs: number | null, olderThanMs: number): Promise<number> {
    return list.boundaries === null ? 0 : this.rangeApplier.finish(list, keepUntilMs, olderThanMs);
  }

  /** One server forgets in the order in which it was written to: then the index tells what is left of a crossing. */
  override async removeStrays(list: RankList, keepUntilMs: number | null): Promise<number> {
    if (list.boundaries === null || !this.redis.isCluster) return 0;
    return removeStrays((calls) => this.run(calls), list, keepUntilMs);
  }

  session(): number {
    return this.redis.session();
  }

  openMark(lane: number): Promise<void> {
    return this.marks.open(lane);
  }

  advanceMark(lane: number, from: number, to: number, session: number): Promise<void> {
    return this.marks.advance(lane, from, to, session);
  }

  dropMark(lane: number): Promise<void> {
    return this.marks.drop(lane);
  }

  readMark(lane: number): Promise<number | null> {
    return this.marks.readMark(lane);
  }

  override leaveProof(name: string, proof: string, session: number): Promise<boolean> {
    return this.proofs.leave(name, proof, session);
  }

  override findProof(name: string): Promise<string | null> {
    return this.proofs.find(name);
  }

  async keep(list: RankList, keepUntilMs: number): Promise<void> {
    for (const shard of allShards(list)) await this.extendExpiry(list, shard, keepUntilMs);
  }

  async retire(list: RankList): Promise<void> {
    const calls = allShards(list).map((shard) =>
      callOf(redisScripts.retireShard, [counterKey(list, shard)], [RETIRED_KNOWN_MS]),
    );
    await this.redis.run(calls);
  }

  async hasOpenCheckpoints(list: RankList, atMs: number): Promise<boolean> {
    const slots = await Promise.all(
      allShards(list).map((shard) => this.redis.command('HVALS', checkpointsKey(list, shard))),
    );
    return (slots as Buffer[][]).flat().some((slot) => Number(slot.toString().split(' ').at(-1)) > atMs);
  }

  async drop(list: RankList): Promise<void> {
    for (const shard of allShards(list)) {
      for (const keys of chunksOf(droppedKeys(list, shard), KEYS_CHUNK)) await this.redis.command('UNLINK', ...keys);
      await this.redis.run([callOf(redisScripts.dropCounter, [counterKey(list, shard)], [])]);
    }
  }

  private async readAlone(list: RankList, playerIds: readonly string[], style: RankStyle): Promise<PlayerReading[]> {
    const { entries, versions, ...reading } = await this.lookupVersions(list, playerIds, style);
    return entries.map((entry, at) => ({
      entry: entry && { version: versions[at]!, ...entry },
      neighbours: entry === null ? [] : [entry],
      ...reading,
    }));
  }

  private async readSortKeys(
    list: RankList,
    playerIds: Iterable<string>,
  ): Promise<{ keyOf: Map<string, SortKey | null>; listVersion: number | null }> {
    const byShard = allShards(list).map((): string[] => []);
    for (const playerId of playerIds) byShard[shardOf(playerId, list.shards)]!.push(playerId);
    const chunks = byShard.flatMap((ids, shard) => chunksOf(ids, SORT_KEYS_CHUNK).map((chunk) => ({ shard, chunk })));
    const answers = await this.read(chunks.map(({ shard, chunk }) => shards.readKeys(list, shard, chunk)));
    const keyOf = new Map(
      chunks.flatMap(({ chunk }, at) => chunk.map((id, place) => [id, answers[at]!.found[place]!] as const)),
    );
    const latest =
      list.shards === 1 && answers.length > 0 ? answers.reduce((a, b) => (b.counter > a.counter ? b : a)) : null;
    return { keyOf, listVersion: latest && sumReadings(list, [latest]).listVersion };
  }

  private readonly read: RunShards = (calls) => this.reads.run(calls);

  private readonly run = async <Answer>(calls: readonly shards.ShardCall<Answer>[]): Promise<Answer[]> => {
    if (calls.length === 0) return [];
    const answers = await this.redis.run(calls.map(({ call }) => call));
    return answers.map((answer, at) => calls[at]!.read(answer));
  };

  /** The counter, whose expiry is the shard's, is the last: when this fails half-way, the next change tries again. */
  private async extendExpiry(list: RankList, shard: number, keepUntilMs: number): Promise<void> {
    for (const keys of chunksOf(shardKeys(list, shard), KEYS_CHUNK)) {
      await this.redis.run([callOf(redisScripts.extendExpiry, keys, [Math.round(keepUntilMs)])]);
    }
  }
}

/** A list as it is read in a style. */
interface StyledList {
  list: RankList;
  style: RankStyle;
}

/** What belongs to one name is read alike, and said to be of the same version. */
const nameOfReading = (list: RankList): string => `${nameOfList(list)} ${list.versions.base} ${list.versions.floor}`;

const otherShards = (list: RankList, owner: number): number[] => allShards(list).filter((shard) => shard !== owner);
