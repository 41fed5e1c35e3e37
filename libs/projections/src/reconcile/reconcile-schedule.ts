import { isRetriable } from '@laddercast/event-log';
import {
  LeasedTask,
  RunAgain,
  type PostgresLeases,
  type Reconciliations,
  type ReconciliationReport,
} from '@laddercast/ledger';
import { monotonicMs } from '@laddercast/platform';
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
  private readonly task: LeasedTask;

  constructor(
    private readonly reconciler: Pick<BoardReconciler, 'run'>,
    private readonly samples: Pick<SampledReconciliation, 'run'>,
    private readonly jobs: Pick<Reconciliations, 'next' | 'finish'>,
    leases: PostgresLeases,
    private readonly options: ReconcileOptions,
  ) {
    const { holder, onFailure, sampleEveryMs } = options;
    this.task = new LeasedTask(leases, {
      name: 'boards:reconcile',
      holder,
      ttlMs: LEASE_TTL_MS,
      askEveryMs: LEASE_TTL_MS / 5,
      duties: [
        { everyMs: LOOK_EVERY_MS, run: (signal) => this.reconcile(signal) },
        { everyMs: sampleEveryMs, run: (signal) => this.sample(signal) },
      ],
      onFailure,
    });
  }

  start(): void {
    this.task.start();
  }

  stop(): Promise<void> {
    return this.task.stop();
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

  /** Begins at the same distances, however long one takes. */
  private async sample(signal: AbortSignal): Promise<RunAgain> {
    const begunAtMs = monotonicMs();
    const report = await this.samples.run(signal);
    if (Object.keys(report.drift).length > 0) this.options.onDrift(report);
    return new RunAgain(this.options.sampleEveryMs - (monotonicMs() - begunAtMs));
  }
}
