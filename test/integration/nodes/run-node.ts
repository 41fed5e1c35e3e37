import type { Board } from '@laddercast/domain';
import {
  EndedRuns,
  EntryReemission,
  EntryRefold,
  LaneQueue,
  PlayerRegistry,
  RunActs,
  RunList,
  RunPruner,
  type ListedRun,
  type RunActed,
  type RunFilter,
} from '@laddercast/ledger';
import { LimitNode } from './limit-node.js';

/** An entry as PostgreSQL has it. */
export interface StoredEntry {
  window: string;
  playerId: string;
  score: number;
  columns: number[];
  achievedAtMs: number;
  metadata: string | null;
  version: number;
  scopes: number[];
}

/** The ledger of one process with acts on runs, by hand. */
export class RunNode extends LimitNode {
  readonly work = new LaneQueue(this.database, this.lanes, this.notifier);
  readonly players = new PlayerRegistry(this.database, this.work, new EntryReemission(this.scopes));
  readonly acts = new RunActs(this.database, this.lanes, this.work, new EntryRefold(this.scopes));
  readonly runs = new RunList(this.database);
  readonly oldRuns = new RunPruner(this.database, this.lanes, this.work, this.acts);
  readonly endedRuns = new EndedRuns(this.database);

  void(board: Board, submissionId: string, playerId?: string): Promise<RunActed> {
    return this.acts.void(this.actOn(board, submissionId, playerId));
  }

  restore(board: Board, submissionId: string, playerId?: string): Promise<RunActed> {
    return this.acts.restore(this.actOn(board, submissionId, playerId));
  }

  actOn(board: Board, submissionId: string, playerId?: string): Parameters<RunActs['void']>[0] {
    const act = { boardId: board.id, submissionId, actor: 'moderator', reason: 'a test' };
    return playerId === undefined ? act : { ...act, playerId };
  }

  async override(
    board: Board,
    playerId: string,
    entry: { score: number; columns: number[] } | null,
    submissionId: string,
  ): Promise<void> {
    await this.boards.refresh();
    const audit = { actor: 'operator', action: 'entry.set', subject: playerId, details: {} };
    const run = { submissionId, reason: 'a test' };
    await this.ledger.write({ kind: 'override', board: this.boards.byId(board.id)!, playerId, entry, run, audit });
  }

  /** What stands on a board: no removed entries. */
  async entries(board: Board): Promise<StoredEntry[]> {
    return this.database.query<StoredEntry>(
      `SELECT w.window_id AS window, e.player_id AS "playerId", e.score, e.columns, e.achieved_at_ms AS "achievedAtMs",
         e.metadata, e.version, e.scopes
       FROM windows w JOIN entries e USING (window_uid)
       WHERE w.board_uid = $1 AND NOT e.removed ORDER BY w.window_uid, e.player_id`,
      [board.uid],
    );
  }

  /** Its runs, the newest first. */
  async runsOf(board: Board, filter: RunFilter = {}): Promise<ListedRun[]> {
    await this.boards.refresh();
    const current = this.boards.byId(board.id)!;
    return this.runs.list({ ...current, runsFrom: current.runsFrom! }, filter, { limit: 1000, before: null });
  }
}
