import { measuredGroup } from '../delivery/measured-group.js';
import type { LogSubscription } from '../event-log.js';
import type { PostgresEventLog } from '../postgres/postgres-event-log.js';
import type { OutboxRecord } from '../postgres/postgres-outbox.js';
import { TOPICS } from '../topics.js';

/** The relay's own consumer group of the outbox; its dead letters are events that the log did not take. */
export const RELAY_GROUP = 'kafka-relay';

/** A log outside PostgreSQL that the relay fills. */
export abstract class RelayTarget {
  /**
   * Resolves once the log has stored the records, all of one lane, in this order.
   * @throws a retriable error when the log is away; another one when it refuses these records
   */
  abstract append(records: readonly OutboxRecord[]): Promise<void>;

  abstract close(): Promise<void>;
}

/**
 * Copies the outbox into another log, lane by lane, in the order of positions: one relay per lane over all processes
 * (its lease has an epoch), one send in flight, and the offset after the log's acknowledgement. After a crash the last
 * batch is sent again, later than what followed it: versions settle that.
 */
export class OutboxRelay {
  private subscription: LogSubscription | null = null;

  constructor(
    private readonly outbox: PostgresEventLog,
    private readonly target: RelayTarget,
  ) {}

  start(): void {
    const append = measuredGroup(RELAY_GROUP);
    this.subscription ??= this.outbox.consumeStored(RELAY_GROUP, TOPICS, (records) =>
      append(records.length, () => this.target.append(records)),
    );
  }

  /** Ends after the send in flight, and closes the target; the outbox stays open. */
  async stop(): Promise<void> {
    await this.subscription?.stop();
    this.subscription = null;
    await this.target.close();
  }
}
