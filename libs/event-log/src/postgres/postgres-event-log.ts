import { randomUUID } from 'node:crypto';
import { RateLimitedLog } from '@laddercast/platform';
import { PostgresLeases, type Lanes, type PostgresDatabase } from '@laddercast/ledger';
import { toLogBatch } from '../delivery/delivery.js';
import { EventLog, type BatchHandler, type LaneLag, type LogSubscription } from '../event-log.js';
import type { LogLine } from '../delivery/log-line.js';
import { parkInto } from './postgres-dead-letters.js';
import { PostgresLaneSharing } from './postgres-lane-sharing.js';
import { PostgresGroupConsumer, type ConsumerSurroundings } from './postgres-group-consumer.js';
import { PostgresOutbox, type OutboxRecord } from './postgres-outbox.js';
import { PostgresOutboxListener } from './postgres-outbox-listener.js';
import { PostgresOutboxTrimmer, TRIM_DEFAULTS, type TrimOptions } from './postgres-outbox-trimmer.js';
import { TOPICS, type Topic } from '../topics.js';
import { PostgresSharedReadings } from './postgres-shared-readings.js';

export interface PostgresEventLogOptions {
  /** Lanes of the ledger. When they are raised, running consumers begin with the new ones. */
  lanes: Lanes;
  log: LogLine;
  /** How long a lane stands still when its consumer's process is killed; 4 s when not given. */
  leaseTtlMs?: number;
  /** How the outbox is trimmed; see {@link TRIM_DEFAULTS}. */
  trim?: Partial<Pick<TrimOptions, 'keepMs' | 'keptMax' | 'groupKeptMs' | 'everyMs'>>;
}

const LEASE_TTL_MS = 4000;

/**
 * The log of the embedded profile: the ledger's outbox itself, with offsets as rows of PostgreSQL.
 * Consumers are woken by NOTIFY and look by themselves every 250 ms; a group's topics reach it in one order. Lanes are
 * shared over processes by leases; rows that every group has handled are removed after a minute.
 */
export class PostgresEventLog extends EventLog {
  private readonly shared: ConsumerSurroundings;
  private readonly trimmer: PostgresOutboxTrimmer;
  private readonly sharing: PostgresLaneSharing;
  private readonly consumers = new Set<PostgresGroupConsumer>();
  private readonly topicsOf = new Map<string, Set<Topic>>();
  private readonly endOfRaises: () => void;

  constructor(
    private readonly database: PostgresDatabase,
    options: PostgresEventLogOptions,
  ) {
    super();
    const { lanes, log } = options;
    const outbox = new PostgresOutbox(database, lanes);
    const leases = new PostgresLeases(database);
    const listener = new PostgresOutboxListener(database, log);
    const readings = new PostgresSharedReadings(outbox, listener);
    this.shared = {
      outbox,
      readings,
      leases,
      listener,
      log,
      failures: new RateLimitedLog('event-log'),
      lanes,
      leaseTtlMs: options.leaseTtlMs ?? LEASE_TTL_MS,
    };
    this.sharing = new PostgresLaneSharing(leases, this.consumers, log);
    this.endOfRaises = lanes.onRaise(() => this.consumers.forEach((consumer) => consumer.start()));
    this.trimmer = new PostgresOutboxTrimmer(outbox, leases, { ...TRIM_DEFAULTS, ...options.trim, lanes }, log);
  }

  async consume(group: string, topics: readonly Topic[], handler: BatchHandler): Promise<LogSubscription> {
    return this.consumeStored(group, topics, (records) => handler(toLogBatch(records)));
  }

  /** As {@link consume}, for a handler that passes the records on without parsing them. */
  consumeStored(
    group: string,
    topics: readonly Topic[],
    handler: (records: readonly OutboxRecord[]) => Promise<void>,
  ): LogSubscription {
    const options = { group, topics, handler, park: parkInto(this.database, group) };
    const consumer = new PostgresGroupConsumer(this.shared, options, `${this.shared.leases.holder}/${randomUUID()}`);
    this.topicsOf.set(group, new Set([...(this.topicsOf.get(group) ?? []), ...topics]));
    this.consumers.add(consumer);
    this.shared.listener.start();
    this.trimmer.start();
    this.sharing.start();
    consumer.start();
    return {
      stop: async () => {
        await consumer.stop();
        this.consumers.delete(consumer);
      },
    };
  }

  /** The position up to which a group has handled a lane, events of other topics included; 0: nothing yet. */
  committed(group: string, lane: number): Promise<number> {
    return this.shared.outbox.committed(group, lane);
  }

  /** Counted up to {@link LAG_COUNTED_MAX}, over the topics that this process consumes in the group (all, if none). */
  override lag(group: string, topics?: readonly Topic[]): Promise<LaneLag[]> {
    return this.shared.outbox.lag(group, [...(this.topicsOf.get(group) ?? topics ?? TOPICS)]);
  }

  override async close(): Promise<void> {
    this.endOfRaises();
    await this.sharing.stop();
    await Promise.all([...this.consumers].map((consumer) => consumer.stop()));
    this.consumers.clear();
    await this.trimmer.stop();
    await this.shared.listener.stop();
  }
}
