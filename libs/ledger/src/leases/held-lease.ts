import { backoffMs, metrics, monotonicMs, sleep, untilBeatMs } from '@laddercast/platform';
import type { Lease, PostgresLeases } from './postgres-leases.js';

/** One stretch of time in which a lease is held. */
export interface LeaseTerm {
  epoch: number;
  /** Aborted when the lease was lost: another may hold it already, so what is under way should stop. */
  lost: AbortSignal;
  /** Aborted when the lease is to be given back: finish what is in hand. It is also aborted when the lease is lost. */
  ending: AbortSignal;
}

export interface HeldLeaseOptions {
  name: string;
  /** Names this process (and part of it), unique over all processes; as the leases say when not given. */
  holder?: string;
  /** How long others wait when this process dies. */
  ttlMs: number;
  /** How often to ask for a lease that another holds; up to half as long again, at random. */
  askEveryMs: number;
  /** Called for each try that PostgreSQL failed; it is tried again with backoff. */
  onFailure?: (error: unknown) => void;
}

const RETRY = { firstMs: 100, maxMs: 5000 };

/**
 * Holds a lease whenever it can be had, until stopped, and does a piece of work in each term.
 * The next term begins only after the work of the last one has ended.
 */
export class HeldLease {
  private readonly stopped = new AbortController();
  private running: Promise<void> | null = null;
  private current: { term: LeaseTerm; end: AbortController } | null = null;
  private pauseMs = 0;
  private readonly held: { inc(): void; dec(): void };

  constructor(
    private readonly leases: PostgresLeases,
    private readonly options: HeldLeaseOptions,
  ) {
    this.held = metrics.leasesHeld.labels(options.name.replace(/:\d+$/, ''));
  }

  /** The term that runs now, by this process's clock; null while the lease is not held. */
  get term(): LeaseTerm | null {
    return this.current && !this.current.term.lost.aborted ? this.current.term : null;
  }

  /**
   * Begins to ask for the lease.
   * @param work runs in each term; when it ends by itself, the lease is given back and asked for anew. Without it the
   * lease is just held.
   */
  start(work: (term: LeaseTerm) => Promise<void> = (term) => aborted(term.ending)): void {
    this.running ??= this.run(work);
  }

  /** Gives the lease back once the work has ended, and does not ask for it again for `pauseMs`. */
  giveUp(pauseMs: number): void {
    if (!this.current) return;
    this.pauseMs = pauseMs;
    this.current.end.abort();
  }

  /** Ends the work, gives the lease back, and resolves when both are done. */
  async stop(): Promise<void> {
    this.stopped.abort();
    this.current?.end.abort();
    await this.running;
  }

  private async run(work: (term: LeaseTerm) => Promise<void>): Promise<void> {
    const { name, holder = this.leases.holder, ttlMs, askEveryMs } = this.options;
    let failures = 0;
    while (!this.stopped.signal.aborted) {
      const askedAtMs = monotonicMs();
      try {
        const lease = await this.leases.acquire(name, holder, ttlMs);
        failures = 0;
        if (lease) await this.serve(lease, askedAtMs + ttlMs, work);
      } catch (error) {
        this.options.onFailure?.(error);
        await sleep(backoffMs(failures, RETRY.firstMs, RETRY.maxMs), this.stopped.signal);
        failures += 1;
        continue;
      }
      const waitMs = this.pauseMs || askEveryMs;
      this.pauseMs = 0;
      await sleep(waitMs * (1 + Math.random() / 2), this.stopped.signal);
    }
  }

  private async serve(lease: Lease, validUntilMs: number, work: (term: LeaseTerm) => Promise<void>): Promise<void> {
    const lost = new AbortController();
    const end = new AbortController();
    const done = new AbortController();
    this.current = {
      end,
      term: { epoch: lease.epoch, lost: lost.signal, ending: AbortSignal.any([lost.signal, end.signal]) },
    };
    if (this.stopped.signal.aborted) end.abort();
    this.held.inc();
    const renewing = this.renew(lease, validUntilMs, lost, done.signal);
    try {
      await work(this.current.term);
    } finally {
      done.abort();
      await renewing;
      this.current = null;
      this.held.dec();
      // If PostgreSQL cannot be reached, the lease lapses by itself.
      await this.leases.release(lease).catch((error: unknown) => this.options.onFailure?.(error));
    }
  }

  /**
   * Renews three times in each ttl, on a beat that all leases of this ttl share. The lease counts as lost once its time has
   * passed without a renewal, even if nobody else has taken it.
   */
  private async renew(lease: Lease, validUntilMs: number, lost: AbortController, done: AbortSignal): Promise<void> {
    const { ttlMs } = this.options;
    let validMs = validUntilMs;
    let watch: NodeJS.Timeout | undefined;
    // Renewed meanwhile: once more at its new end. Many leases are held, and seldom does one lapse.
    const lapse = (): void => {
      const leftMs = validMs - monotonicMs();
      if (leftMs <= 0) lost.abort();
      else watch = setTimeout(lapse, Math.ceil(leftMs));
    };
    lapse();
    try {
      for (;;) {
        await sleep(untilBeatMs(ttlMs / 3), done);
        if (done.aborted || lost.signal.aborted) return;
        const askedAtMs = monotonicMs();
        try {
          if (!(await this.leases.renew(lease, ttlMs))) return lost.abort();
          validMs = askedAtMs + ttlMs;
        } catch (error) {
          this.options.onFailure?.(error);
        }
      }
    } finally {
      clearTimeout(watch);
    }
  }
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
