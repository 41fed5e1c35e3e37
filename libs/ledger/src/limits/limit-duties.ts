import type { EntryExpirer } from './entry-expirer.js';
import type { LimitStartMarker } from './limit-start-marker.js';
import type { EntryTrimmer } from './entry-trimmer.js';
import { RunAgain, type Duty } from '../leases/leased-task.js';
import type { SharedLook } from '../leases/shared-look.js';
import { BOARDS_TO_MARK, WINDOWS_TO_TRIM, WINDOWS_WITH_EXPIRED } from './entry-limits-sql.js';

const LOOK_EVERY_MS = 500;
/** After a removal more is likely to come. */
const LOOK_AGAIN_AFTER_MS = 50;
const RETRY = { retryMs: 500, retryMaxMs: 10_000 };

/** What boards with limits need done. */
export interface LimitWork {
  marker: LimitStartMarker;
  trimmer: EntryTrimmer;
  expirer: EntryExpirer;
}

/** Removes entries by the limits of boards, twice a second. */
export function limitDuties({ marker, trimmer, expirer }: LimitWork, shared: SharedLook): Duty[] {
  const duty = (question: string, run: (signal: AbortSignal) => Promise<number>): Duty =>
    shared.duty(question, {
      everyMs: LOOK_EVERY_MS,
      ...RETRY,
      run: async (signal) => ((await run(signal)) > 0 ? new RunAgain(LOOK_AGAIN_AFTER_MS) : undefined),
    });
  return [
    duty(BOARDS_TO_MARK, (signal) => marker.run(signal)),
    // In turns: an entry that expires during a trim must not be missing in addition to those that the trim removes.
    duty(
      `SELECT WHERE EXISTS (${WINDOWS_WITH_EXPIRED}) OR EXISTS (${WINDOWS_TO_TRIM})`,
      async (signal) => (await expirer.run(signal)) + (await trimmer.run(signal)),
    ),
  ];
}
