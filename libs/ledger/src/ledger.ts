import { LadderError } from '@laddercast/domain';
import { sleep } from '@laddercast/platform';
import type { LaneCatalogs } from './lane-transaction.js';
import { LaneWriter } from './lane-writer.js';
import type { Lanes } from './lanes.js';
import { OutboxWaker } from './outbox-waker.js';
import type { PostgresDatabase } from './postgres-database.js';
import type { LedgerWrite, OverrideReceipt, OverrideWrite, SubmitReceipt, SubmitWrite } from './writes.js';

const OUTBOX_LOOK_EVERY_MS = 1000;

export interface LedgerOptions {
  /** The most writes that wait in one lane. */
  laneQueueMax: number;
  /** The most events that wait in the outbox. */
  outboxEventsMax: number;
}

/** The truth: every write is durable, with its events, before it is answered. */
export class Ledger {
  private readonly writers: LaneWriter[];
  private readonly waker: OutboxWaker;
  private readonly stopped = new AbortController();
  private outboxFull = false;

  constructor(
    private readonly database: PostgresDatabase,
    catalogs: LaneCatalogs,
    private readonly lanes: Lanes,
    private readonly options: LedgerOptions,
  ) {
    this.waker = new OutboxWaker(database);
    this.writers = lanes.all.map(
      (lane) =>
        new LaneWriter(database, catalogs, {
          lane,
          queueMax: options.laneQueueMax,
          onCommitted: (committed) => this.waker.wake(committed),
        }),
    );
  }

  start(): void {
    void this.watchOutbox();
  }

  /**
   * Resolves once the write is committed with its events.
   * @throws OVERLOADED, OUTBOX_FULL, LEDGER_UNAVAILABLE, StaleBoardError, and what the write itself is refused for
   */
  write(write: SubmitWrite): Promise<SubmitReceipt>;
  write(write: OverrideWrite): Promise<OverrideReceipt>;
  write(write: LedgerWrite): Promise<SubmitReceipt | OverrideReceipt> {
    if (this.outboxFull) {
      throw new LadderError('OUTBOX_FULL', 'The log is far behind; send it again later, with the same submissionId.', {
        retryAfterSeconds: 10,
      });
    }
    return this.writers[this.lanes.of(write.playerId)]!.write(write);
  }

  /** Writes that wait for a commit, over all lanes of this process. */
  get waiting(): number {
    return this.writers.reduce((sum, writer) => sum + writer.waiting, 0);
  }

  async close(): Promise<void> {
    this.stopped.abort();
    await Promise.all(this.writers.map((writer) => writer.close()));
    await this.waker.settled();
  }

  /** Counts by positions: gaps make it an upper bound, which errs on the safe side. */
  private async watchOutbox(): Promise<void> {
    while (!this.stopped.signal.aborted) {
      const rows = await this.database
        .query<{ waiting: number }>(
          `SELECT (SELECT last_value FROM ladder_position) - min(oldest) AS waiting
           FROM unnest($1::int[]) AS lane
           CROSS JOIN LATERAL (SELECT position AS oldest FROM outbox o WHERE o.lane = lane.lane ORDER BY position LIMIT 1) AS o`,
          [this.lanes.all],
        )
        .catch(() => null);
      if (rows) this.outboxFull = (rows[0]?.waiting ?? 0) > this.options.outboxEventsMax;
      await sleep(OUTBOX_LOOK_EVERY_MS, this.stopped.signal);
    }
  }
}
