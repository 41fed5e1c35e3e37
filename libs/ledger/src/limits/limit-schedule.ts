import type { EntryExpirer } from './entry-expirer.js';
import type { LimitStartMarker } from './limit-start-marker.js';
import type { EntryTrimmer } from './entry-trimmer.js';
import { LeasedTask, RunAgain, type Duty } from '../leases/leased-task.js';
import type { PostgresLeases } from '../leases/postgres-leases.js';

const LOOK_EVERY_MS = 500;
/** Where something was just removed, more is likely to come. */
const LOOK_AGAIN_AFTER_MS = 50;
const LEASE_TTL_MS = 5000;
const RETRY = { retryMs: 500, retryMaxMs: 10_000 };

/** What boards with limits need done. */
export interface LimitWork {
  marker: LimitStartMarker;
  trimmer: EntryTrimmer;
  expirer: EntryExpirer;
}

/** Removes what limits of boards remove, twice a second; one process at a time. */
export class LimitSchedule {
  private readonly task: LeasedTask;

  constructor(work: LimitWork, leases: PostgresLeases, who: { holder: string; onFailure: (error: unknown) => void }) {
    const duties = dutiesOf(work);
    this.task = new LeasedTask(leases, {
      name: 'boards:limits',
      ttlMs: LEASE_TTL_MS,
      askEveryMs: 1000,
      duties,
      ...who,
    });
  }

  start(): void {
    this.task.start();
  }

  /** Ends what is under way after the chunk in hand. */
  stop(): Promise<void> {
    return this.task.stop();
  }
}

function dutiesOf({ marker, trimmer, expirer }: LimitWork): Duty[] {
  const duty = (run: (signal: AbortSignal) => Promise<number>): Duty => ({
    everyMs: LOOK_EVERY_MS,
    ...RETRY,
    run: async (signal) => ((await run(signal)) > 0 ? new RunAgain(LOOK_AGAIN_AFTER_MS) : undefined),
  });
  return [
    duty((signal) => marker.run(signal)),
    // In turns: what expires while a trim is under way is not to be missing beside what that takes.
    duty(async (signal) => (await expirer.run(signal)) + (await trimmer.run(signal))),
  ];
}
