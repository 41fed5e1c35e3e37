import { createHash, randomUUID } from 'node:crypto';
import type { Board } from '@laddercast/domain';
import {
  AllLanes,
  BoardCatalog,
  BoardLayouts,
  BoardRegistry,
  fixLanes,
  Lanes,
  Ledger,
  MetadataBoards,
  OutboxWaker,
  PostgresDatabase,
  ScopeCatalog,
  WindowCatalog,
  type SubmitWrite,
} from '@laddercast/ledger';

/** The ledger of one process, by hand. */
export class LedgerNode {
  readonly lanes = new Lanes(2);
  readonly database: PostgresDatabase;
  readonly windows: WindowCatalog;
  readonly scopes: ScopeCatalog;
  readonly boards: BoardCatalog;
  readonly allLanes: AllLanes;
  readonly registry: BoardRegistry;
  readonly layouts: BoardLayouts;
  readonly ledger: Ledger;

  constructor(url: string) {
    this.database = new PostgresDatabase({ url });
    this.windows = new WindowCatalog(this.database);
    this.scopes = new ScopeCatalog(this.database);
    this.boards = new BoardCatalog(this.database);
    this.allLanes = new AllLanes(this.database, this.lanes);
    this.registry = new BoardRegistry(this.database, this.lanes, this.allLanes);
    this.layouts = new BoardLayouts(this.database, this.lanes, this.allLanes, new OutboxWaker(this.database));
    const limits = { laneQueueMax: 20_000, outboxEventsMax: 1_000_000 };
    const catalogs = { windows: this.windows, scopes: this.scopes, metadata: new MetadataBoards(this.database) };
    this.ledger = new Ledger(this.database, catalogs, this.lanes, limits);
  }

  async start(): Promise<void> {
    await this.database.open({ migrate: true });
    await fixLanes(this.database, this.lanes.count);
    await this.boards.start();
  }

  async stop(): Promise<void> {
    await this.ledger.close();
    this.boards.stop();
    await this.database.close();
  }
}

/** A run of a player, as the commands hand it to the ledger. */
export function submissionOf(
  board: Board,
  playerId: string,
  score: number,
  more: Partial<SubmitWrite> = {},
): SubmitWrite {
  return {
    kind: 'submit',
    board,
    playerId,
    submissionId: more.submissionId ?? randomUUID(),
    idFromClient: true,
    score,
    columns: [],
    achievedAtMs: null,
    windowId: null,
    metadata: null,
    refusal: null,
    bodySha256: createHash('sha256')
      .update(JSON.stringify([playerId, score]))
      .digest(),
    ...more,
  };
}
