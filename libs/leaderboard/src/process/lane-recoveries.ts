import { HeldLease, type PostgresLeases } from '@laddercast/ledger';
import { metrics } from '@laddercast/platform';
import type { ProjectionRecovery, RecoveryProgress } from '@laddercast/projections';

const LEASE_TTL_MS = 6000;
const ASK_EVERY_MS = 2000;

export interface LaneRecoveriesOptions {
  lanes: readonly number[];
  holder: string;
  /** Calls the listener on each reconnection of the projection, and whenever a loss is noticed; returns how to end that. */
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
      lease.start(async ({ ending }) => {
        metrics.laneRecovering.set({ lane }, 0);
        await this.recovery.watch(lane, ending, this.options.wake);
        // Another process says it from now on.
        metrics.laneRecovering.remove({ lane });
      });
    }
  }

  async stop(): Promise<void> {
    await Promise.all(this.leases.map(({ lease }) => lease.stop()));
  }
}

const sentOf = new Map<number, number>();

/** Says that a lane is being recovered, and how many entries that took so far. */
export function noteRecovery({ lane, step, sent }: RecoveryProgress): void {
  metrics.laneRecovering.set({ lane }, step === 'recovered' ? 0 : 1);
  metrics.recoveredEntries.inc(sent - (step === 'lost' ? 0 : (sentOf.get(lane) ?? 0)));
  sentOf.set(lane, sent);
}
