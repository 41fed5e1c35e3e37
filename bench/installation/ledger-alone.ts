import { createHash } from 'node:crypto';
import type { Board } from '@laddercast/domain';
import { built } from './built-code.js';

type LedgerCode = typeof import('@laddercast/ledger');

/** A submission as a client sends it. */
export interface Submitted {
  submissionId: string;
  playerId: string;
  score: number;
}

/** Beyond what waits at once here. */
const LIMITS = { HOST: '127.0.0.1', LANE_MEMORY_MAX: 100_000, LANE_QUEUE_MAX: 20_000, OUTBOX_EVENTS_MAX: 100_000_000 };

/** The service's ledger in this process: no HTTP before it, and nobody who reads its log. */
export class LedgerAlone {
  private constructor(
    private readonly board: Board,
    private readonly ledger: InstanceType<LedgerCode['Ledger']>,
    private readonly ends: (() => unknown)[],
  ) {}

  /** @param where `boardId`: the board that is written to; `lanes`: as many as the installation has */
  static async open(
    root: string,
    { databaseUrl, boardId, lanes: laneCount }: { databaseUrl: string; boardId: string; lanes: number },
  ): Promise<LedgerAlone> {
    const code = await built<LedgerCode>(root, 'ledger');
    const database = new code.PostgresDatabase({ url: databaseUrl });
    await database.open({ migrate: false });
    const lanes = new code.Lanes(laneCount);
    const boards = new code.BoardCatalog(database);
    const windows = new code.WindowCatalog(database, boards);
    const scopes = new code.ScopeCatalog(database);
    const metadata = new code.BoardsWithMetadata(database);
    const notifier = new code.OutboxNotifier(database);
    const writers = new code.LaneWriters(database, lanes, notifier, windows, scopes, metadata, LIMITS);
    const owners = new code.LaneOwners(database, lanes, new code.PostgresLeases(database));
    const inbox = new code.LaneInbox(lanes, boards, writers);
    const routes = new code.LaneRoutes(writers, boards, owners, new code.LaneLink(database), inbox, LIMITS);
    const ledger = new code.Ledger(database, lanes, notifier, writers, routes, LIMITS);
    await boards.start();
    return new LedgerAlone(boards.byId(boardId)!, ledger, [
      () => ledger.close(),
      () => boards.stop(),
      () => database.close(),
    ]);
  }

  /** Resolves once the submission is committed. */
  async write({ submissionId, playerId, score }: Submitted): Promise<void> {
    const { board } = this;
    const none = { columns: [], achievedAtMs: null, windowId: null, metadata: null, refusal: null };
    const bodySha256 = createHash('sha256').update(`${submissionId} ${playerId} ${score}`).digest();
    await this.ledger.write({
      kind: 'submit',
      ...{ board, playerId, submissionId, score, bodySha256 },
      idFromClient: true,
      ...none,
    });
  }

  async close(): Promise<void> {
    for (const end of this.ends) await end();
  }
}
