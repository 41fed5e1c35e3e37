import { Environment } from '@laddercast/platform';
import { Inject, Injectable } from '@nestjs/common';
import { BoardsWithMetadata } from '../catalogs/boards-with-metadata.js';
import { ScopeCatalog } from '../catalogs/scope-catalog.js';
import { WindowCatalog } from '../catalogs/window-catalog.js';
import { PostgresDatabase } from '../database/postgres-database.js';
import { Lanes } from '../lanes/lanes.js';
import { OutboxNotifier } from '../lanes/outbox-notifier.js';
import { LaneMemory, memoryRoom, type MemoryRoom } from './lane-memory.js';
import { LaneWriter } from './lane-writer.js';

/** This process's writers, one for each lane. */
@Injectable()
export class LaneWriters {
  private readonly writers: LaneWriter[] = [];
  private readonly room: MemoryRoom;

  constructor(
    private readonly database: PostgresDatabase,
    private readonly lanes: Lanes,
    private readonly notifier: OutboxNotifier,
    private readonly windows: WindowCatalog,
    private readonly scopes: ScopeCatalog,
    private readonly metadata: BoardsWithMetadata,
    @Inject(Environment) private readonly settings: Pick<Environment, 'LANE_QUEUE_MAX' | 'LANE_MEMORY_MAX'>,
  ) {
    this.room = memoryRoom(settings.LANE_MEMORY_MAX);
  }

  of(lane: number): LaneWriter {
    return (this.writers[lane] ??= this.made(lane));
  }

  /** Writes what waits, then lets the connections go. */
  async close(): Promise<void> {
    await Promise.all(this.writers.map((writer) => writer.close()));
  }

  private made(lane: number): LaneWriter {
    const { database, lanes, notifier, windows, scopes, metadata, settings } = this;
    return new LaneWriter(
      database,
      { windows, scopes, metadata },
      {
        ...{ lane, lanes },
        place: (pending) => this.of(lanes.of(pending.write.playerId)).take(pending),
        queueMax: settings.LANE_QUEUE_MAX,
        memory: new LaneMemory(this.room),
        onCommitted: (committed) => notifier.wake(committed),
      },
    );
  }
}
