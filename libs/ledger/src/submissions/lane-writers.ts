import { Environment } from '@laddercast/platform';
import { Inject, Injectable } from '@nestjs/common';
import { BoardsWithMetadata } from '../catalogs/boards-with-metadata.js';
import { ScopeCatalog } from '../catalogs/scope-catalog.js';
import { WindowCatalog } from '../catalogs/window-catalog.js';
import { PostgresDatabase } from '../database/postgres-database.js';
import { Lanes } from '../lanes/lanes.js';
import { OutboxNotifier } from '../lanes/outbox-notifier.js';
import { LaneWriter } from './lane-writer.js';

/** This process's writers, one for each lane. */
@Injectable()
export class LaneWriters {
  readonly all: readonly LaneWriter[];

  constructor(
    database: PostgresDatabase,
    lanes: Lanes,
    notifier: OutboxNotifier,
    windows: WindowCatalog,
    scopes: ScopeCatalog,
    metadata: BoardsWithMetadata,
    @Inject(Environment) settings: Pick<Environment, 'LANE_QUEUE_MAX' | 'LANE_MEMORY_MAX'>,
  ) {
    const catalogs = { windows, scopes, metadata };
    const onCommitted = (lane: number): void => notifier.wake(lane);
    const queueMax = settings.LANE_QUEUE_MAX;
    const memoryMax = Math.ceil(settings.LANE_MEMORY_MAX / lanes.count);
    this.all = lanes.all.map((lane) => new LaneWriter(database, catalogs, { lane, queueMax, memoryMax, onCommitted }));
  }

  /** Writes what waits, then lets the connections go. */
  async close(): Promise<void> {
    await Promise.all(this.all.map((writer) => writer.close()));
  }
}
