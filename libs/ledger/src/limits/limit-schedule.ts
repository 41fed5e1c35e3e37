import { backoffMs, sleep } from '@laddercast/platform';
import type { EntryExpirer } from './entry-expirer.js';
import type { EntryMarker } from './limit-start-marker.js';
import type { EntryTrimmer } from './entry-trimmer.js';
import { HeldLease } from '../leases/held-lease.js';
import type { PostgresLeases } from '../leases/postgres-leases.js';

const LOOK_EVERY_MS = 500;
/** Where something was just removed, more is likely to come. */
const LOOK_AGAIN_AFTER_MS = 50;
const LEASE_TTL_MS = 5000;
const RETRY = { firstMs: 500, maxMs: 10_000 };

/** What boards with limits need done. */
export interface LimitWork {
  marker: EntryMarker;
  trimmer: EntryTrimmer;
  expirer: EntryExpirer;
}

/**
 * Removes what limits of boards remove, twice a second. One process does, by a lease; two that both believe to be it
 * remove nothing twice. Each duty has a turn of its own: a board of millions that is trimmed holds up no expiry.
 */
export class LimitSchedule {
  private readonly lease: HeldLease;

  constructor(
    private readonly work: LimitWork,
    leases: PostgresLeases,
    private readonly options: { holder: string; onFailure: (error: unknown) => void },
  ) {
    const { holder, onFailure } = options;
    const name = 'boards:limits';
    this.lease = new HeldLease(leases, { name, holder, ttlMs: LEASE_TTL_MS, askEveryMs: 1000, onFailure });
  }

  start(): void {
    const { marker, trimmer, expirer } = this.work;
    this.lease.start(async ({ ending }) => {
      // In turns: what expires while a trim is under way is not to be missing beside what that takes.
      const removal = {
        run: async (signal: AbortSignal): Promise<number> => (await expirer.run(signal)) + (await trimmer.run(signal)),
      };
      await Promise.all([marker, removal].map((duty) => this.repeat(duty, ending)));
    });
  }

  /** Ends what is under way after the chunk in hand. */
  stop(): Promise<void> {
    return this.lease.stop();
  }

  private async repeat(duty: { run(signal: AbortSignal): Promise<number> }, ending: AbortSignal): Promise<void> {
    let failures = 0;
    while (!ending.aborted) {
      let done = 0;
      try {
        done = await duty.run(ending);
        failures = 0;
      } catch (error) {
        if (!ending.aborted) this.options.onFailure(error);
        failures += 1;
      }
      const pauseMs = done > 0 ? LOOK_AGAIN_AFTER_MS : LOOK_EVERY_MS;
      await sleep(failures === 0 ? pauseMs : backoffMs(failures, RETRY.firstMs, RETRY.maxMs), ending);
    }
  }
}
