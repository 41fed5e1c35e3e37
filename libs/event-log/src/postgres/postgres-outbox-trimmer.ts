import { LeasedTask, type Lanes, type PostgresLeases } from '@laddercast/ledger';
import { reasonOf, type LogLine } from '../delivery/log-line.js';
import type { PostgresOutbox } from './postgres-outbox.js';

export interface TrimOptions {
  lanes: Lanes;
  /** Younger rows stay, for people who look into the outbox. */
  keepMs: number;
  /** But at most this many: they count towards the limit at which submissions are refused. */
  keptMax: number;
  /** A group without a consumer for this long is not waited for. Kafka keeps its topics for as long. */
  groupKeptMs: number;
  everyMs: number;
}

export const TRIM_DEFAULTS = { keepMs: 60_000, keptMax: 1_000_000, groupKeptMs: 7 * 86_400_000, everyMs: 10_000 };

/** Chunks of one lane in one turn. */
const CHUNKS_PER_TURN_MAX = 200;
/** How long nobody trims when the trimming process is killed. */
const LEASE_TTL_MS = 20_000;

/** Removes what every group has handled from the outbox; one process at a time. */
export class PostgresOutboxTrimmer {
  private readonly task: LeasedTask;

  constructor(
    private readonly outbox: PostgresOutbox,
    leases: PostgresLeases,
    private readonly options: TrimOptions,
    private readonly log: LogLine,
  ) {
    const { everyMs } = options;
    this.task = new LeasedTask(leases, {
      name: 'log:trim',
      ttlMs: LEASE_TTL_MS,
      askEveryMs: everyMs,
      // Waits first, so that consumers that start with this process have claimed their lanes.
      duties: [{ firstAfterMs: everyMs, everyMs, run: (signal) => this.trim(signal) }],
      onFailure: (error) => log('warn', `The outbox is not trimmed now: ${reasonOf(error)}`),
    });
  }

  start(): void {
    this.task.start();
  }

  stop(): Promise<void> {
    return this.task.stop();
  }

  private async trim(ending: AbortSignal): Promise<void> {
    for (const lane of this.options.lanes.all) {
      if (!ending.aborted) await this.trimLane(lane, ending);
    }
  }

  private async trimLane(lane: number, ending: AbortSignal): Promise<void> {
    const { keepMs, groupKeptMs, keptMax } = this.options;
    for (let chunk = 0; chunk < CHUNKS_PER_TURN_MAX && !ending.aborted; chunk += 1) {
      if (!(await this.outbox.trim(lane, keepMs, groupKeptMs, keptMax))) return;
    }
    this.log('info', `Lane ${lane} of the outbox has more to trim than one turn takes.`);
  }
}
