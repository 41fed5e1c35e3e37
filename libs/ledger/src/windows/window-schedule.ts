import { backoffMs, sleep } from '@laddercast/platform';
import type { DayKeeper } from '../history/day-start-recorder.js';
import { HeldLease } from '../leases/held-lease.js';
import type { HistoryPruner } from '../history/history-pruner.js';
import type { PostgresLeases } from '../leases/postgres-leases.js';
import type { RollingExpirer } from './rolling-expirer.js';
import type { StandingsKeeper } from '../standings/standings-recorder.js';
import type { StandingsPruner } from '../standings/standings-pruner.js';
import type { WindowCloser } from './window-closer.js';

const LOOK_EVERY_MS = 250;
const PRUNE_EVERY_MS = 600_000;
const LEASE_TTL_MS = 5000;
const RETRY = { firstMs: 250, maxMs: 10_000 };

/** What time brings about in the ledger. */
export interface ScheduledWork {
  closer: WindowCloser;
  keeper: StandingsKeeper;
  days: DayKeeper;
  expirer: RollingExpirer;
  pruner: StandingsPruner;
  historyPruner: HistoryPruner;
}

type Duty = (signal: AbortSignal) => Promise<unknown>;

/**
 * Does what the database's clock says is due: windows that end, freezes, days, hours that leave, standings to keep and to prune.
 * One process does, by a lease; two that both believe to be it do nothing twice. Each duty has a turn of its own: standings
 * that take minutes hold up neither a freeze nor the end of another window.
 */
export class WindowSchedule {
  private readonly lease: HeldLease;

  constructor(
    private readonly work: ScheduledWork,
    leases: PostgresLeases,
    private readonly options: { holder: string; onFailure: (error: unknown) => void },
  ) {
    const { holder, onFailure } = options;
    const name = 'windows:schedule';
    this.lease = new HeldLease(leases, { name, holder, ttlMs: LEASE_TTL_MS, askEveryMs: 1000, onFailure });
  }

  start(): void {
    this.lease.start(async ({ ending }) => {
      const { pruner, historyPruner } = this.work;
      await Promise.all([
        ...this.duties().map((duty) => this.repeat(duty, LOOK_EVERY_MS, ending)),
        this.repeat((signal) => pruner.prune(signal), PRUNE_EVERY_MS, ending),
        this.repeat((signal) => historyPruner.prune(signal), PRUNE_EVERY_MS, ending),
      ]);
    });
  }

  /** Ends what is under way, where that takes minutes by rolling it back. */
  stop(): Promise<void> {
    return this.lease.stop();
  }

  /** Does once what is due, one duty after another. */
  async run(signal: AbortSignal): Promise<void> {
    for (const duty of this.duties()) await this.attempt(duty, signal);
  }

  private duties(): Duty[] {
    const { closer, keeper, days, expirer } = this.work;
    return [
      (signal) => days.keepDays(signal),
      (signal) => keeper.keepFrozen(signal),
      (signal) => expirer.run(signal),
      (signal) => closer.closeDue(signal),
      (signal) => closer.settleClosed(signal),
      (signal) => closer.settleFailed(signal),
      (signal) => keeper.keepSnapshots(signal),
      (signal) => keeper.keepFailed(signal),
    ];
  }

  private async repeat(duty: Duty, everyMs: number, ending: AbortSignal): Promise<void> {
    let failures = 0;
    while (!ending.aborted) {
      const isDone = await this.attempt(duty, ending);
      failures = isDone ? 0 : failures + 1;
      await sleep(isDone ? everyMs : backoffMs(failures, RETRY.firstMs, RETRY.maxMs), ending);
    }
  }

  /** @returns false when it failed; it is tried again */
  private async attempt(duty: Duty, signal: AbortSignal): Promise<boolean> {
    try {
      await duty(signal);
      return true;
    } catch (error) {
      if (!signal.aborted) this.options.onFailure(error);
      return false;
    }
  }
}
