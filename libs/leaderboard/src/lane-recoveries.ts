import { HeldLease, type PostgresLeases } from '@laddercast/ledger';
import type { ProjectionRecovery } from '@laddercast/projections';

const LEASE_TTL_MS = 6000;
const ASK_EVERY_MS = 2000;

export interface LaneRecoveriesOptions {
  lanes: readonly number[];
  holder: string;
  /** Calls the listener on each reconnection of the projection; returns how to end that. */
  wake: (listener: () => void) => () => void;
}

/** Watches over each lane's mark in one process at a time. */
export class LaneRecoveries {
  private readonly leases: { lane: number; lease: HeldLease }[];

  constructor(
    private readonly recovery: ProjectionRecovery,
    leases: PostgresLeases,
    private readonly options: LaneRecoveriesOptions,
  ) {
    this.leases = options.lanes.map((lane) => {
      const name = `recovery:${lane}`;
      const lease = new HeldLease(leases, {
        name,
        holder: options.holder,
        ttlMs: LEASE_TTL_MS,
        askEveryMs: ASK_EVERY_MS,
      });
      return { lane, lease };
    });
  }

  start(): void {
    for (const { lane, lease } of this.leases) {
      lease.start(({ ending }) => this.recovery.watch(lane, ending, this.options.wake));
    }
  }

  async stop(): Promise<void> {
    await Promise.all(this.leases.map(({ lease }) => lease.stop()));
  }
}
