import type { Cluster, Redis } from 'ioredis';
import type { RedisConnection } from './redis-connection.js';
import { deltasKey, IN_USE_KEY, snapshotKey, TICKS_CHANNEL } from './redis-keys.js';
import { callOf, redisScripts } from './redis-scripts.js';
import { DELTAS_KEPT_MAX, SnapshotStore, type ListRef, type RankDelta, type RankSnapshot } from './snapshot-store.js';

/** How long a snapshot and its deltas outlive the last publication, ms. */
const KEPT_MS = 86_400_000;

type Listener = (list: ListRef, seq: number) => void;

/** Snapshots in Redis: a hash and a capped stream for each list, hints by PUBLISH. */
export class RedisSnapshotStore extends SnapshotStore {
  private readonly listeners = new Set<Listener>();
  private subscriber: Redis | Cluster | null = null;

  /** @param onError told of failures of the subscription's own connection, which repairs itself */
  constructor(
    private readonly redis: RedisConnection,
    private readonly onError: (error: Error) => void = () => undefined,
  ) {
    super();
  }

  async markInUse(lists: readonly ListRef[], untilMs: number): Promise<void> {
    if (lists.length === 0) return;
    const members = lists.flatMap((list) => [untilMs, `${list.boardUid}.${list.windowUid}`]);
    await this.redis.command('ZADD', IN_USE_KEY, 'GT', ...members);
  }

  async listsInUse(nowMs: number, limit: number): Promise<ListRef[]> {
    const [, members] = await Promise.all([
      this.redis.command('ZREMRANGEBYSCORE', IN_USE_KEY, '-inf', `(${nowMs}`),
      this.redis.command('ZRANGEBYSCORE', IN_USE_KEY, nowMs, '+inf', 'LIMIT', 0, limit),
    ]);
    return (members as Buffer[]).map((member) => {
      const [boardUid, windowUid] = String(member).split('.').map(Number);
      return { boardUid: boardUid!, windowUid: windowUid! };
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
        ],
      ),
    ]);
    if (written !== 1) return false;
    // A hint only: without it, listeners find the snapshot when they next look by themselves.
    await this.redis
      .command('PUBLISH', this.channel, `${list.boardUid}.${list.windowUid}.${snapshot.seq}`)
      .catch((error: Error) => this.onError(error));
    return true;
  }

  private get channel(): string {
    return this.redis.namespace + TICKS_CHANNEL;
  }

  async deltasSince(list: ListRef, seq: number): Promise<RankDelta[] | null> {
    const call = callOf(redisScripts.readDeltas, [snapshotKey(list), deltasKey(list)], [seq]);
    const [storedSeq, ...found] = (await this.redis.run([call]))[0] as (Buffer | null)[];
    if (storedSeq == null) return null;
    const deltas = found.map((json) => JSON.parse(String(json)) as RankDelta);
    return isUnbroken(deltas, seq, Number(String(storedSeq))) ? deltas : null;
  }

  async onPublished(listener: Listener): Promise<() => Promise<void>> {
    this.listeners.add(listener);
    if (this.subscriber === null) this.subscribe();
    return async () => {
      this.listeners.delete(listener);
      if (this.listeners.size > 0) return;
      this.subscriber?.disconnect();
      this.subscriber = null;
    };
  }

  /** Subscribes whenever the connection is ready, so that a Redis that is away now is no error. */
  private subscribe(): void {
    const subscriber = this.redis.subscriber();
    this.subscriber = subscriber;
    subscriber.on('message', (_channel: string, hint: string) => this.heard(hint));
    subscriber.on('ready', () => void subscriber.subscribe(this.channel).catch((error: Error) => this.onError(error)));
    subscriber.connect().catch((error: Error) => this.onError(error));
  }

  private heard(hint: string): void {
    const [boardUid, windowUid, seq] = hint.split('.').map(Number);
    for (const listener of this.listeners) {
      try {
        listener({ boardUid: boardUid!, windowUid: windowUid! }, seq!);
      } catch (error) {
        this.onError(error as Error);
      }
    }
  }
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
