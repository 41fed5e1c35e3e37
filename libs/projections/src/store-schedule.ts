import { HeldLease, type PostgresLeases } from '@laddercast/ledger';
import { monotonicMs, sleep } from '@laddercast/platform';
import type { LedgerStamp } from './ledger-stamp.js';
import type { LeftoverSweeper } from './leftover-sweeper.js';

export interface StoreScheduleOptions {
  holder: string;
  /** Calls the listener on each reconnection of the projection; returns how to end that. */
  wake: (listener: () => void) => () => void;
  /** Told when the store was ahead of the ledger, and how many of its keys went. */
  onEmptied: (keys: number) => void;
  /** Told of how many keys were left over, where there were any. */
  onLeftovers: (keys: number) => void;
  onFailure: (error: unknown) => void;
}

const LOOK_EVERY_MS = 5000;
const SWEEP_EVERY_MS = 3_600_000;
/** After a connection was replaced: recovery comes first. */
const SWEEP_AFTER_MS = 30_000;
const LEASE_TTL_MS = 6000;

/** Looks after the store as a whole; one process at a time. */
export class StoreSchedule {
  private readonly lease: HeldLease;

  constructor(
    private readonly stamp: Pick<LedgerStamp, 'isAhead' | 'advance' | 'empty'>,
    private readonly leftovers: Pick<LeftoverSweeper, 'sweep'>,
    leases: PostgresLeases,
    private readonly options: StoreScheduleOptions,
  ) {
    const { holder, onFailure } = options;
    const name = 'projection:store';
    this.lease = new HeldLease(leases, { name, holder, ttlMs: LEASE_TTL_MS, askEveryMs: LEASE_TTL_MS / 3, onFailure });
  }

  start(): void {
    this.lease.start(async ({ ending }) => {
      let sweepAtMs = monotonicMs() + SWEEP_AFTER_MS;
      const stopListening = this.options.wake(() => (sweepAtMs = monotonicMs() + SWEEP_AFTER_MS));
      while (!ending.aborted) {
        try {
          await this.look(ending);
          if (monotonicMs() >= sweepAtMs) {
            sweepAtMs = monotonicMs() + SWEEP_EVERY_MS;
            const keys = await this.leftovers.sweep(ending);
            if (keys > 0) this.options.onLeftovers(keys);
          }
        } catch (error) {
          if (!ending.aborted) this.options.onFailure(error);
        }
        await sleep(LOOK_EVERY_MS, ending);
      }
      stopListening();
    });
  }

  stop(): Promise<void> {
    return this.lease.stop();
  }

  private async look(signal: AbortSignal): Promise<void> {
    if (await this.stamp.isAhead()) this.options.onEmptied(await this.stamp.empty(signal));
    else await this.stamp.advance();
  }
}
