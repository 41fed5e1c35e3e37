import { backoffMs, sleep } from '@laddercast/platform';
import { HeldLease } from './held-lease.js';
import type { PostgresLeases } from './postgres-leases.js';

/** Something that is done again and again, in turns of its own. */
export interface Duty {
  /** From the end of one run to the beginning of the next. */
  everyMs: number;
  /** The first wait after a failure, which is doubled with each that follows; as `everyMs` when not given. */
  retryMs?: number;
  /** Up to this; as `retryMs` when not given. */
  retryMaxMs?: number;
  /** Before the first run of a term; nothing when not given. */
  firstAfterMs?: number;
  /** Does what is due, until the signal aborts; a {@link RunAgain} says when it runs next, where that is another time. */
  run: (signal: AbortSignal) => Promise<unknown>;
}

/** Returned by a run of a {@link Duty} that is to run again sooner or later than after `everyMs`. */
export class RunAgain {
  constructor(readonly inMs: number) {}
}

export interface LeasedTaskOptions {
  /** The name of the lease. */
  name: string;
  /** How long others wait when this process dies. */
  ttlMs: number;
  /** How often the lease is asked for while another holds it; as `ttlMs` when not given. */
  askEveryMs?: number;
  duties: readonly Duty[];
  /** Called as a term begins; what it returns is called, and awaited, once all duties have ended. */
  onTerm?: () => () => unknown;
  /** Told of each run and each question for the lease that failed; both are tried again. */
  onFailure: (error: unknown) => void;
}

/**
 * Does its duties in one process at a time: in the one that holds the lease. They run side by side, so that one that
 * takes minutes holds up no other; one that fails is tried again. For a moment two processes may both believe that they
 * hold the lease, so a duty that runs twice must change nothing.
 */
export class LeasedTask {
  private readonly lease: HeldLease;

  constructor(
    leases: PostgresLeases,
    private readonly options: LeasedTaskOptions,
  ) {
    this.lease = new HeldLease(leases, { ...options, askEveryMs: options.askEveryMs ?? options.ttlMs });
  }

  /** Asks for the lease, and does the duties whenever it has it, until {@link stop}. */
  start(): void {
    this.lease.start(async ({ ending }) => {
      const end = this.options.onTerm?.();
      await Promise.all(this.options.duties.map((duty) => this.repeat(duty, ending)));
      await end?.();
    });
  }

  /** Aborts the duties, and gives the lease back once they have ended. */
  stop(): Promise<void> {
    return this.lease.stop();
  }

  private async repeat(duty: Duty, ending: AbortSignal): Promise<void> {
    const { everyMs, firstAfterMs = 0, retryMs = everyMs, retryMaxMs = retryMs } = duty;
    if (firstAfterMs > 0) await sleep(firstAfterMs, ending);
    for (let failures = 0; !ending.aborted;) {
      let waitMs = everyMs;
      try {
        const done = await duty.run(ending);
        if (done instanceof RunAgain) waitMs = done.inMs;
        failures = 0;
      } catch (error) {
        if (!ending.aborted) this.options.onFailure(error);
        waitMs = backoffMs(failures, retryMs, retryMaxMs);
        failures += 1;
      }
      await sleep(waitMs, ending);
    }
  }
}
