import { GLOBAL_SCOPE } from '@laddercast/domain';
import { Injectable, Logger, Optional } from '@nestjs/common';
import { RedisConnection } from '../redis/redis-connection.js';
import { deltasKey, IN_USE_KEY, snapshotKey, TICKS_CHANNEL } from '../redis/redis-keys.js';
import { callOf, redisScripts } from '../redis/redis-scripts.js';
import { RedisSubscription } from '../redis/redis-subscription.js';
import {
  DELTAS_KEPT_MAX,
  nameOfRef,
  SnapshotStore,
  type ListRef,
  type RankDelta,
  type RankSnapshot,
} from '../ranks/snapshot-store.js';

/** How long a snapshot, its deltas and the last number taken outlive the last of them, ms. */
const KEPT_MS = 86_400_000;

/** Snapshots in Redis: a hash and a capped stream for each list, hints by PUBLISH. */
@Injectable()
export class RedisSnapshotStore extends SnapshotStore {
  private readonly hints: RedisSubscription<{ list: ListRef; seq: number }>;

  /** @param onError told of failures of the subscription's own connection, which repairs itself, and of hints */
  constructor(
    private readonly redis: RedisConnection,
    @Optional() private readonly onError: (error: Error) => void = warn,
  ) {
    super();
    this.hints = new RedisSubscription(redis, { channel: TICKS_CHANNEL, read: readHint, onError });
  }

  async markInUse(lists: readonly ListRef[], untilMs: number): Promise<void> {
    if (lists.length === 0) return;
    const members = lists.flatMap((list) => [untilMs, nameOfRef(list)]);
    await this.redis.command('ZADD', IN_USE_KEY, 'GT', ...members);
  }

  async listsInUse(nowMs: number, limit: number): Promise<ListRef[]> {
    const [, members] = await Promise.all([
      this.redis.command('ZREMRANGEBYSCORE', IN_USE_KEY, '-inf', `(${nowMs}`),
      this.redis.command('ZRANGEBYSCORE', IN_USE_KEY, nowMs, '+inf', 'LIMIT', 0, limit),
    ]);
    return (members as Buffer[]).map((member) => {
      const [boardUid, windowUid, scope] = String(member).split('.').map(Number);
      return { boardUid: boardUid!, windowUid: windowUid!, scope: scope ?? GLOBAL_SCOPE };
    });
  }

  async read(list: ListRef): Promise<RankSnapshot | null> {
    const json = await this.redis.command('HGET', snapshotKey(list), 'json');
    return json === null ? null : (JSON.parse(String(json)) as RankSnapshot);
  }

  async publish(
    list: ListRef,
    expectedSeq: number | null,
    snapshot: RankSnapshot,
    delta: RankDelta | null,
  ): Promise<boolean> {
    const [written] = await this.redis.run([
      callOf(
        redisScripts.publishSnapshot,
        [snapshotKey(list), deltasKey(list)],
        [
          expectedSeq ?? '',
          snapshot.seq,
          JSON.stringify(snapshot),
          delta === null ? '' : JSON.stringify(delta),
          DELTAS_KEPT_MAX,
          KEPT_MS,
          this.hints.channel,
          `${nameOfRef(list)}.${snapshot.seq}`,
        ],
      ),
    ]);
    if (written === 0) return false;
    // A hint only: without it, listeners find the snapshot when they next look by themselves.
    if (written !== 1) this.onError(new Error(`Nobody is told of snapshots: ${String(written)}`));
    return true;
  }

  async takeNumber(list: ListRef, least: number): Promise<number> {
    const [number] = await this.redis.run([callOf(redisScripts.takeNumber, [snapshotKey(list)], [least, KEPT_MS])]);
    return number as number;
  }

  async deltasSince(list: ListRef, seq: number): Promise<RankDelta[] | null> {
    const call = callOf(redisScripts.readDeltas, [snapshotKey(list), deltasKey(list)], [seq]);
    const [storedSeq, ...found] = (await this.redis.run([call]))[0] as (Buffer | null)[];
    if (storedSeq == null) return null;
    const deltas = found.map((json) => JSON.parse(String(json)) as RankDelta);
    return isUnbroken(deltas, seq, Number(String(storedSeq))) ? deltas : null;
  }

  onPublished(listener: (list: ListRef, seq: number) => void): () => void {
    return this.hints.add(({ list, seq }) => listener(list, seq));
  }
}

function readHint(hint: string): { list: ListRef; seq: number } {
  const [boardUid, windowUid, scope, seq] = hint.split('.').map(Number);
  return { list: { boardUid: boardUid!, windowUid: windowUid!, scope: scope! }, seq: seq! };
}

/**
 * Whether the deltas lead from `seq` to the stored snapshot without a gap. A `seq` between two that were published is of
 * another history: of another list, or one that Redis lost when it came back from an older dump.
 */
function isUnbroken(deltas: readonly RankDelta[], seq: number, storedSeq: number): boolean {
  const first = deltas[0];
  if (first === undefined) return seq === storedSeq;
  if (first.previousSeq !== seq || deltas.at(-1)!.seq !== storedSeq) return false;
  return deltas.every((delta, at) => at === 0 || delta.previousSeq === deltas[at - 1]!.seq);
}

const log = new Logger('redis');
const warn = (error: Error): void => log.warn(`Snapshots: ${error.message}`);
