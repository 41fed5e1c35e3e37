import { HeldLease, type PostgresLeases } from '@laddercast/ledger';
import { monotonicMs, sleep } from '@laddercast/platform';
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
  private readonly lease: HeldLease;
  private readonly underWay = new Map<string, Promise<void>>();

  constructor(
    private readonly restorer: Pick<ShardRestorer, 'close' | 'restore'>,
    leases: PostgresLeases,
    private readonly options: RestoreOptions,
  ) {
    const { holder, onFailure } = options;
    const name = 'projection:lost-shards';
    this.lease = new HeldLease(leases, { name, holder, ttlMs: LEASE_TTL_MS, askEveryMs: LEASE_TTL_MS / 3, onFailure });
  }

  start(): void {
    this.lease.start(async ({ ending }) => {
      while (!ending.aborted) {
        await this.look(ending).catch((error: unknown) => {
          if (!ending.aborted) this.options.onFailure(error);
        });
        await sleep(LOOK_EVERY_MS, ending);
      }
      await Promise.all(this.underWay.values());
    });
  }

  stop(): Promise<void> {
    return this.lease.stop();
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
