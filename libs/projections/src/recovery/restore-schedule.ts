import { LeasedTask, type PostgresLeases } from '@laddercast/ledger';
import { monotonicMs } from '@laddercast/platform';
import type { LostShard } from '../redis/redis-lost-shards.js';
import type { ShardRestorer } from './shard-restorer.js';

export interface RestoreOptions {
  holder: string;
  /** Told of each shard that is read again: entries applied, and how long it took. */
  onRestored: (shard: LostShard, entries: number, ms: number) => void;
  onFailure: (error: unknown) => void;
}

const LOOK_EVERY_MS = 500;
const LEASE_TTL_MS = 6000;
/** Lists that are filled side by side, so that a small one does not wait for a large one. */
const LISTS_AT_ONCE = 4;

/** Has shards brought back that have lost a key; one process at a time. */
export class RestoreSchedule {
  private readonly task: LeasedTask;
  private readonly underWay = new Map<string, Promise<void>>();

  constructor(
    private readonly restorer: Pick<ShardRestorer, 'close' | 'restore'>,
    leases: PostgresLeases,
    private readonly options: RestoreOptions,
  ) {
    const { holder, onFailure } = options;
    this.task = new LeasedTask(leases, {
      name: 'projection:lost-shards',
      holder,
      ttlMs: LEASE_TTL_MS,
      askEveryMs: LEASE_TTL_MS / 3,
      duties: [{ everyMs: LOOK_EVERY_MS, run: (signal) => this.look(signal) }],
      onTerm: () => () => Promise.all(this.underWay.values()),
      onFailure,
    });
  }

  start(): void {
    this.task.start();
  }

  stop(): Promise<void> {
    return this.task.stop();
  }

  private async look(signal: AbortSignal): Promise<void> {
    for (const shard of await this.restorer.close()) {
      const list = `${shard.boardUid}.${shard.windowUid}.${shard.scope}`;
      if (this.underWay.size >= LISTS_AT_ONCE) return;
      if (this.underWay.has(list)) continue;
      this.underWay.set(
        list,
        this.restore(shard, signal).finally(() => void this.underWay.delete(list)),
      );
    }
  }

  private async restore(shard: LostShard, signal: AbortSignal): Promise<void> {
    const begunAtMs = monotonicMs();
    try {
      const entries = await this.restorer.restore(shard, signal);
      if (entries !== null) this.options.onRestored(shard, entries, monotonicMs() - begunAtMs);
    } catch (error) {
      if (!signal.aborted) this.options.onFailure(error);
    }
  }
}
