import { randomBytes } from 'node:crypto';
import { LadderError, playerIdIn, shardOf, valueKeyOf, type RankStyle, type SortKey } from '@laddercast/domain';
import { monotonicMs, nowMs, growingCache } from '@laddercast/platform';
import { Inject, Injectable, Optional } from '@nestjs/common';
import { ProjectionWatch } from '../recovery/read-guard.js';
import {
  Checkpoints,
  type Checkpoint,
  type CheckpointName,
  type CheckpointPage,
  type CheckpointPlace,
} from './checkpoints.js';
import type { ProjectedEntry, RankList } from '../ranks/rank-projection.js';
import {
  countCheckpointValues,
  openCheckpoint,
  openingChoice,
  readCheckpointPlayer,
  type Cut,
} from './redis-checkpoint-calls.js';
import { checkpointOf, CheckpointReads, type CheckpointReadLimits } from './redis-checkpoint-reads.js';
import { RedisConnection } from '../redis/redis-connection.js';
import { allShards, checkpointKeys, checkpointReadKey } from '../redis/redis-keys.js';
import { RangeCheckpoints } from './range-checkpoints.js';
import { nameOf, rankRows } from '../hash-shards/redis-rank-rows.js';
import type { RunShards } from '../hash-shards/redis-rank-pages.js';
import { rowsOf } from '../hash-shards/redis-shard-calls.js';
import { ShardReads, UNGUARDED, type ReadGuard } from '../hash-shards/redis-shard-reads.js';

export interface CheckpointLimits extends CheckpointReadLimits {
  /** Who asks within this time of an opening shares it. */
  sharedForMs: number;
  livesForMs: number;
  /** One that was opened or read within this time is not replaced. */
  keptUnreadMs: number;
}

export const CHECKPOINT_LIMITS: CheckpointLimits = {
  sharedForMs: 10_000,
  livesForMs: 300_000,
  keptUnreadMs: 60_000,
  lookedAtMax: 2000,
  skippedRowsMax: 64,
};

const ID_BYTES = 9;
/** Another opening can take the slot before all shards know of this one, when the list changes fast enough. */
const OPENINGS_MAX = 3;
/** How saved entries are looked through for a player's: a hundred thousand take some 60 commands. */
const SCANNED_AT_ONCE = 2000;
const SCANS_MAX = 256;
/** A reader who goes from page to page is noted so many times within the time for which that counts. */
const NOTED_TIMES = 6;
/** The most checkpoints of which this process knows when it noted a reader; one that is forgotten is noted once more. */
const NOTED_MAX = 10_000;

/** The checkpoints of lists in Redis or Valkey; apply-entries.lua saves what changes while one is open. */
@Injectable()
export class RedisCheckpoints extends Checkpoints {
  private readonly ranges: RangeCheckpoints;
  private readonly reads: ShardReads;
  private readonly notedAtMs = growingCache<string, number>(NOTED_MAX);

  constructor(
    private readonly redis: RedisConnection,
    @Optional() @Inject(ProjectionWatch) guard: ReadGuard = UNGUARDED,
    @Optional() private readonly limits = CHECKPOINT_LIMITS,
  ) {
    super();
    this.reads = new ShardReads(redis, guard);
    this.ranges = new RangeCheckpoints(redis, (calls) => this.run(calls), limits);
  }

  async open(list: RankList, isShared = true): Promise<Checkpoint> {
    if (list.boundaries !== null) return this.ranges.open(list, isShared);
    const [firstShard, ...others] = allShards(list);
    for (let opening = 0; opening < OPENINGS_MAX; opening += 1) {
      const openedAtMs = nowMs();
      const id = randomBytes(ID_BYTES).toString('base64url');
      const asked = { id, openedAtMs, closesAtMs: openedAtMs + this.limits.livesForMs };
      const choice = openingChoice(openedAtMs, isShared, this.limits);
      const [first] = await this.run([openCheckpoint(list, firstShard!, asked, choice)]);
      const { slot, note } = first!;
      // Whoever opened it may have died before the other shards had it.
      const answers = await this.run(others.map((shard) => openCheckpoint(list, shard, note, { slot })));
      const notes = [note, ...answers.map((answer) => answer.note)];
      if (notes.every(({ id: known }) => known === note.id)) return checkpointOf(list, slot, notes);
    }
    throw new LadderError('PROJECTION_UNAVAILABLE', 'The list changes too fast to be held still now.', {
      retryAfterSeconds: 1,
    });
  }

  async page(...asked: Parameters<Checkpoints['page']>): Promise<CheckpointPage> {
    const page = await this.readPage(...asked);
    this.noteReader(asked[0], asked[1]);
    return page;
  }

  async around(...asked: Parameters<Checkpoints['around']>): Promise<CheckpointPage | null> {
    const page = await this.readAround(...asked);
    if (page) this.noteReader(asked[0], asked[1]);
    return page;
  }

  private async readPage(
    list: RankList,
    name: CheckpointName,
    { beside, direction, denseRank }: CheckpointPlace,
    limit: number,
    style: RankStyle,
  ): Promise<CheckpointPage> {
    const reads = new CheckpointReads(this.run, list, name, this.limits);
    const key = typeof beside === 'number' ? await reads.keyAt(beside) : beside;
    if (key === null && beside !== null) {
      const checkpoint = await reads.checkpoint();
      return { checkpoint, index: checkpoint.total, entries: [], keys: [] };
    }
    const cut: Cut = key === null ? { index: 0 } : { key, behind: direction === 'after' };
    const { checkpoint, before, rows } = await reads.rows(cut, direction, limit);
    const keys = direction === 'after' ? rows : [...rows].reverse();
    const index = direction === 'after' ? before : before - keys.length;
    if (style !== 'dense') {
      return { checkpoint, index, keys, entries: await ranked(reads, list, keys, index, style) };
    }
    if (key !== null && denseRank === null) throw new RangeError('Dense ranks go on from one that is known.');
    const isTied = key !== null && rows[0] !== undefined && isOneValue(list, key, rows[0]);
    const nearest = (denseRank ?? 0) + (isTied ? 0 : direction === 'after' ? 1 : -1);
    const first = direction === 'after' ? nearest : nearest - (valuesOf(list, keys) - 1);
    return { checkpoint, index, keys, entries: denseRows(list, keys, index, first) };
  }

  private async readAround(
    list: RankList,
    name: CheckpointName,
    at: SortKey | number,
    limit: number,
    style: RankStyle,
  ): Promise<CheckpointPage | null> {
    const reads = new CheckpointReads(this.run, list, name, this.limits);
    const asked = typeof at === 'number' ? await reads.keyAt(at) : at;
    // Beyond the end: the last entry.
    const middle = asked ?? (await reads.keyAt(Math.max(0, (await reads.checkpoint()).total - 1)));
    const cut: Cut = middle === null ? { index: 0 } : { key: middle, behind: false };
    const above = middle === null ? [] : (await reads.rows(cut, 'before', limit)).rows;
    const { checkpoint, before, rows: below } = await reads.rows(cut, 'after', limit);
    const half = Math.floor((limit - 1) / 2);
    const countAbove = Math.min(above.length, Math.max(half, limit - below.length));
    const keys = [...above.slice(0, countAbove).reverse(), ...below.slice(0, limit - countAbove)];
    const index = before - countAbove;
    if (style !== 'dense' || keys[0] === undefined) {
      return { checkpoint, index, keys, entries: await ranked(reads, list, keys, index, style) };
    }
    const strict = valueKeyOf(list.ordering, keys[0]);
    const { answers } = await reads.all((shard) => countCheckpointValues(list, shard, name, strict));
    let better = 0;
    for (const answer of answers) {
      if (answer.before === null) return null;
      better += answer.before;
    }
    return { checkpoint, index, keys, entries: denseRows(list, keys, index, better + 1) };
  }

  async keyOf(list: RankList, name: CheckpointName, playerId: string): Promise<SortKey | null> {
    // By score, a player's entry can stand in any shard.
    const shards = list.boundaries === null ? [shardOf(playerId, list.shards)] : allShards(list);
    const reads = new CheckpointReads(this.run, list, name, this.limits);
    const unchanged = await this.unchangedKeyOf(reads, list, name, playerId);
    if (unchanged) return unchanged;
    for (const shard of shards) {
      const saved = await this.savedKeyOf(list, shard, name, playerId);
      if (saved) return saved;
    }
    return null;
  }

  /** Keeps a checkpoint that was read from being replaced for a while: what a cursor says alone proves nothing. */
  private noteReader(list: RankList, { id, slot }: CheckpointName): void {
    const { keptUnreadMs } = this.limits;
    if (monotonicMs() - (this.notedAtMs.get(id) ?? -Infinity) < keptUnreadMs / NOTED_TIMES) return;
    this.notedAtMs.set(id, monotonicMs());
    const key = checkpointReadKey(list, 0, slot);
    // Where it fails, the next page notes the reader.
    this.redis.command('SET', key, id, 'PX', keptUnreadMs).catch(() => this.notedAtMs.delete(id));
  }

  /** The player's key of then, where the entry has not changed since. */
  private async unchangedKeyOf(
    reads: CheckpointReads,
    list: RankList,
    name: CheckpointName,
    playerId: string,
  ): Promise<SortKey | null> {
    if (list.boundaries !== null) return this.ranges.unchangedKeyOf(reads, list, playerId, name);
    const call = (shard: number) => readCheckpointPlayer(list, shard, name, playerId);
    const [known] = await reads.some([shardOf(playerId, list.shards)], call);
    return known!.isUnchanged ? known!.key : null;
  }

  /** Entries are saved by their keys: that of a player is looked for among them. */
  private async savedKeyOf(
    list: RankList,
    shard: number,
    { slot }: CheckpointName,
    playerId: string,
  ): Promise<SortKey | null> {
    const [was] = checkpointKeys(list, shard, slot);
    const tail = list.ordering.isTaxed ? '*' : '';
    const pattern = `*${playerId.replace(/[*?[\]\\^-]/g, '\\$&')}${tail}`;
    let cursor = '0';
    for (let scan = 0; scan < SCANS_MAX; scan += 1) {
      const answer = await this.redis.command('ZSCAN', was, cursor, 'MATCH', pattern, 'COUNT', SCANNED_AT_ONCE);
      const [next, found] = answer as [Buffer, Buffer[]];
      const own = rowsOf(found).find(({ member }) => playerIdIn(list.ordering, member) === playerId);
      if (own) return own;
      cursor = next.toString();
      if (cursor === '0') return null;
    }
    throw new LadderError('PROJECTION_UNAVAILABLE', 'The list has changed too much to be searched in time.', {
      retryAfterSeconds: 1,
    });
  }

  private readonly run: RunShards = (calls) => this.reads.run(calls);
}

/** Rows from a 0-based index, with ordinal or competition ranks. */
async function ranked(
  reads: CheckpointReads,
  list: RankList,
  rows: readonly SortKey[],
  index: number,
  style: RankStyle,
): Promise<ProjectedEntry[]> {
  const first = rows[0];
  const isShared = style !== 'ordinal' && first !== undefined;
  return rankRows(
    list,
    rows,
    index,
    style,
    isShared ? await reads.countBefore(valueKeyOf(list.ordering, first)) : null,
  );
}

const isOneValue = (list: RankList, a: SortKey, b: SortKey): boolean =>
  nameOf(valueKeyOf(list.ordering, a)) === nameOf(valueKeyOf(list.ordering, b));

/** How many distinct values rows that follow each other have. */
const valuesOf = (list: RankList, rows: readonly SortKey[]): number =>
  rows.filter((row, at) => at === 0 || !isOneValue(list, rows[at - 1]!, row)).length;

/** Rows that follow each other, with dense ranks from that of the first on. */
const denseRows = (list: RankList, rows: readonly SortKey[], index: number, first: number): ProjectedEntry[] =>
  rankRows(list, rows, index, 'dense', first - 1);
