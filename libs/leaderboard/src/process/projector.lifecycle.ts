import {
  adoptLog,
  EventLog,
  isRetriable,
  KafkaEventLog,
  KafkaLogWatch,
  OutboxRelay,
  PostgresEventLog,
  writeLogLine,
} from '@laddercast/event-log';
import {
  fillFedBoards,
  Lanes,
  LeasedTask,
  PoolRater,
  PostgresDatabase,
  PostgresLeases,
  rescopeGuildBoards,
} from '@laddercast/ledger';
import { RateLimitedLog, retryWhile } from '@laddercast/platform';
import { LaneRecoveries, RankProjection } from '@laddercast/projections';
import { LeasedTickSlots, RankDeltaPublisher, SketchPublisher } from '@laddercast/realtime';
import { Injectable, Logger } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { partsOf, type PartOf } from '../parts.js';
import { projectorTasks, type ProjectorTask } from './projector-tasks.js';

const ADOPTED_WITHIN_MS = 60_000;

/** What a projector runs beside the sagas, which Nest starts and stops with its microservices. */
@Injectable()
export class ProjectorLifecycle {
  private readonly part: PartOf;
  /** null where the outbox is the log, which loses nothing that the ledger has. */
  private watch: KafkaLogWatch | null = null;
  private tasks: LeasedTask[] = [];

  constructor(modules: ModuleRef) {
    this.part = partsOf(modules);
  }

  /** Resolves once it is known which log is read; from then on the sagas may begin. */
  async start(): Promise<void> {
    await this.adoptLog();
    this.part<OutboxRelay | null>(OutboxRelay)?.start();
    this.tasks = projectorTasks(this.part).map((task) => this.leased(task));
    for (const task of this.tasks) task.start();
    this.part(SketchPublisher).start();
    this.part(LaneRecoveries).start();
    this.part(LeasedTickSlots).start();
    this.part(RankDeltaPublisher).start();
  }

  /** What a log that is used no more still held of the ranks comes from PostgreSQL instead. */
  private async adoptLog(): Promise<void> {
    const [database, eventLog] = [this.part(PostgresDatabase), this.part(EventLog)];
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
    const projection = this.part(RankProjection);
    for (const lane of this.part(Lanes).all) await projection.dropMark(lane);
    // What the log still held of guilds' totals is recomputed with the scopes.
    await rescopeGuildBoards(this.part(PostgresDatabase));
    // What it held of ratings is fed anew.
    await fillFedBoards(this.part(PostgresDatabase), null);
  }

  async stop(): Promise<void> {
    await Promise.all([
      this.part(RankDeltaPublisher).stop(),
      this.part(LaneRecoveries).stop(),
      this.part<OutboxRelay | null>(OutboxRelay)?.stop(),
      this.watch?.stop(),
      this.part(SketchPublisher).stop(),
      ...this.tasks.map((task) => task.stop()),
      this.part(PoolRater).stop(),
    ]);
    await this.part(LeasedTickSlots).stop();
    const [eventLog, outbox] = [this.part(EventLog), this.part(PostgresEventLog)];
    await eventLog.close();
    if (outbox !== eventLog) await outbox.close();
  }

  private leased({ log, failing, ...task }: ProjectorTask): LeasedTask {
    const failures = new RateLimitedLog(log);
    const onFailure = (error: unknown): void => failures.warn(failing, error);
    return new LeasedTask(this.part(PostgresLeases), { ...task, onFailure });
  }
}
