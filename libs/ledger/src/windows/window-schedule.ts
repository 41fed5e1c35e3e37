import type { DayStartRecorder } from '../history/day-start-recorder.js';
import { LeasedTask, type Duty } from '../leases/leased-task.js';
import type { HistoryPruner } from '../history/history-pruner.js';
import type { PostgresLeases } from '../leases/postgres-leases.js';
import type { RollingExpirer } from './rolling-expirer.js';
import type { StandingsRecorder } from '../standings/standings-recorder.js';
import type { StandingsPruner } from '../standings/standings-pruner.js';
import type { WindowCloser } from './window-closer.js';

const LOOK_EVERY_MS = 250;
const PRUNE_EVERY_MS = 600_000;
const LEASE_TTL_MS = 5000;
const RETRY = { retryMs: 250, retryMaxMs: 10_000 };

/** What time brings about in the ledger. */
export interface ScheduledWork {
  closer: WindowCloser;
  keeper: StandingsRecorder;
  days: DayStartRecorder;
  expirer: RollingExpirer;
  pruner: StandingsPruner;
  historyPruner: HistoryPruner;
}

/**
 * Does what the database's clock says is due: windows that end, freezes, days, hours that leave, standings to keep and to prune.
 * Each duty has a turn of its own: standings that take minutes hold up neither a freeze nor the end of another window.
 */
export class WindowSchedule {
  private readonly task: LeasedTask;

  constructor(
    work: ScheduledWork,
    leases: PostgresLeases,
    who: { holder: string; onFailure: (error: unknown) => void },
  ) {
    const duties = dutiesOf(work);
    this.task = new LeasedTask(leases, {
      name: 'windows:schedule',
      ttlMs: LEASE_TTL_MS,
      askEveryMs: 1000,
      duties,
      ...who,
    });
  }

  start(): void {
    this.task.start();
  }

  /** Ends what is under way, where that takes minutes by rolling it back. */
  stop(): Promise<void> {
    return this.task.stop();
  }
}

function dutiesOf({ closer, keeper, days, expirer, pruner, historyPruner }: ScheduledWork): Duty[] {
  const look = (run: Duty['run']): Duty => ({ everyMs: LOOK_EVERY_MS, ...RETRY, run });
  const prune = (run: Duty['run']): Duty => ({ everyMs: PRUNE_EVERY_MS, ...RETRY, run });
  return [
    look((signal) => days.keepDays(signal)),
    look((signal) => keeper.keepFrozen(signal)),
    look((signal) => expirer.run(signal)),
    look((signal) => closer.closeDue(signal)),
    look((signal) => closer.settleClosed(signal)),
    look((signal) => closer.settleFailed(signal)),
    look((signal) => keeper.keepSnapshots(signal)),
    look((signal) => keeper.keepFailed(signal)),
    prune((signal) => pruner.prune(signal)),
    prune((signal) => historyPruner.prune(signal)),
  ];
}
