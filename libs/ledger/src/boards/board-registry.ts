import {
  firstLayouts,
  firstVersions,
  LadderError,
  shardCountOf,
  versionsAfter,
  wantsDense,
  withBoardDefaults,
  type Board,
  type BoardDefinition,
  type Layouts,
  type ListVersions,
} from '@laddercast/domain';
import { Injectable } from '@nestjs/common';
import { recordAudit } from '../operators/audit-log.js';
import { differsInScopes, differsInWindows, fitsLayout, keepsEntries, refusalOfChange } from './board-changes.js';
import { AllLanes } from '../lanes/all-lanes.js';
import { announceBoard, Lanes } from '../lanes/lanes.js';
import { beginLimits } from '../limits/limit-start-marker.js';
import { layoutsFor } from './layout-changes.js';
import { ledgerNowMs } from '../database/ledger-clock.js';
import { PostgresDatabase, type SqlRunner } from '../database/postgres-database.js';
import { moveSeasons, sinceOfAddedWindows } from './window-changes.js';

const PURGE_CHUNK_ROWS = 5000;
/** How far the clocks of processes, which give lists' counters their start, may be ahead of the ledger's. */
const CLOCKS_APART_MS = 60_000;
const TABLES_BY_WINDOW = ['rolling_hours', 'frozen_entries', 'guild_totals', 'guild_kept', 'entry_history', 'attempts'];

interface BoardRow {
  board_uid: number;
  revision: number;
  definition_revision: number;
  definition: BoardDefinition;
  windows_since: Record<string, number>;
  layouts: Layouts;
}

/** What must hold for a definition to be put. */
export interface PutCondition {
  /** The entity tag that the board must still have. */
  ifMatch?: string | null;
  /** Whether the board must not exist. */
  onlyCreate?: boolean;
}

/** A board's entity tag: it changes with every change of the definition, and never comes back. */
export const entityTagOf = (board: Pick<Board, 'uid' | 'definitionRevision'>): string =>
  `"${board.uid}-${board.definitionRevision}"`;

/** Creates, redefines, resets and deletes boards: each under all lanes, so that no write of an entry is under way. */
@Injectable()
export class BoardRegistry {
  constructor(
    private readonly database: PostgresDatabase,
    private readonly lanes: Lanes,
    private readonly allLanes: AllLanes,
  ) {}

  /**
   * Creates or replaces a definition.
   * @param actor who is named in the audit log
   * @throws PRECONDITION_FAILED, BOARD_NOT_EMPTY, NOT_SUPPORTED, WINDOW_CLOSED, WINDOW_MISMATCH
   */
  async put(
    id: string,
    definition: BoardDefinition,
    condition: PutCondition = {},
    actor = 'the service',
  ): Promise<{ board: Board; created: boolean }> {
    return this.allLanes.change(async (transaction) => {
      const current = await this.find(transaction, id);
      assertMatches(id, current, condition.ifMatch ?? null);
      if (condition.onlyCreate && current) {
        throw new LadderError('PRECONDITION_FAILED', `Board "${id}" exists already (If-None-Match: *).`);
      }
      const action = current ? 'board.replace' : 'board.create';
      await recordAudit(transaction, { actor, action, subject: id, details: { definition } });
      if (!current) return { board: await this.create(transaction, id, definition), created: true };
      const hasEntries = await this.hasEntries(transaction, current.board_uid);
      const before = current.definition;
      if (hasEntries && !keepsEntries(before, definition)) throw refusalOfChange(before, definition);
      const { serving, opening } = current.layouts;
      const isKeptSo = opening === null && fitsLayout(serving, definition);
      if (!hasEntries && !(isKeptSo && keepsWindows(before, definition))) {
        // Late events of the old order must not reach the new one: the empty board gets a uid of its own.
        await this.unlink(transaction, current.board_uid);
        return { board: await this.create(transaction, id, definition, current.layouts), created: false };
      }
      return { board: await this.redefine(transaction, current, id, definition), created: false };
    });
  }

  private async redefine(
    transaction: SqlRunner,
    current: BoardRow,
    id: string,
    definition: BoardDefinition,
  ): Promise<Board> {
    const uid = current.board_uid;
    const before = current.definition;
    const windowsSinceMs = await sinceOfAddedWindows(transaction, before, definition, current.windows_since);
    await moveSeasons(transaction, uid, before, definition);
    await beginLimits(transaction, uid, before.limits, definition.limits);
    const layouts = await layoutsFor(transaction, current, definition);
    const revision = await announceBoard(transaction, this.lanes, uid, id);
    await transaction.query(
      `UPDATE boards SET definition = $2, revision = $3, definition_revision = $3, windows_since = $4,
         rescope = rescope OR $5, layouts = $6 WHERE board_uid = $1`,
      [
        uid,
        JSON.stringify(definition),
        revision,
        JSON.stringify(windowsSinceMs),
        differsInScopes(before, definition),
        JSON.stringify(layouts),
      ],
    );
    return { uid, id, revision, definitionRevision: revision, definition, windowsSinceMs, layouts };
  }

  /** @throws BOARD_NOT_FOUND, PRECONDITION_FAILED */
  async delete(id: string, ifMatch: string | null, actor: string): Promise<void> {
    await this.allLanes.change(async (transaction) => {
      const current = await this.find(transaction, id);
      if (!current) throw boardNotFound(id);
      assertMatches(id, current, ifMatch);
      await recordAudit(transaction, { actor, action: 'board.delete', subject: id, details: {} });
      await this.unlink(transaction, current.board_uid);
    });
  }

  /**
   * Empties a board: the same definition under a new uid.
   * @throws BOARD_NOT_FOUND
   */
  async reset(id: string, actor: string): Promise<Board> {
    return this.allLanes.change(async (transaction) => {
      const current = await this.find(transaction, id);
      if (!current) throw boardNotFound(id);
      await recordAudit(transaction, { actor, action: 'board.reset', subject: id, details: {} });
      await this.unlink(transaction, current.board_uid);
      return this.create(transaction, id, current.definition, current.layouts);
    });
  }

  /** A board that was deleted or reset, as it was; undefined while it lives, or if it never did. */
  async boardThatIsGone(boardUid: number): Promise<Pick<Board, 'uid' | 'definition' | 'layouts'> | undefined> {
    const [row] = await this.database.query<Pick<BoardRow, 'definition' | 'layouts'>>(
      'SELECT definition, layouts FROM boards WHERE board_uid = $1 AND board_id IS NULL',
      [boardUid],
    );
    return row && { uid: boardUid, definition: withBoardDefaults(row.definition), layouts: row.layouts };
  }

  /** Deletes the entries and submissions of a board that is gone, a chunk at a time. Its windows' rows stay. */
  async purgeRows(boardUid: number): Promise<void> {
    const chunks = [
      `DELETE FROM entries WHERE ctid IN (SELECT e.ctid FROM windows w JOIN entries e USING (window_uid)
        WHERE w.board_uid = $1 LIMIT ${PURGE_CHUNK_ROWS}) RETURNING 1`,
      ...TABLES_BY_WINDOW.map(
        (table) => `DELETE FROM ${table} WHERE ctid IN (SELECT t.ctid FROM windows w JOIN ${table} t USING (window_uid)
        WHERE w.board_uid = $1 LIMIT ${PURGE_CHUNK_ROWS}) RETURNING 1`,
      ),
      `DELETE FROM standings WHERE ctid IN (SELECT s.ctid FROM windows w JOIN editions USING (window_uid)
        JOIN standings s USING (edition_uid) WHERE w.board_uid = $1 LIMIT ${PURGE_CHUNK_ROWS}) RETURNING 1`,
      `DELETE FROM editions WHERE ctid IN (SELECT e.ctid FROM windows w JOIN editions e USING (window_uid)
        WHERE w.board_uid = $1 LIMIT ${PURGE_CHUNK_ROWS}) RETURNING 1`,
      `DELETE FROM submissions WHERE ctid IN (SELECT ctid FROM submissions WHERE board_uid = $1 LIMIT ${PURGE_CHUNK_ROWS})
        RETURNING 1`,
    ];
    for (const chunk of chunks) while ((await this.database.query(chunk, [boardUid])).length === PURGE_CHUNK_ROWS);
    await this.database.query('DELETE FROM metadata_boards WHERE board_uid = $1', [boardUid]);
  }

  private async find(transaction: SqlRunner, id: string): Promise<BoardRow | undefined> {
    const [row] = await transaction.query<BoardRow>(
      `SELECT board_uid, revision, definition_revision, definition, windows_since, layouts
       FROM boards WHERE board_id = $1`,
      [id],
    );
    // Definitions that an earlier release stored lack later options.
    return row && { ...row, definition: withBoardDefaults(row.definition) };
  }

  /** @param before of the board that had the id until now: its lists' versions continue */
  private async create(
    transaction: SqlRunner,
    id: string,
    definition: BoardDefinition,
    before: Layouts | null = null,
  ): Promise<Board> {
    const layouts = firstLayouts(definition, await versionsFrom(transaction, before));
    const [row] = await transaction.query<{ board_uid: number }>(
      'INSERT INTO boards (board_id, definition, layouts, revision) VALUES ($1, $2, $3, 0) RETURNING board_uid',
      [id, JSON.stringify(definition), JSON.stringify(layouts)],
    );
    const uid = row!.board_uid;
    const revision = await announceBoard(transaction, this.lanes, uid, id);
    await transaction.query('UPDATE boards SET revision = $2, definition_revision = $2 WHERE board_uid = $1', [
      uid,
      revision,
    ]);
    return { uid, id, revision, definitionRevision: revision, definition, windowsSinceMs: {}, layouts };
  }

  private async unlink(transaction: SqlRunner, uid: number): Promise<void> {
    const revision = await announceBoard(transaction, this.lanes, uid, null);
    await transaction.query('UPDATE boards SET board_id = NULL, revision = $2 WHERE board_uid = $1', [uid, revision]);
  }

  private async hasEntries(transaction: SqlRunner, boardUid: number): Promise<boolean> {
    const rows = await transaction.query(
      `SELECT 1 FROM windows w WHERE w.board_uid = $1
        AND EXISTS (SELECT 1 FROM entries e WHERE e.window_uid = w.window_uid AND NOT e.removed) LIMIT 1`,
      [boardUid],
    );
    return rows.length > 0;
  }
}

async function versionsFrom(transaction: SqlRunner, before: Layouts | null): Promise<ListVersions> {
  const now = await ledgerNowMs(transaction);
  if (before === null) return firstVersions(now);
  const { sharding, versions } = before.serving;
  return versionsAfter({ shards: shardCountOf(sharding), versions }, now, now + CLOCKS_APART_MS);
}

/** @throws PRECONDITION_FAILED */
function assertMatches(id: string, current: BoardRow | undefined, ifMatch: string | null): void {
  if (ifMatch === null || (current && namesTag(ifMatch, tagOf(current)))) return;
  throw new LadderError('PRECONDITION_FAILED', `Board "${id}" is not the one If-Match names; read it again.`);
}

const boardNotFound = (id: string): LadderError => new LadderError('BOARD_NOT_FOUND', `There is no board "${id}".`);

const tagOf = (row: BoardRow): string =>
  entityTagOf({ uid: row.board_uid, definitionRevision: row.definition_revision });

/** Whether an If-Match header names the entity tag (RFC 9110, section 13.1.1). */
export const namesTag = (ifMatch: string, tag: string): boolean =>
  ifMatch.split(',').some((candidate) => candidate.trim() === '*' || candidate.trim() === tag);

/** Whether the stored windows and layouts of an empty board fit the new definition. */
const keepsWindows = (from: BoardDefinition, to: BoardDefinition): boolean =>
  keepsEntries(from, to) && !differsInWindows(from, to) && wantsDense(from) === wantsDense(to);
