import type { Lanes } from '@laddercast/ledger';
import { metrics } from '@laddercast/platform';
import { Logger } from '@nestjs/common';
import { UNGUARDED } from '../hash-shards/redis-shard-reads.js';
import { CountersOfReplica, ShardCounters } from '../hash-shards/shard-counters.js';
import { RedisRankProjection } from '../projection/redis-rank-projection.js';
import type { RankList } from '../ranks/rank-projection.js';
import { nameOfRef } from '../ranks/snapshot-store.js';
import type { RedisConnection } from '../redis/redis-connection.js';
import { RedisLaneMarks } from '../redis/redis-lane-marks.js';
import { RedisSketchStore } from '../sketches/redis-sketch-store.js';
import { ReplicaReads, type ReplicaKind, type ReplicaStores } from '../sketches/replica-reads.js';
import { ReadTimes } from './read-times.js';
import { ReplicaWatch, type MasterGuard, type ReplicaFault, type StreamPlace } from './replica-watch.js';

/** What operators are told; which of these it is stands in the log when it changes. */
const SENTENCES: Record<ReplicaFault, string> = {
  unknown: 'nothing is known of the master yet',
  away: 'it does not answer',
  refused:
    'it refuses this process: correct the user and the password of REDIS_REPLICA_URL (of REDIS_URL, where sentinels chose it), ' +
    'or what Redis lets that user do',
  'another run': 'it does not follow the master of REDIS_URL, or not yet',
  behind: 'it is too far behind its master',
  lost: 'it lacks what it had shown, or what the master has',
};

/** What this process knows of the master. */
export interface MasterKnowledge {
  guard: MasterGuard;
  lanes: Pick<Lanes, 'all'>;
  /** Those that were read there; those of the replica are added. */
  counters?: ShardCounters;
}

/**
 * Reads from a replica of the master. Of a generation of a board's lists nothing is read there that is older than when this
 * process first asked for it, so that the replica has all that it was filled with; and of sort keys, which the same
 * estimates show wherever they come from, nothing older than what was read of the list from the master.
 */
export class RedisReplicaReads extends ReplicaReads {
  private readonly stores: ReplicaStores;
  private readonly watch: ReplicaWatch;
  private readonly keysOfMaster = new ReadTimes();
  private readonly generations = new ReadTimes();
  private watching: Promise<void> | null = null;

  /** @param replica a connection to the replica, not connected yet */
  constructor(
    master: RedisConnection,
    private readonly replica: RedisConnection,
    { guard, lanes, counters = new ShardCounters() }: MasterKnowledge,
  ) {
    super();
    const own = new CountersOfReplica(counters);
    const ranks = new RedisRankProjection(replica, UNGUARDED, undefined, undefined, own);
    this.stores = { ranks, sketches: new RedisSketchStore(replica) };
    const marks = new RedisLaneMarks(replica);
    this.watch = new ReplicaWatch(
      () => streamPlaceOf(master),
      async () => {
        // On one connection, and in this order: the marks are not behind the place that is said with them.
        const [place, read] = await Promise.all([streamPlaceOf(replica), marks.readLanes(lanes.all)]);
        return { ...place, marks: read };
      },
      guard,
      // Another master may lack changes that were not marked yet, and were read.
      { onChange: tell, onAnew: () => own.raiseTo(counters) },
    );
  }

  override start(): void {
    // It is tried again for ever.
    this.replica.connect().catch(() => undefined);
    this.watching ??= this.watch.start();
  }

  override async close(): Promise<void> {
    this.watch.stop();
    await this.watching;
    await this.replica.close();
  }

  /** One look at the master now, for those who do not wait for the next. */
  look(): Promise<void> {
    return this.watch.sample();
  }

  override async read<T>(
    kind: ReplicaKind,
    list: RankList,
    near: (replica: ReplicaStores, asOfMs: number) => Promise<T | null>,
    far: () => Promise<T>,
  ): Promise<T> {
    const sinceMs = this.sinceMs(kind, list);
    const isThere = await this.watch.catchUp(sinceMs);
    const found = isThere ? await this.watch.read(sinceMs, (asOfMs) => near(this.stores, asOfMs)) : null;
    metrics.replicaReads.inc({ kind, from: found === null ? 'master' : 'replica' });
    return found ?? this.ofMaster(kind, list, far);
  }

  override async ofMaster<T>(kind: ReplicaKind, list: RankList, far: () => Promise<T>): Promise<T> {
    const read = await far();
    // Keys are shown beside a sketch: they are not older than it, either.
    if (kind !== 'page') this.keysOfMaster.note(nameOfRef(list));
    return read;
  }

  /** What the master had by then must be there. A sketch says of which version and generation it is, and when. */
  private sinceMs(kind: ReplicaKind, list: RankList): number {
    if (kind === 'sketch') return -Infinity;
    const filledMs = this.generations.first(`${list.boardUid}.${list.generation}`);
    // A page of the master is exact: nothing was answered in its kind.
    return kind === 'page' ? filledMs : Math.max(filledMs, this.keysOfMaster.of(nameOfRef(list)));
  }
}

/** Where a server is in the stream of its master, or in its own. */
async function streamPlaceOf(redis: RedisConnection): Promise<StreamPlace> {
  const text = String(await redis.command('INFO', 'replication'));
  const fieldOf = (name: string): string | undefined => new RegExp(`^${name}:(\\S+)`, 'm').exec(text)?.[1];
  const offset = fieldOf('slave_repl_offset') ?? fieldOf('master_repl_offset');
  return { run: fieldOf('master_replid') ?? '', offset: Number(offset ?? -1) };
}

const log = new Logger('replica');
const tell = (fault: ReplicaFault | null): void => {
  if (fault === null) log.log('The replica is read.');
  else log.warn(`The replica is not read: ${SENTENCES[fault]}. What may be read there comes from the master.`);
};
