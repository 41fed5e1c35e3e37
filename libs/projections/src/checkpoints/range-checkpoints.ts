import { randomBytes } from 'node:crypto';
import { LadderError, type SortKey } from '@laddercast/domain';
import { nowMs, sleep } from '@laddercast/platform';
import type { Checkpoint, CheckpointName } from './checkpoints.js';
import type { RankList } from '../ranks/rank-projection.js';
import {
  closeCheckpoint,
  countCheckpoint,
  openCheckpoint,
  openingChoice,
  type CheckpointNote,
} from './redis-checkpoint-calls.js';
import { checkpointOf, CheckpointReads } from './redis-checkpoint-reads.js';
import type { CheckpointLimits } from './redis-checkpoints.js';
import type { RedisConnection } from '../redis/redis-connection.js';
import { allShards, provenCheckpointKey } from '../redis/redis-keys.js';
import { doubtBetween, lookAtAll } from '../range-shards/range-consistent-look.js';
import { RangePlaces } from '../range-shards/range-places.js';
import type { RunShards } from '../hash-shards/redis-rank-pages.js';

const ID_BYTES = 9;
/** Openings, with pauses between them of a second together. */
const TRIES_MAX = 14;
const PAUSE_FIRST_MS = 2;
const PAUSE_MAX_MS = 150;
/** Whoever opens a checkpoint takes milliseconds to prove it: one that is older and not proven was left. */
const LEFT_AFTER_MS = 2000;
/** What is known of a checkpoint outlives it by this much. */
const KNOWN_AFTER_MS = 60_000;

/** A slot that nobody can read the checkpoint of; null: try again. */
type Failed = { brokenSlot: number | null };

/**
 * Checkpoints of lists whose shards are by score. They are opened shard by shard, and an entry that crosses meanwhile would
 * be in both or in none: so the shards are looked at before and after, and what is not proven to be whole is closed again.
 * The proof is kept beside the checkpoint, since others share it. See docs/adr/0012-range-sharding.md.
 */
export class RangeCheckpoints {
  private readonly places: RangePlaces;

  constructor(
    private readonly redis: RedisConnection,
    private readonly run: RunShards,
    private readonly limits: CheckpointLimits,
  ) {
    this.places = new RangePlaces(run);
  }

  /** See `Checkpoints.open`. @throws PROJECTION_BEHIND when entries cross all the time */
  async open(list: RankList, isShared: boolean): Promise<Checkpoint> {
    let brokenSlot: number | null = null;
    for (let tries = 0, pauseMs = PAUSE_FIRST_MS; tries < TRIES_MAX; tries += 1) {
      const opened = await this.tryOpen(list, isShared, brokenSlot);
      if ('id' in opened) return opened;
      ({ brokenSlot } = opened);
      await sleep(pauseMs);
      pauseMs = Math.min(PAUSE_MAX_MS, pauseMs * 2);
    }
    const detail = 'Entries move between the shards of this list all the time; it cannot be held still now.';
    throw new LadderError('PROJECTION_BEHIND', detail, { retryAfterSeconds: 1 });
  }

  /** The player's key of then, where the entry has not changed since; null: it has, or there was none. */
  async unchangedKeyOf(
    reads: CheckpointReads,
    list: RankList,
    playerId: string,
    name: CheckpointName,
  ): Promise<SortKey | null> {
    const { candidates } = (await this.places.of(list, [playerId])).get(playerId)!;
    for (const { key, shard } of candidates) {
      // Nothing stands between a member and the one that is a zero byte longer.
      const next = { score: key.score, member: Buffer.concat([key.member, Buffer.alloc(1)]) };
      const [answer] = await reads.some([shard], () => countCheckpoint(list, shard, name, [key, next]));
      if (answer!.before[1]! > answer!.before[0]!) return key;
    }
    return null;
  }

  private async tryOpen(list: RankList, isShared: boolean, brokenSlot: number | null): Promise<Checkpoint | Failed> {
    const session = this.redis.session();
    const before = await lookAtAll(this.run, list);
    if (before.some(({ pending }) => pending > 0)) return { brokenSlot };
    const openedAtMs = nowMs();
    const id = randomBytes(ID_BYTES).toString('base64url');
    const asked = { id, openedAtMs, closesAtMs: openedAtMs + this.limits.livesForMs };
    const [firstShard, ...others] = allShards(list);
    const choice = brokenSlot === null ? openingChoice(openedAtMs, isShared, this.limits) : { slot: brokenSlot };
    const [first] = await this.run([openCheckpoint(list, firstShard!, asked, choice)]);
    const { slot, note } = first!;
    if (note.id !== id) return this.share(list, slot, note);
    const answers = await this.run(others.map((shard) => openCheckpoint(list, shard, note, { slot })));
    const notes = [note, ...answers.map((answer) => answer.note)];
    const doubt = doubtBetween(before, await lookAtAll(this.run, list));
    if (doubt > 0 || this.redis.session() !== session || notes.some((one) => one.id !== id)) {
      await this.run(allShards(list).map((shard) => closeCheckpoint(list, shard, slot, id)));
      return { brokenSlot: null };
    }
    const opened = checkpointOf(list, slot, notes);
    const proof = `${id} ${opened.listVersion}`;
    await this.redis.command(
      'SET',
      provenCheckpointKey(list, slot),
      proof,
      'PX',
      this.limits.livesForMs + KNOWN_AFTER_MS,
    );
    return opened;
  }

  /** One that another opened, once it is proven. */
  private async share(list: RankList, slot: number, { id, openedAtMs }: CheckpointNote): Promise<Checkpoint | Failed> {
    const proof = (await this.redis.command('GET', provenCheckpointKey(list, slot))) as Buffer | null;
    const [provenId, version] = proof?.toString().split(' ') ?? [];
    if (provenId !== id) return { brokenSlot: nowMs() - openedAtMs > LEFT_AFTER_MS ? slot : null };
    const name = { id, slot, listVersion: Number(version) };
    try {
      return await new CheckpointReads(this.run, list, name, this.limits).checkpoint();
    } catch (error) {
      // Some shard closed it early.
      if (error instanceof LadderError && error.code === 'CURSOR_EXPIRED') return { brokenSlot: slot };
      throw error;
    }
  }
}
