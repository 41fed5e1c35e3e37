import type { DayStartRecorder } from '../history/day-start-recorder.js';
import type { Duty } from '../leases/leased-task.js';
import type { HistoryPruner } from '../history/history-pruner.js';
import type { RollingExpirer } from './rolling-expirer.js';
import type { StandingsRecorder } from '../standings/standings-recorder.js';
import type { StandingsPruner } from '../standings/standings-pruner.js';
import type { WindowCloser } from './window-closer.js';

const LOOK_EVERY_MS = 250;
const PRUNE_EVERY_MS = 600_000;
const RETRY = { retryMs: 250, retryMaxMs: 10_000 };

/** The ledger's work by the clock. */
export interface WindowWork {
  closer: WindowCloser;
  recorder: StandingsRecorder;
  days: DayStartRecorder;
  expirer: RollingExpirer;
  pruner: StandingsPruner;
  historyPruner: HistoryPruner;
}

/**
 * What the database's clock says is due: windows that end, freezes, days, hours that leave, standings to keep and to prune.
 * Each duty has a turn of its own: standings that take minutes hold up neither a freeze nor the end of another window.
 */
export function windowDuties({ closer, recorder, days, expirer, pruner, historyPruner }: WindowWork): Duty[] {
  const look = (run: Duty['run']): Duty => ({ everyMs: LOOK_EVERY_MS, ...RETRY, run });
  const prune = (run: Duty['run']): Duty => ({ everyMs: PRUNE_EVERY_MS, ...RETRY, run });
  return [
    look((signal) => days.keepDays(signal)),
    look((signal) => recorder.keepFrozen(signal)),
    look((signal) => expirer.run(signal)),
    look((signal) => closer.closeDue(signal)),
    look((signal) => closer.settleClosed(signal)),
    look((signal) => closer.settleFailed(signal)),
    look((signal) => recorder.keepSnapshots(signal)),
    look((signal) => recorder.keepFailed(signal)),
    prune((signal) => pruner.prune(signal)),
    prune((signal) => historyPruner.prune(signal)),
  ];
}
