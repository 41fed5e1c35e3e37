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
  private readonly leases: { lane: number; lease: HeldLease }[];

  constructor(
    private readonly recovery: ProjectionRecovery,
    leases: PostgresLeases,
    lanes: Lanes,
    private readonly redis: RedisConnection,
    private readonly watch: ProjectionWatch,
  ) {
    this.leases = lanes.all.map((lane) => {
      const name = `recovery:${lane}`;
      return { lane, lease: new HeldLease(leases, { name, ttlMs: LEASE_TTL_MS, askEveryMs: ASK_EVERY_MS }) };
    });
  }

  start(): void {
    for (const { lane, lease } of this.leases) {
      lease.start(async ({ ending }) => {
        metrics.laneRecovering.set({ lane }, 0);
        await this.recovery.watch(lane, ending, (listener) => this.wake(listener));
        // Another process says it from now on.
        metrics.laneRecovering.remove({ lane });
      });
    }
  }

  async stop(): Promise<void> {
    await Promise.all(this.leases.map(({ lease }) => lease.stop()));
  }

  /** Calls the listener on each reconnection of the projection, and whenever a loss is noticed; returns how to end that. */
  private wake(listener: () => void): () => void {
    const ends = [this.redis.onReady(listener), this.watch.onLoss(listener)];
    return () => ends.forEach((end) => end());
  }
}
