import {
  adoptLog,
  isRetriable,
  KafkaEventLog,
  KafkaLogWatch,
  type EventLog,
  type OutboxRelay,
  type PostgresEventLog,
} from '@laddercast/event-log';
import type { LeasedTickSlots, RankDeltaPublisher } from '@laddercast/realtime';
import type { Lanes, PostgresDatabase } from '@laddercast/ledger';
import type { RankProjection } from '@laddercast/projections';
import { Logger } from '@nestjs/common';
import { retryWhile } from '@laddercast/platform';
import { writeLogLine } from '../log-options.js';
import type { LaneRecoveries } from './lane-recoveries.js';

const ADOPTED_WITHIN_MS = 60_000;

/** Work that comes round by itself, in one process at a time. */
interface Schedule {
  start(): void;
  stop(): Promise<void>;
}

interface ProjectorParts {
  database: PostgresDatabase;
  projection: RankProjection;
  lanes: Lanes;
  eventLog: EventLog;
  outbox: PostgresEventLog;
  /** null where the outbox is the log. */
  relay: OutboxRelay | null;
  recoveries: LaneRecoveries;
  publisher: RankDeltaPublisher;
  slots: LeasedTickSlots;
  schedules: readonly Schedule[];
}

/** What a projector runs beside the sagas, which Nest starts and stops with its microservices. */
export class ProjectorLifecycle {
  /** null where the outbox is the log, which loses nothing that the ledger has. */
  private watch: KafkaLogWatch | null = null;

  constructor(private readonly parts: ProjectorParts) {}

  /** Resolves once it is known which log is read; from then on the sagas may begin. */
  async start(): Promise<void> {
    const { relay, recoveries, publisher, slots, schedules } = this.parts;
    await this.adoptLog();
    relay?.start();
    for (const schedule of schedules) schedule.start();
    recoveries.start();
    slots.start();
    publisher.start();
  }

  /** What a log that is used no more still held of the ranks comes from PostgreSQL instead. */
  private async adoptLog(): Promise<void> {
    const { database, eventLog } = this.parts;
    const identity = eventLog instanceof KafkaEventLog ? await eventLog.identity() : ({ kind: 'postgres' } as const);
    // Redis may be connecting still, or be away for a moment.
    const changed = await retryWhile(() => adoptLog(database, identity, () => this.bringBack()), isRetriable, {
      backoff: { firstMs: 100, maxMs: 2000 },
      signal: AbortSignal.timeout(ADOPTED_WITHIN_MS),
    });
    if (changed)
      new Logger('event-log').warn('Another log is used than before: the ranks are brought back from PostgreSQL.');
    if (!(eventLog instanceof KafkaEventLog)) return;
    const bringBack = (): Promise<void> => this.bringBack();
    this.watch = new KafkaLogWatch(eventLog, database, { log: writeLogLine, bringBack });
    this.watch.start();
  }

  /** Has everything that events bring about made again from the ledger. */
  private async bringBack(): Promise<void> {
    const { database, projection, lanes } = this.parts;
    for (const lane of lanes.all) await projection.dropMark(lane);
    // What the log still held of guilds' totals is recomputed with the scopes.
    await database.query(
      `UPDATE boards SET rescope = true WHERE board_id IS NOT NULL AND definition->'scopes' ? 'guild'`,
    );
  }

  async stop(): Promise<void> {
    const { eventLog, outbox, relay, recoveries, publisher, slots, schedules } = this.parts;
    await Promise.all([
      publisher.stop(),
      recoveries.stop(),
      relay?.stop(),
      this.watch?.stop(),
      ...schedules.map((one) => one.stop()),
    ]);
    await slots.stop();
    await eventLog.close();
    if (outbox !== eventLog) await outbox.close();
  }
}
