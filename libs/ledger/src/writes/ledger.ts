import { LadderError } from '@laddercast/domain';
import { Environment, isInSaga, sleep } from '@laddercast/platform';
import { Inject, Injectable } from '@nestjs/common';
import { LaneRoutes } from '../writes/lane-routes.js';
import { LaneWriters } from '../submissions/lane-writers.js';
import { Lanes } from '../lanes/lanes.js';
import { outboxBacklog } from '../lanes/outbox-backlog.js';
import { OutboxNotifier } from '../lanes/outbox-notifier.js';
import { PostgresDatabase } from '../database/postgres-database.js';
import { noteFailure } from '../submissions/submission-outcomes.js';
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
/**
 * Sagas find room up to so many times the limit: of a full outbox nothing is trimmed before they have gone on. One that writes up
 * to so many events for each that it reads gets through; one that answers its own events is stopped here.
 */
const ROOM_OF_SAGAS = 4;

/** The source of truth: every write is durable, with its events, before it is answered. */
@Injectable()
export class Ledger {
  private readonly stopped = new AbortController();
  private inOutbox = 0;

  constructor(
    private readonly database: PostgresDatabase,
    private readonly lanes: Lanes,
    private readonly notifier: OutboxNotifier,
    private readonly writers: LaneWriters,
    private readonly routes: LaneRoutes,
    @Inject(Environment) private readonly limits: Pick<Environment, 'OUTBOX_EVENTS_MAX'>,
  ) {}

  /** @param ownsLanes whether other processes may hand their writes to this one */
  async start(ownsLanes: boolean): Promise<void> {
    void this.watchOutbox();
    await this.routes.start(ownsLanes);
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
      // What pools feed finds room in the outbox: until that group has gone on, nothing of it is trimmed.
      if (write.kind === 'feed') this.database.reach.assertThere();
      else this.assertTakes();
    } catch (error) {
      if (write.kind === 'submit') noteFailure(error, 0);
      throw error;
    }
    return this.routes.of(this.lanes.of(write.playerId)).write(write);
  }

  /** @throws LEDGER_UNAVAILABLE, OUTBOX_FULL where a write would wait in vain */
  assertTakes(): void {
    this.database.reach.assertThere();
    if (this.inOutbox <= this.limits.OUTBOX_EVENTS_MAX * (isInSaga() ? ROOM_OF_SAGAS : 1)) return;
    const detail = 'The log is far behind; send it again later, with the same id.';
    throw new LadderError('OUTBOX_FULL', detail, { retryAfterSeconds: 10 });
  }

  /** Writes that wait for a commit, over all lanes of this process. */
  get waiting(): number {
    return this.waitingByLane().reduce((sum, { waiting }) => sum + waiting, 0);
  }

  /** The same by lane. */
  waitingByLane(): { lane: number; waiting: number }[] {
    const { routes, writers } = this;
    return this.lanes.all.map((lane) => ({
      lane,
      waiting: routes.of(lane).waiting + writers.of(lane).waiting,
    }));
  }

  async close(): Promise<void> {
    this.stopped.abort();
    await this.routes.close();
    await this.writers.close();
    await this.notifier.settled();
  }

  private async watchOutbox(): Promise<void> {
    while (!this.stopped.signal.aborted) {
      const waiting = await outboxBacklog(this.database, this.lanes).catch(() => null);
      if (waiting !== null) this.inOutbox = waiting;
      await sleep(OUTBOX_LOOK_EVERY_MS, this.stopped.signal);
    }
  }
}
