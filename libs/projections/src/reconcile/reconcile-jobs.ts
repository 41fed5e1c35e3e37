import { isRetriable } from '@laddercast/event-log';
import { Reconciliations, RunAgain } from '@laddercast/ledger';
import { Environment, monotonicMs } from '@laddercast/platform';
import { Injectable, Logger } from '@nestjs/common';
import { BoardReconciler } from './board-reconciler.js';
import { SampledReconciliation } from './sampled-reconciliation.js';

/** Compares boards whole when that is asked for, and a sample of all in between. */
@Injectable()
export class ReconcileJobs {
  private readonly log = new Logger('reconcile');

  constructor(
    private readonly reconciler: BoardReconciler,
    private readonly samples: SampledReconciliation,
    private readonly jobs: Reconciliations,
    private readonly environment: Environment,
  ) {}

  /** Compares the board that waits longest, if there is one. */
  async reconcile(signal: AbortSignal): Promise<void> {
    const job = await this.jobs.next();
    if (!job) return;
    const { boardUid } = job;
    try {
      const report = await this.reconciler.run(job, signal);
      this.log.log({ msg: 'A board was compared with PostgreSQL.', boardUid, ...report });
    } catch (error) {
      // What fails by itself would hold up all others for ever.
      if (!signal.aborted && !isRetriable(error)) {
        await this.jobs.finish(boardUid, { ...job.report, failure: (error as Error).message });
      }
      throw error;
    }
  }

  /** Compares a sample; it begins at the same distances, however long one takes. */
  async sample(signal: AbortSignal): Promise<RunAgain> {
    const begunAtMs = monotonicMs();
    const report = await this.samples.run(signal);
    if (Object.keys(report.drift).length > 0) {
      this.log.warn({ msg: 'The ranks differed from PostgreSQL, and were put right.', ...report });
    }
    return new RunAgain(this.sampleEveryMs - (monotonicMs() - begunAtMs));
  }

  get sampleEveryMs(): number {
    return 1000 * this.environment.RECONCILE_EVERY_SECONDS;
  }
}
