import { isRetriable } from '@laddercast/event-log';
import { HeldLease, type PostgresLeases, type Reconciliations, type ReconciliationReport } from '@laddercast/ledger';
import { monotonicMs, sleep } from '@laddercast/platform';
import type { BoardReconciler } from './board-reconciler.js';
import type { SampledReconciliation, SampleReport } from './sampled-reconciliation.js';

export interface ReconcileOptions {
  holder: string;
  /** How often a sample is compared, ms. */
  sampleEveryMs: number;
  /** Told of samples in which something differed. */
  onDrift: (report: SampleReport) => void;
  onFinished: (boardUid: number, report: ReconciliationReport) => void;
  onFailure: (error: unknown) => void;
}

const LOOK_EVERY_MS = 500;
const LEASE_TTL_MS = 10_000;

/** Compares boards whole when that is asked for, and a sample of all in between; one process at a time. */
export class ReconcileSchedule {
  private readonly lease: HeldLease;

  constructor(
    private readonly reconciler: Pick<BoardReconciler, 'run'>,
    private readonly samples: Pick<SampledReconciliation, 'run'>,
    private readonly jobs: Pick<Reconciliations, 'next' | 'finish'>,
    leases: PostgresLeases,
    private readonly options: ReconcileOptions,
  ) {
    const { holder, onFailure } = options;
    const name = 'boards:reconcile';
    this.lease = new HeldLease(leases, { name, holder, ttlMs: LEASE_TTL_MS, askEveryMs: LEASE_TTL_MS / 5, onFailure });
  }

  start(): void {
    this.lease.start(async ({ ending }) => {
      const sampling = this.sample(ending);
      while (!ending.aborted) {
        await this.reconcile(ending).catch((error: unknown) => {
          if (!ending.aborted) this.options.onFailure(error);
        });
        await sleep(LOOK_EVERY_MS, ending);
      }
      await sampling;
    });
  }

  stop(): Promise<void> {
    return this.lease.stop();
  }

  private async reconcile(signal: AbortSignal): Promise<void> {
    const job = await this.jobs.next();
    if (!job) return;
    try {
      this.options.onFinished(job.boardUid, await this.reconciler.run(job, signal));
    } catch (error) {
      // What fails by itself would hold up all others for ever.
      if (!signal.aborted && !isRetriable(error)) {
        await this.jobs.finish(job.boardUid, { ...job.report, failure: (error as Error).message });
      }
      throw error;
    }
  }

  private async sample(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const begunAtMs = monotonicMs();
      try {
        const report = await this.samples.run(signal);
        if (Object.keys(report.drift).length > 0) this.options.onDrift(report);
      } catch (error) {
        if (!signal.aborted) this.options.onFailure(error);
      }
      await sleep(this.options.sampleEveryMs - (monotonicMs() - begunAtMs), signal);
    }
  }
}
