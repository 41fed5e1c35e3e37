import { HeldLease, Lanes, PostgresLeases } from '@laddercast/ledger';
import { metrics } from '@laddercast/platform';
import { Injectable } from '@nestjs/common';
import { ProjectionRecovery } from './projection-recovery.js';
import { ProjectionWatch } from './read-guard.js';
import { RedisConnection } from '../redis/redis-connection.js';

const LEASE_TTL_MS = 6000;
const ASK_EVERY_MS = 2000;

/** Watches over each lane's mark in one process at a time. */
@Injectable()
export class LaneRecoveries {
  private readonly held: HeldLease[] = [];
  private stopListening: () => void = () => undefined;

  constructor(
    private readonly recovery: ProjectionRecovery,
    private readonly leases: PostgresLeases,
    private readonly lanes: Lanes,
    private readonly redis: RedisConnection,
    private readonly watch: ProjectionWatch,
  ) {}

  start(): void {
    this.watchNew();
    this.stopListening = this.lanes.onRaise(() => this.watchNew());
  }

  async stop(): Promise<void> {
    this.stopListening();
    await Promise.all(this.held.map((lease) => lease.stop()));
  }

  private watchNew(): void {
    for (const lane of this.lanes.all.slice(this.held.length)) {
      const lease = new HeldLease(this.leases, {
        name: `recovery:${lane}`,
        ttlMs: LEASE_TTL_MS,
        askEveryMs: ASK_EVERY_MS,
      });
      this.held.push(lease);
      lease.start(async ({ ending }) => {
        metrics.laneRecovering.set({ lane }, 0);
        // Where it fails, the look finds the mark missing, and nothing of the lane in PostgreSQL.
        if (this.lanes.since(lane) > 0) await this.recovery.open(lane).catch(() => undefined);
        await this.recovery.watch(lane, ending, (listener) => this.wake(listener));
        // Another process says it from now on.
        metrics.laneRecovering.remove({ lane });
      });
    }
  }

  /** Calls the listener on each reconnection of the projection, and whenever a loss is noticed; returns how to end that. */
  private wake(listener: () => void): () => void {
    const ends = [this.redis.onReady(listener), this.watch.onLoss(listener)];
    return () => ends.forEach((end) => end());
  }
}
