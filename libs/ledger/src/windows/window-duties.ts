import type { DayStartRecorder } from '../history/day-start-recorder.js';
import { ROLLING_WINDOWS_DUE } from '../entries/rolling-sql.js';
import type { Duty } from '../leases/leased-task.js';
import type { DueQuestion, SharedLook } from '../leases/shared-look.js';
import type { HistoryPruner } from '../history/history-pruner.js';
import type { RollingExpirer } from './rolling-expirer.js';
import { FAILED_STANDINGS, FROZEN_WINDOWS_TO_WRITE, type StandingsRecorder } from '../standings/standings-recorder.js';
import type { StandingsPruner } from '../standings/standings-pruner.js';
import type { WindowCloser } from './window-closer.js';
import { DUE_WINDOWS, NO_WINDOWS, TRIED_AND_DUE, unsettledWindows, UNTRIED } from './window-closing-sql.js';

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
export function windowDuties(work: WindowWork, shared: SharedLook): Duty[] {
  const { closer, recorder, days, expirer, pruner, historyPruner } = work;
  const look = (question: DueQuestion, run: Duty['run']): Duty =>
    shared.duty(question, { everyMs: LOOK_EVERY_MS, ...RETRY, run });
  const prune = (run: Duty['run']): Duty => ({ everyMs: PRUNE_EVERY_MS, ...RETRY, run });
  return [
    look(
      (minute) => !days.hasKept(minute),
      (signal) => days.keepDays(signal),
    ),
    look(FROZEN_WINDOWS_TO_WRITE, (signal) => recorder.keepFrozen(signal)),
    look(ROLLING_WINDOWS_DUE, (signal) => expirer.run(signal)),
    look(DUE_WINDOWS, (signal) => closer.closeDue(signal)),
    look(unsettledWindows(UNTRIED, NO_WINDOWS), (signal) => closer.settleClosed(signal)),
    look(unsettledWindows(TRIED_AND_DUE, NO_WINDOWS), (signal) => closer.settleFailed(signal)),
    look(
      (minute) => !recorder.hasKept(minute),
      (signal) => recorder.keepSnapshots(signal),
    ),
    look(FAILED_STANDINGS, (signal) => recorder.keepFailed(signal)),
    prune((signal) => pruner.prune(signal)),
    prune((signal) => historyPruner.prune(signal)),
  ];
}
