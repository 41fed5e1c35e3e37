import type { Layouts } from '@laddercast/domain';
import { Injectable } from '@nestjs/common';
import { recordAudit } from '../operators/audit-log.js';
import { BoardLayouts, type LayoutProgress } from '../boards/board-layouts.js';
import { PostgresDatabase } from '../database/postgres-database.js';

/** Boards whose lists are made anew side by side: while one is, the projection holds it twice. */
const BOARDS_AT_ONCE = 2;
/** Generations that the projection still holds beside those, on their way out: as many as LayoutRemover takes out side by side. */
const REMOVALS_WAITING_MAX = 16;
/** Rebuilt boards that are told of by name. */
const UNDER_WAY_MAX = 100;

/** How far the last order to make all boards' lists anew is. */
export interface RebuildProgress {
  /** Unix ms; null: there was none. */
  requestedAtMs: number | null;
  /** When the last board was done, Unix ms; null while one is left. */
  finishedAtMs: number | null;
  boards: number;
  done: number;
  underWay: { board: string; generation: number; progress: Omit<LayoutProgress, 'generation' | 'reached'> | null }[];
}

interface QueuedBoard {
  boardUid: number;
  boardId: string | null;
  layouts: Layouts;
  generation: number | null;
  requestedBy: string;
}

/** Boards that are not done, those under way first. */
const QUEUED = `
  SELECT board_uid AS "boardUid", board_id AS "boardId", layouts, generation, requested_by AS "requestedBy"
  FROM rebuilds JOIN boards USING (board_uid) WHERE done_at IS NULL
  ORDER BY generation IS NULL, board_uid LIMIT ${10 * BOARDS_AT_ONCE}`;

/** Makes the lists of all boards anew, a few boards at a time. What is still to be done stands in the ledger. */
@Injectable()
export class BoardRebuilds {
  /** What {@link advance} finds, for a `SharedLook`. */
  readonly due = QUEUED;

  constructor(
    private readonly database: PostgresDatabase,
    private readonly layouts: BoardLayouts,
  ) {}

  /** Orders it for every board there is; one that waits for its turn already is ordered once. */
  async request(actor: string): Promise<void> {
    await this.database.transaction(async (transaction) => {
      await transaction.query('DELETE FROM rebuilds WHERE done_at IS NOT NULL');
      const rows = await transaction.query(
        `INSERT INTO rebuilds (board_uid, requested_at, requested_by)
         SELECT board_uid, ladder_now(), $1 FROM boards WHERE board_id IS NOT NULL ORDER BY board_uid
         ON CONFLICT (board_uid) DO NOTHING RETURNING board_uid`,
        [actor],
      );
      if (rows.length === 0) return;
      const details = { boards: rows.length };
      await recordAudit(transaction, { actor, action: 'boards.rebuild', subject: '*', details });
    });
  }

  async progress(): Promise<RebuildProgress> {
    const [sums] = await this.database.query<Omit<RebuildProgress, 'underWay'>>(
      `SELECT (extract(epoch FROM max(requested_at)) * 1000)::float8 AS "requestedAtMs",
         CASE WHEN count(*) = count(done_at) THEN (extract(epoch FROM max(done_at)) * 1000)::float8 END AS "finishedAtMs",
         count(*)::int AS boards, count(done_at)::int AS done FROM rebuilds`,
    );
    const underWay = await this.database.query<RebuildProgress['underWay'][number]>(
      `SELECT board_id AS board, r.generation, CASE WHEN p.generation IS NOT NULL THEN
         json_build_object('step', p.step, 'rowsScanned', p.rows_scanned, 'scans', p.scans) END AS progress
       FROM rebuilds r JOIN boards USING (board_uid)
       LEFT JOIN layout_progress p ON p.board_uid = r.board_uid AND p.generation = r.generation
       WHERE r.done_at IS NULL AND r.generation IS NOT NULL AND board_id IS NOT NULL
       ORDER BY board_id LIMIT ${UNDER_WAY_MAX}`,
    );
    return { ...sums!, underWay };
  }

  /** Sees which boards are done, and begins with as many as there is room for. */
  async advance(): Promise<void> {
    const queued = await this.database.query<QueuedBoard>(QUEUED);
    let busy = 0;
    const waiting: (QueuedBoard & { boardId: string })[] = [];
    for (const board of queued) {
      const { boardId, layouts, generation } = board;
      if (boardId === null || (generation !== null && layouts.serving.generation >= generation)) await this.done(board);
      // Else given up for another change that was put back before it served: what serves was not made anew.
      else if (generation !== null && layouts.opening !== null) busy += 1;
      else waiting.push({ ...board, boardId });
    }
    for (const board of waiting) {
      if (busy >= BOARDS_AT_ONCE || (await this.removalsWaiting()) >= REMOVALS_WAITING_MAX) return;
      await this.begin(board, board.boardId);
      busy += 1;
    }
  }

  private async removalsWaiting(): Promise<number> {
    const [row] = await this.database.query<{ waiting: number }>(
      'SELECT count(*)::int AS waiting FROM layout_removals',
    );
    return row!.waiting;
  }

  private async begin({ boardUid, requestedBy }: QueuedBoard, boardId: string): Promise<void> {
    const generation = await this.layouts.rebuild(boardId, requestedBy).catch((error: { code?: string }) => {
      // Deleted a moment ago: the next look sees it.
      if (error.code === 'BOARD_NOT_FOUND') return null;
      throw error;
    });
    await this.database.query('UPDATE rebuilds SET generation = $2 WHERE board_uid = $1', [boardUid, generation]);
  }

  private async done({ boardUid }: QueuedBoard): Promise<void> {
    await this.database.query('UPDATE rebuilds SET done_at = ladder_now() WHERE board_uid = $1', [boardUid]);
  }
}
