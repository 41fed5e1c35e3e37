import { LeasedTask, type PostgresLeases } from '@laddercast/ledger';
import { monotonicMs } from '@laddercast/platform';
import type { RestoredLedgerCheck } from './restored-ledger-check.js';
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
export class StoreMaintenance {
  private readonly task: LeasedTask;
  private sweepAtMs = Infinity;

  constructor(
    private readonly stamp: Pick<RestoredLedgerCheck, 'isAhead' | 'advance' | 'empty'>,
    private readonly leftovers: Pick<LeftoverSweeper, 'sweep'>,
    leases: PostgresLeases,
    private readonly options: StoreScheduleOptions,
  ) {
    const { holder, onFailure, lookEveryMs = LOOK_EVERY_MS, sweepAfterMs = SWEEP_AFTER_MS } = options;
    const sweepLater = (): void => void (this.sweepAtMs = monotonicMs() + sweepAfterMs);
    this.task = new LeasedTask(leases, {
      name: 'projection:store',
      holder,
      ttlMs: LEASE_TTL_MS,
      askEveryMs: LEASE_TTL_MS / 3,
      duties: [
        { everyMs: lookEveryMs, run: (signal) => this.look(signal) },
        // Beside the looks: it reads every key there is.
        { everyMs: lookEveryMs, run: (signal) => this.sweep(signal) },
      ],
      onTerm: () => {
        sweepLater();
        return options.wake(sweepLater);
      },
      onFailure,
    });
  }

  start(): void {
    this.task.start();
  }

  stop(): Promise<void> {
    return this.task.stop();
  }

  private async sweep(signal: AbortSignal): Promise<void> {
    if (monotonicMs() < this.sweepAtMs) return;
    this.sweepAtMs = monotonicMs() + SWEEP_EVERY_MS;
    const keys = await this.leftovers.sweep(signal);
    if (keys > 0) this.options.onLeftovers(keys);
  }

  private async look(signal: AbortSignal): Promise<void> {
    if (await this.stamp.isAhead()) this.options.onEmptied(await this.stamp.empty(signal));
    else await this.stamp.advance();
  }
}
