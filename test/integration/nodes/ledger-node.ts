import { createHash, randomUUID } from 'node:crypto';
import type { Board } from '@laddercast/domain';
import {
  AllLanes,
  BoardCatalog,
  BoardLayouts,
  BoardRegistry,
  Lanes,
  Ledger,
  BoardsWithMetadata,
  LaneInbox,
  LaneLink,
  LaneOwners,
  LaneRoutes,
  LaneWriters,
  OutboxNotifier,
  PostgresDatabase,
  PostgresLeases,
  ScopeCatalog,
  settleLanes,
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
  readonly notifier: OutboxNotifier;
  readonly writers: LaneWriters;
  readonly owners: LaneOwners;
  readonly link: LaneLink;
  readonly inbox: LaneInbox;
  readonly ledger: Ledger;

  constructor(url: string, outboxEventsMax = 1_000_000, laneMemoryMax = 10_000) {
    this.database = new PostgresDatabase({ url });
    this.boards = new BoardCatalog(this.database, this.lanes);
    this.windows = new WindowCatalog(this.database, this.boards);
    this.scopes = new ScopeCatalog(this.database);
    this.allLanes = new AllLanes(this.database, this.lanes);
    this.registry = new BoardRegistry(this.database, this.lanes, this.allLanes);
    this.notifier = new OutboxNotifier(this.database);
    this.layouts = new BoardLayouts(this.database, this.lanes, this.allLanes, this.notifier);
    const metadata = new BoardsWithMetadata(this.database);
    const settings = {
      HOST: '127.0.0.1',
      LANE_QUEUE_MAX: 20_000,
      LANE_MEMORY_MAX: laneMemoryMax,
      OUTBOX_EVENTS_MAX: outboxEventsMax,
    };
    const { database, lanes, notifier, boards } = this;
    this.writers = new LaneWriters(database, lanes, notifier, this.windows, this.scopes, metadata, settings);
    this.owners = new LaneOwners(database, lanes, new PostgresLeases(database));
    this.link = new LaneLink(database);
    this.inbox = new LaneInbox(lanes, boards, this.writers);
    const routes = new LaneRoutes(this.writers, boards, this.owners, this.link, this.inbox, settings);
    this.ledger = new Ledger(database, lanes, notifier, this.writers, routes, settings);
  }

  async start(): Promise<void> {
    await this.database.open({ migrate: true });
    await settleLanes(this.database, this.lanes.count);
    await this.lanes.refresh(this.database);
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
