import { HeldLease, type LeaseTerm, type PostgresLeases } from '@laddercast/ledger';
import { sleep } from '@laddercast/platform';
import { reasonOf, type LogLine } from '../delivery/log-line.js';
import type { PostgresOutbox } from './postgres-outbox.js';

export interface TrimOptions {
  holder: string;
  lanes: number;
  /** Rows younger than this stay, for those who look into the outbox. */
  keepMs: number;
  /** But only so many of the newest: they count towards the limit at which submissions are refused. */
  keptMax: number;
  /** Groups without a consumer for this long are not waited for: Kafka keeps its topics as long. */
  groupKeptMs: number;
  everyMs: number;
}

export const TRIM_DEFAULTS = { keepMs: 60_000, keptMax: 1_000_000, groupKeptMs: 7 * 86_400_000, everyMs: 10_000 };

/** Chunks of one lane in one turn. */
const CHUNKS_PER_TURN_MAX = 200;
/** How long nobody trims when the process that does is killed. */
const LEASE_TTL_MS = 20_000;

/** Removes what every group has handled from the outbox; one process at a time. */
export class PostgresOutboxTrimmer {
  private readonly lease: HeldLease;

  constructor(
    private readonly outbox: PostgresOutbox,
    leases: PostgresLeases,
    private readonly options: TrimOptions,
    private readonly log: LogLine,
  ) {
    this.lease = new HeldLease(leases, {
      name: 'log:trim',
      holder: options.holder,
      ttlMs: LEASE_TTL_MS,
      askEveryMs: options.everyMs,
      onFailure: (error) => log('warn', `The outbox is not trimmed now: ${reasonOf(error)}`),
    });
  }

  start(): void {
    this.lease.start((term) => this.work(term));
  }

  stop(): Promise<void> {
    return this.lease.stop();
  }

  private async work(term: LeaseTerm): Promise<void> {
    while (!term.ending.aborted) {
      // Waiting first: consumers that start together with this process claim their lanes meanwhile.
      await sleep(this.options.everyMs, term.ending);
      for (let lane = 0; lane < this.options.lanes && !term.ending.aborted; lane += 1) await this.trimLane(lane, term);
    }
  }

  private async trimLane(lane: number, term: LeaseTerm): Promise<void> {
    const { keepMs, groupKeptMs, keptMax } = this.options;
    for (let chunk = 0; chunk < CHUNKS_PER_TURN_MAX && !term.ending.aborted; chunk += 1) {
      if (!(await this.outbox.trim(lane, keepMs, groupKeptMs, keptMax))) return;
    }
    this.log('info', `Lane ${lane} of the outbox has more to trim than one turn takes.`);
  }
}
