import { metrics, monotonicMs } from '@laddercast/platform';
import { Injectable, Logger } from '@nestjs/common';
import type { LostShard } from '../redis/redis-lost-shards.js';
import { ShardRestorer } from './shard-restorer.js';

/** Lists that are filled side by side, so that a small one does not wait for a large one. */
const LISTS_AT_ONCE = 4;

/** Has shards brought back that have lost a key, some lists side by side. */
@Injectable()
export class LostShardWatch {
  private readonly log = new Logger('recovery');
  private readonly underWay = new Map<string, Promise<void>>();

  constructor(private readonly restorer: ShardRestorer) {}

  /** Begins with shards that are lost and nobody works on here; it does not wait for them. */
  async look(signal: AbortSignal): Promise<void> {
    // As it is before the look: a list that is whole by the end of it must not be closed again.
    const underWay = new Set(this.underWay.keys());
    for (const shard of await this.restorer.close((one) => underWay.has(listOf(one)))) {
      const list = listOf(shard);
      if (this.underWay.size >= LISTS_AT_ONCE) return;
      if (this.underWay.has(list)) continue;
      this.underWay.set(
        list,
        this.restore(shard, signal).finally(() => void this.underWay.delete(list)),
      );
    }
  }

  /** Resolves once nothing is under way; to be called after the signal of the looks aborted. */
  async settled(): Promise<void> {
    await Promise.all(this.underWay.values());
  }

  private async restore(shard: LostShard, signal: AbortSignal): Promise<void> {
    const begunAtMs = monotonicMs();
    try {
      const entries = await this.restorer.restore(shard, signal);
      if (entries === null) return;
      metrics.restoredShards.inc();
      const ms = monotonicMs() - begunAtMs;
      this.log.warn({ msg: 'A shard had lost a key; it was filled anew from PostgreSQL.', ...shard, entries, ms });
    } catch (error) {
      if (!signal.aborted) this.log.warn(`A shard cannot be brought back now: ${(error as Error).message}`);
    }
  }
}

const listOf = ({ boardUid, windowUid, scope }: LostShard): string => `${boardUid}.${windowUid}.${scope}`;
