import { LadderError } from '@laddercast/domain';
import { Environment, sleep } from '@laddercast/platform';
import { Inject, Injectable } from '@nestjs/common';
import { BoardsWithMetadata } from '../catalogs/boards-with-metadata.js';
import { ScopeCatalog } from '../catalogs/scope-catalog.js';
import { WindowCatalog } from '../catalogs/window-catalog.js';
import { LaneWriter } from './lane-writer.js';
import { Lanes } from '../lanes/lanes.js';
import { outboxBacklog } from '../lanes/outbox-backlog.js';
import { OutboxNotifier } from '../lanes/outbox-notifier.js';
import { PostgresDatabase } from '../database/postgres-database.js';
import { noteFailure } from './submission-outcomes.js';
import type {
  FeedReceipt,
  FeedWrite,
  LedgerReceipt,
  LedgerWrite,
  OverrideReceipt,
  OverrideWrite,
  SubmitReceipt,
  SubmitWrite,
} from '../entries/ledger-writes.js';

const OUTBOX_LOOK_EVERY_MS = 1000;

/** The most writes that wait in one lane, and the most events that wait in the outbox. */
export type LedgerLimits = Pick<Environment, 'LANE_QUEUE_MAX' | 'OUTBOX_EVENTS_MAX'>;

/** The source of truth: every write is durable, with its events, before it is answered. */
@Injectable()
export class Ledger {
  private readonly writers: LaneWriter[];
  private readonly stopped = new AbortController();
  private outboxFull = false;

  constructor(
    private readonly database: PostgresDatabase,
    private readonly lanes: Lanes,
    private readonly notifier: OutboxNotifier,
    windows: WindowCatalog,
    scopes: ScopeCatalog,
    metadata: BoardsWithMetadata,
    @Inject(Environment) private readonly limits: LedgerLimits,
  ) {
    const catalogs = { windows, scopes, metadata };
    this.writers = lanes.all.map(
      (lane) =>
        new LaneWriter(database, catalogs, {
          lane,
          queueMax: limits.LANE_QUEUE_MAX,
          onCommitted: (committed) => this.notifier.wake(committed),
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
  write(write: FeedWrite): Promise<FeedReceipt>;
  write(write: LedgerWrite): Promise<LedgerReceipt> {
    try {
      this.assertTakes();
    } catch (error) {
      if (write.kind === 'submit') noteFailure(error, 0);
      throw error;
    }
    return this.writers[this.lanes.of(write.playerId)]!.write(write);
  }

  /** @throws LEDGER_UNAVAILABLE, OUTBOX_FULL where a write would wait in vain */
  assertTakes(): void {
    this.database.reach.assertThere();
    if (!this.outboxFull) return;
    const detail = 'The log is far behind; send it again later, with the same id.';
    throw new LadderError('OUTBOX_FULL', detail, { retryAfterSeconds: 10 });
  }

  /** Writes that wait for a commit, over all lanes of this process. */
  get waiting(): number {
    return this.writers.reduce((sum, writer) => sum + writer.waiting, 0);
  }

  /** The same by lane. */
  waitingByLane(): { lane: number; waiting: number }[] {
    return this.lanes.all.map((lane) => ({ lane, waiting: this.writers[lane]!.waiting }));
  }

  async close(): Promise<void> {
    this.stopped.abort();
    await Promise.all(this.writers.map((writer) => writer.close()));
    await this.notifier.settled();
  }

  private async watchOutbox(): Promise<void> {
    while (!this.stopped.signal.aborted) {
      const waiting = await outboxBacklog(this.database, this.lanes).catch(() => null);
      if (waiting !== null) this.outboxFull = waiting > this.limits.OUTBOX_EVENTS_MAX;
      await sleep(OUTBOX_LOOK_EVERY_MS, this.stopped.signal);
    }
  }
}
