import { withBoardDefaults, type Board, type BoardDefinition, type LadderEvent } from '@laddercast/domain';
import {
  DayStartRecorder,
  HistoryPruner,
  RollingExpirer,
  SettlementFailures,
  StandingsRecorder,
  StandingsPruner,
  WindowCloser,
  type SubmitReceipt,
  type SubmitWrite,
} from '@laddercast/ledger';
import { LedgerNode, submissionOf } from './ledger-node.js';
import { outboxEvents } from './outbox-events.js';

/** A standing as it was written. */
export interface StandingRow {
  scope: number;
  ordinal: number;
  competition: number;
  dense: number;
  playerId: string;
  score: number;
  members: number | null;
}

export interface EditionRow {
  uid: number;
  kind: string;
  version: number;
  asOfMs: number;
}

let boardsMade = 0;

/** The ledger of one process with what time brings about, by hand. */
export class TimeNode extends LedgerNode {
  readonly failures = new SettlementFailures(this.database);
  readonly closer = new WindowCloser(this.database, this.lanes, this.allLanes, this.notifier, this.failures);
  readonly recorder = new StandingsRecorder(this.database, this.lanes, this.failures);
  readonly days = new DayStartRecorder(this.database);
  readonly historyPruner = new HistoryPruner(this.database);
  readonly expirer = new RollingExpirer(this.database, this.lanes, this.notifier);
  readonly pruner = new StandingsPruner(this.database);

  override async stop(): Promise<void> {
    await this.notifier.settled();
    await super.stop();
  }

  async put(definition: Partial<BoardDefinition>, id?: string): Promise<Board> {
    const full = withBoardDefaults({ order: 'desc', operator: 'sum', ...definition } as BoardDefinition);
    const { board } = await this.registry.put(id ?? `t${(boardsMade += 1)}`, full);
    await this.boards.refresh();
    return board;
  }

  async submit(board: Board, playerId: string, score: number, more: Partial<SubmitWrite> = {}): Promise<SubmitReceipt> {
    await this.boards.refresh();
    return this.ledger.write(submissionOf(this.boards.byId(board.id)!, playerId, score, more));
  }

  async windowUid(board: Board, windowId: string): Promise<number> {
    return (await this.windows.find(board.uid, windowId))!.uid;
  }

  async stateOf(board: Board, windowId: string): Promise<string | undefined> {
    return (await this.windows.find(board.uid, windowId))?.state;
  }

  editions(windowUid: number): Promise<EditionRow[]> {
    return this.database.query<EditionRow>(
      `SELECT edition_uid AS uid, kind, version, (extract(epoch FROM as_of) * 1000)::bigint AS "asOfMs"
       FROM editions WHERE window_uid = $1 ORDER BY edition_uid`,
      [windowUid],
    );
  }

  standings(editionUid: number): Promise<StandingRow[]> {
    return this.database.query<StandingRow>(
      `SELECT scope_uid AS scope, ordinal, competition, dense, player_id AS "playerId", score, members
       FROM standings WHERE edition_uid = $1 ORDER BY scope_uid, ordinal`,
      [editionUid],
    );
  }

  /** The standings of a window's only edition of a kind, as `player score` lines of one scope. */
  async linesOf(windowUid: number, kind: string, scope = 0): Promise<string[]> {
    const editions = (await this.editions(windowUid)).filter((edition) => edition.kind === kind);
    if (editions.length !== 1) throw new Error(`Window ${windowUid} has ${editions.length} editions "${kind}".`);
    const rows = await this.standings(editions[0]!.uid);
    return rows.filter((row) => row.scope === scope).map(({ playerId, score }) => `${playerId} ${score}`);
  }

  async events(type: LadderEvent['type'], board: Board): Promise<(LadderEvent & { position: number; lane: number })[]> {
    const rows = await outboxEvents(this.database, type);
    return rows
      .map(({ event, position, lane }) => ({ ...event, position, lane }))
      .filter((event) => 'boardUid' in event && event.boardUid === board.uid);
  }
}

/** A transaction of the test's own that stays open. */
export interface OpenTransaction {
  end(): Promise<void>;
}

/** Runs a statement and keeps its transaction, with its locks, until told to end it. */
export async function holding(node: LedgerNode, statement: string): Promise<OpenTransaction> {
  const connection = await node.database.dedicatedConnection();
  await connection.query('BEGIN');
  await connection.query(statement);
  return {
    end: async () => {
      await connection.query('COMMIT');
      await connection.release();
    },
  };
}

/** Resolves with the backend that waits for a lock in a statement that holds this text. */
export async function waitingBackend(node: LedgerNode, text: string): Promise<number> {
  for (let tries = 0; tries < 3000; tries += 1) {
    const [row] = await node.database.query<{ pid: number }>(
      `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
         AND position($1 IN query) > 0 AND pid <> pg_backend_pid()`,
      [text],
    );
    if (row) return row.pid;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error(`No statement with "${text}" waits for a lock.`);
}
