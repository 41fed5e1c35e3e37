import { untilBeatMs } from '@laddercast/platform';
import type { DayStartRecorder } from '../history/day-start-recorder.js';
import type { SqlRunner } from '../database/postgres-database.js';
import { RunAgain, type Duty } from '../leases/leased-task.js';
import type { HistoryPruner } from '../history/history-pruner.js';
import { DueLook, type DueWork } from './due-look.js';
import type { RollingExpirer } from './rolling-expirer.js';
import type { StandingsRecorder } from '../standings/standings-recorder.js';
import type { StandingsPruner } from '../standings/standings-pruner.js';
import type { WindowCloser } from './window-closer.js';

const LOOK_EVERY_MS = 250;
const PRUNE_EVERY_MS = 600_000;
const RETRY = { retryMs: 250, retryMaxMs: 10_000 };

/** The ledger's work by the clock. */
export interface WindowWork {
  database: SqlRunner;
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
 * They look at the same moment, and share the look.
 */
export function windowDuties(work: WindowWork): Duty[] {
  const { closer, recorder, days, expirer, pruner, historyPruner } = work;
  const due = new DueLook(work.database);
  const look = (isDue: (found: DueWork) => boolean, run: Duty['run']): Duty => ({
    everyMs: LOOK_EVERY_MS,
    ...RETRY,
    run: async (signal) => {
      const found = await due.work();
      if (found === null || isDue(found)) await run(signal);
      return new RunAgain(untilBeatMs(LOOK_EVERY_MS));
    },
  });
  const prune = (run: Duty['run']): Duty => ({ everyMs: PRUNE_EVERY_MS, ...RETRY, run });
  return [
    look(
      ({ minute }) => !days.hasKept(minute),
      (signal) => days.keepDays(signal),
    ),
    look(
      ({ toFreeze }) => toFreeze,
      (signal) => recorder.keepFrozen(signal),
    ),
    look(
      ({ toExpire }) => toExpire,
      (signal) => expirer.run(signal),
    ),
    look(
      ({ toClose }) => toClose,
      (signal) => closer.closeDue(signal),
    ),
    look(
      ({ toSettle }) => toSettle,
      (signal) => closer.settleClosed(signal),
    ),
    look(
      ({ toSettleAgain }) => toSettleAgain,
      (signal) => closer.settleFailed(signal),
    ),
    look(
      ({ minute }) => !recorder.hasKept(minute),
      (signal) => recorder.keepSnapshots(signal),
    ),
    look(
      ({ toKeepAgain }) => toKeepAgain,
      (signal) => recorder.keepFailed(signal),
    ),
    prune((signal) => pruner.prune(signal)),
    prune((signal) => historyPruner.prune(signal)),
  ];
}
