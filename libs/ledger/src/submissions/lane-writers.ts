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
    @Inject(Environment) { LANE_QUEUE_MAX: queueMax }: Pick<Environment, 'LANE_QUEUE_MAX'>,
  ) {
    const catalogs = { windows, scopes, metadata };
    const onCommitted = (lane: number): void => notifier.wake(lane);
    this.all = lanes.all.map((lane) => new LaneWriter(database, catalogs, { lane, queueMax, onCommitted }));
  }

  /** Writes what waits, then lets the connections go. */
  async close(): Promise<void> {
    await Promise.all(this.all.map((writer) => writer.close()));
  }
}
