import { HeldLease, type PostgresLeases } from '@laddercast/ledger';
import { monotonicMs, sleep } from '@laddercast/platform';
import type { LedgerStamp } from './restored-ledger-check.js';
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
  /** How often it is looked whether the store is ahead, ms. */
  lookEveryMs?: number;
  /** How long after the start and each reconnection keys are swept, ms. */
  sweepAfterMs?: number;
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
      const { lookEveryMs = LOOK_EVERY_MS, sweepAfterMs = SWEEP_AFTER_MS } = this.options;
      let sweepAtMs = monotonicMs() + sweepAfterMs;
      let sweeping: Promise<void> | null = null;
      const stopListening = this.options.wake(() => (sweepAtMs = monotonicMs() + sweepAfterMs));
      while (!ending.aborted) {
        try {
          await this.look(ending);
          if (sweeping === null && monotonicMs() >= sweepAtMs) {
            sweepAtMs = monotonicMs() + SWEEP_EVERY_MS;
            // Beside the looks: it reads every key there is.
            sweeping = this.sweep(ending).finally(() => (sweeping = null));
          }
        } catch (error) {
          if (!ending.aborted) this.options.onFailure(error);
        }
        await sleep(lookEveryMs, ending);
      }
      stopListening();
      await sweeping;
    });
  }

  stop(): Promise<void> {
    return this.lease.stop();
  }

  private async sweep(signal: AbortSignal): Promise<void> {
    try {
      const keys = await this.leftovers.sweep(signal);
      if (keys > 0) this.options.onLeftovers(keys);
    } catch (error) {
      if (!signal.aborted) this.options.onFailure(error);
    }
  }

  private async look(signal: AbortSignal): Promise<void> {
    if (await this.stamp.isAhead()) this.options.onEmptied(await this.stamp.empty(signal));
    else await this.stamp.advance();
  }
}
