import { LadderError } from '@laddercast/domain';
import { Injectable } from '@nestjs/common';
import { recordAudit } from '../operators/audit-log.js';
import { PostgresDatabase } from '../database/postgres-database.js';

/** What a comparison of a board with its lists found, and put right. */
export interface ReconciliationReport {
  windows: number;
  /** Lists whose index, order, distinct values and counters were looked through. */
  lists: number;
  /** Entries compared, in both directions. */
  compared: number;
  /** Entries that a list did not have. */
  missing: number;
  /** Entries that a list had otherwise. */
  stale: number;
  /** Entries that a list had and PostgreSQL has not. */
  stray: number;
  /** Distinct values that were missing, or that no entry has. */
  values: number;
  /** Shards whose counter was missing, or too low. */
  counters: number;
  /** Entries that changed all the while, and were left to their next change. */
  unsettled: number;
  /** Some of those that differed. */
  examples: { window: string; scope: string; playerId: string; entryId?: string; kind: string }[];
  /** Why it ended early; null: it did not. */
  failure: string | null;
}

/** Where a comparison that is interrupted goes on. */
export interface ReconciliationReached {
  windowUid: number;
  step: 'entries' | 'guilds' | 'lists';
  /** The last player or guild that was compared. */
  id: string;
  /** The next scope whose list is looked through. */
  scope: number;
}

export interface Reconciliation {
  boardUid: number;
  /** Unix ms, as the others. */
  requestedAtMs: number;
  startedAtMs: number | null;
  finishedAtMs: number | null;
  reached: ReconciliationReached | null;
  report: ReconciliationReport;
}

export const EMPTY_REPORT: ReconciliationReport = {
  windows: 0,
  lists: 0,
  compared: 0,
  missing: 0,
  stale: 0,
  stray: 0,
  values: 0,
  counters: 0,
  unsettled: 0,
  examples: [],
  failure: null,
};

const ms = (column: string): string => `(extract(epoch FROM ${column}) * 1000)::float8`;
const COLUMNS = `r.board_uid AS "boardUid", ${ms('requested_at')} AS "requestedAtMs", ${ms('started_at')} AS "startedAtMs",
  ${ms('finished_at')} AS "finishedAtMs", reached, report`;

/** The one that has been waiting, or was left, for longest. */
const NEXT = `
  SELECT ${COLUMNS} FROM reconciliations r WHERE finished_at IS NULL ORDER BY requested_at, board_uid LIMIT 1`;

/** Comparisons of whole boards that were asked for: of each board the last one. */
@Injectable()
export class Reconciliations {
  /** What {@link next} finds, for a `SharedLook`. */
  readonly due = NEXT;

  constructor(private readonly database: PostgresDatabase) {}

  /**
   * Orders one; where one waits or runs it is left to it.
   * @throws BOARD_NOT_FOUND
   */
  async request(boardId: string, actor: string): Promise<Reconciliation> {
    return this.database.transaction(async (transaction) => {
      const [ordered] = await transaction.query<Reconciliation>(
        `INSERT INTO reconciliations AS r (board_uid, requested_by, report)
         SELECT board_uid, $2, $3 FROM boards WHERE board_id = $1
         ON CONFLICT (board_uid) DO UPDATE SET requested_at = ladder_now(), requested_by = excluded.requested_by,
           report = excluded.report, started_at = NULL, reached = NULL, finished_at = NULL
         WHERE r.finished_at IS NOT NULL
         RETURNING ${COLUMNS}`,
        [boardId, actor, JSON.stringify(EMPTY_REPORT)],
      );
      if (ordered) {
        await recordAudit(transaction, { actor, action: 'board.reconcile', subject: boardId, details: {} });
        return ordered;
      }
      const [underWay] = await transaction.query<Reconciliation>(
        `SELECT ${COLUMNS} FROM reconciliations r JOIN boards USING (board_uid) WHERE board_id = $1`,
        [boardId],
      );
      if (!underWay) throw new LadderError('BOARD_NOT_FOUND', `There is no board "${boardId}".`);
      return underWay;
    });
  }

  /** The last one of a board; undefined: there was none. */
  async of(boardUid: number): Promise<Reconciliation | undefined> {
    const [row] = await this.database.query<Reconciliation>(
      `SELECT ${COLUMNS} FROM reconciliations r WHERE board_uid = $1`,
      [boardUid],
    );
    return row;
  }

  /** The one that has been waiting, or was left, for longest. */
  async next(): Promise<Reconciliation | undefined> {
    const [row] = await this.database.query<Reconciliation>(NEXT);
    return row;
  }

  async note(boardUid: number, reached: ReconciliationReached, report: ReconciliationReport): Promise<void> {
    await this.database.query(
      `UPDATE reconciliations SET reached = $2, report = $3, started_at = coalesce(started_at, ladder_now())
       WHERE board_uid = $1 AND finished_at IS NULL`,
      [boardUid, JSON.stringify(reached), JSON.stringify(report)],
    );
  }

  async finish(boardUid: number, report: ReconciliationReport): Promise<void> {
    await this.database.query(
      `UPDATE reconciliations SET report = $2, reached = NULL, started_at = coalesce(started_at, ladder_now()),
         finished_at = ladder_now() WHERE board_uid = $1 AND finished_at IS NULL`,
      [boardUid, JSON.stringify(report)],
    );
  }
}
