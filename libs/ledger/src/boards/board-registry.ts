import { isDeepStrictEqual } from 'node:util';
import { LadderError, wantsDense, withBoardDefaults, type Board, type BoardDefinition } from '@laddercast/domain';
import { Injectable } from '@nestjs/common';
import { recordAudit } from '../operators/audit-log.js';
import { namesTag, type PutCondition } from '../operators/put-condition.js';
import {
  boardOf,
  createBoard,
  findBoard,
  hasEntries,
  unlinkBoard,
  type BoardRow,
  type FoundBoard,
} from './board-rows.js';
import { differsInScopes, differsInWindows, fitsLayout, keepsEntries, refusalOfChange } from './board-changes.js';
import { AllLanes } from '../lanes/all-lanes.js';
import { announceBoard } from '../lanes/lane-events.js';
import { Lanes } from '../lanes/lanes.js';
import { beginLimits } from '../limits/limit-start-marker.js';
import { layoutsFor } from './layout-changes.js';
import { PostgresDatabase, type SqlRunner } from '../database/postgres-database.js';
import { beginFill, fillByNewRules, refuseOtherColumns, refuseUnfeedable, refuseUnkept } from './fed-boards.js';
import { linkAfterHand } from './hand-changes.js';
import type { TemplateLink } from './template-layers.js';
import { moveSeasons, movesOfSeasons, sinceOfAddedWindows } from './window-changes.js';

const PURGE_CHUNK_ROWS = 5000;
const TABLES_BY_WINDOW = [
  'rolling_hours',
  'frozen_entries',
  'guild_totals',
  'guild_kept',
  'entry_history',
  'attempts',
  'entry_feeds',
  'run_bases',
  'revisions_due',
  'restatements',
  'restated_entries',
  'last_feeds',
];

const TABLES_OF_FLAGS = ['flag_runs', 'run_acts', 'rule_examinations', 'flags'];

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
   * Creates or replaces a definition; the one that is there already changes nothing.
   * @param actor who is named in the audit log
   * @throws PRECONDITION_FAILED, BOARD_NOT_EMPTY, BOARD_IN_USE, NOT_SUPPORTED, WINDOW_CLOSED, WINDOW_MISMATCH
   */
  async put(
    id: string,
    definition: BoardDefinition,
    condition: PutCondition = {},
    actor = 'the service',
  ): Promise<{ board: Board; created: boolean }> {
    return this.allLanes.change(async (transaction) => {
      const current = await findBoard(transaction, id);
      assertTagMatches(id, current && tagOf(current), condition.ifMatch ?? null);
      if (condition.onlyCreate && current) {
        throw new LadderError('PRECONDITION_FAILED', `Board "${id}" exists already (If-None-Match: *).`);
      }
      const act = { actor, subject: id, details: { definition } };
      if (!current) {
        await recordAudit(transaction, { ...act, action: 'board.create' });
        return { board: await createBoard(transaction, this.lanes, id, { definition }), created: true };
      }
      const template = await linkAfterHand(transaction, current, definition);
      const isAsItIs = isDeepStrictEqual([current.definition, current.template], [definition, template]);
      if (isAsItIs) return { board: boardOf(id, current), created: false };
      await recordAudit(transaction, { ...act, action: 'board.replace' });
      return { board: await this.replace(transaction, current, id, definition, template), created: false };
    });
  }

  /**
   * What would be refused of another definition of a board; nothing is written.
   * @returns whether the board would begin anew, under another uid
   * @throws BOARD_NOT_EMPTY, BOARD_IN_USE, NOT_SUPPORTED, WINDOW_CLOSED, WINDOW_MISMATCH
   */
  async assertTakes(runner: SqlRunner, current: BoardRow, id: string, definition: BoardDefinition): Promise<boolean> {
    if (current.feed) {
      refuseUnfeedable(id, definition, current.feed);
      refuseOtherColumns(id, current.definition, definition, current.feed);
      await refuseUnkept(runner, id, definition, current.feed);
    }
    const isFull = await hasEntries(runner, current.board_uid);
    const before = current.definition;
    if (isFull && !keepsEntries(before, definition)) throw refusalOfChange(before, definition);
    const { serving, opening } = current.layouts;
    const isKeptSo = opening === null && fitsLayout(serving, definition);
    const beginsAnew = !isFull && !(isKeptSo && keepsWindows(before, definition));
    if (!beginsAnew) await movesOfSeasons(runner, current.board_uid, before, definition);
    return beginsAnew;
  }

  /** Gives a live board another definition, in a transaction that holds all lanes; throws as {@link assertTakes}. */
  async replace(
    transaction: SqlRunner,
    current: FoundBoard,
    id: string,
    definition: BoardDefinition,
    template: TemplateLink | null,
  ): Promise<Board> {
    const beginsAnew = await this.assertTakes(transaction, current, id, definition);
    if (!beginsAnew) return this.redefine(transaction, current, id, definition, template);
    // Late events of the old order must not reach the new one: the empty board gets a uid of its own.
    await unlinkBoard(transaction, this.lanes, current.board_uid);
    return this.begin(transaction, id, definition, { ...current, template });
  }

  private async redefine(
    transaction: SqlRunner,
    current: FoundBoard,
    id: string,
    definition: BoardDefinition,
    template: TemplateLink | null,
  ): Promise<Board> {
    const uid = current.board_uid;
    const before = current.definition;
    const windowsSinceMs = await sinceOfAddedWindows(transaction, before, definition, current.windows_since);
    await moveSeasons(transaction, uid, before, definition);
    await beginLimits(transaction, uid, before.limits, definition.limits);
    const layouts = await layoutsFor(transaction, current, definition);
    const revision = await announceBoard(transaction, this.lanes, uid, id);
    const runsFrom = definition.runs && (current.runs_from ?? revision);
    const row: FoundBoard = {
      ...current,
      revision,
      definition_revision: revision,
      definition,
      windows_since: windowsSinceMs,
      layouts,
      runs_from: runsFrom,
      template,
    };
    await transaction.query(
      `UPDATE boards SET definition = $2, revision = $3, definition_revision = $3, windows_since = $4,
         rescope = rescope OR $5, layouts = $6, runs_from = $7::bigint, template = $8,
         runs_left = runs_left OR (runs_from IS NOT NULL AND $7::bigint IS NULL)
       WHERE board_uid = $1`,
      [
        uid,
        JSON.stringify(definition),
        revision,
        JSON.stringify(windowsSinceMs),
        differsInScopes(before, definition),
        JSON.stringify(layouts),
        runsFrom,
        template && JSON.stringify(template),
      ],
    );
    // Submissions fill new windows by themselves; here who plays no more would never come into them.
    const hasOtherWindows = JSON.stringify(before.windows) !== JSON.stringify(definition.windows);
    if (current.feed && hasOtherWindows) await beginFill(transaction, current.feed.poolUid, uid);
    // Games count that had come too late for windows that are not closed.
    const closesLater = definition.graceSeconds > before.graceSeconds;
    if (current.feed && closesLater) await fillByNewRules(transaction, this.lanes, current.feed);
    return boardOf(id, row);
  }

  /** @throws BOARD_NOT_FOUND, PRECONDITION_FAILED, BOARD_IN_USE */
  async delete(id: string, ifMatch: string | null, actor: string): Promise<void> {
    await this.allLanes.change(async (transaction) => {
      const current = await findBoard(transaction, id);
      if (!current) throw boardNotFound(id);
      assertTagMatches(id, tagOf(current), ifMatch);
      await this.remove(transaction, current, id, actor);
    });
  }

  /**
   * Deletes a live board, in a transaction that holds all lanes.
   * @throws BOARD_IN_USE
   */
  async remove(transaction: SqlRunner, current: BoardRow, id: string, actor: string): Promise<void> {
    assertNotFed(id, current);
    await recordAudit(transaction, { actor, action: 'board.delete', subject: id, details: {} });
    await unlinkBoard(transaction, this.lanes, current.board_uid);
  }

  /**
   * Empties a board: the same definition under a new uid.
   * @throws BOARD_NOT_FOUND
   */
  async reset(id: string, actor: string): Promise<Board> {
    return this.allLanes.change(async (transaction) => {
      const current = await findBoard(transaction, id);
      if (!current) throw boardNotFound(id);
      await recordAudit(transaction, { actor, action: 'board.reset', subject: id, details: {} });
      await unlinkBoard(transaction, this.lanes, current.board_uid);
      return this.begin(transaction, id, current.definition, current);
    });
  }

  /** The same board under a new uid, without entries: where a pool feeds it, they come from there again. */
  private async begin(
    transaction: SqlRunner,
    id: string,
    definition: BoardDefinition,
    { feed, template }: Pick<BoardRow, 'feed' | 'template'>,
  ): Promise<Board> {
    const board = await createBoard(transaction, this.lanes, id, { definition, feed, template });
    if (feed) await beginFill(transaction, feed.poolUid, board.uid);
    return board;
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
      `DELETE FROM edition_changes WHERE ctid IN (SELECT c.ctid FROM windows w JOIN editions USING (window_uid)
        JOIN edition_changes c USING (edition_uid) WHERE w.board_uid = $1 LIMIT ${PURGE_CHUNK_ROWS}) RETURNING 1`,
      `DELETE FROM editions WHERE ctid IN (SELECT e.ctid FROM windows w JOIN editions e USING (window_uid)
        WHERE w.board_uid = $1 LIMIT ${PURGE_CHUNK_ROWS}) RETURNING 1`,
      `DELETE FROM runs WHERE (board_uid, player_id, position) IN (SELECT board_uid, player_id, position FROM runs
        WHERE board_uid = $1 LIMIT ${PURGE_CHUNK_ROWS}) RETURNING 1`,
      `DELETE FROM submissions WHERE ctid IN (SELECT ctid FROM submissions WHERE board_uid = $1 LIMIT ${PURGE_CHUNK_ROWS})
        RETURNING 1`,
      ...TABLES_OF_FLAGS.map(
        (table) => `DELETE FROM ${table} WHERE ctid IN (SELECT ctid FROM ${table} WHERE board_uid = $1
          LIMIT ${PURGE_CHUNK_ROWS}) RETURNING 1`,
      ),
    ];
    for (const chunk of chunks) while ((await this.database.query(chunk, [boardUid])).length === PURGE_CHUNK_ROWS);
    await this.database.query('DELETE FROM metadata_boards WHERE board_uid = $1', [boardUid]);
  }
}

/**
 * @param tag the board's entity tag; undefined: there is no board
 * @throws PRECONDITION_FAILED
 */
export function assertTagMatches(id: string, tag: string | undefined, ifMatch: string | null): void {
  if (ifMatch === null || (tag !== undefined && namesTag(ifMatch, tag))) return;
  throw new LadderError('PRECONDITION_FAILED', `Board "${id}" is not the one If-Match names; read it again.`);
}

/** @throws BOARD_IN_USE where a pool feeds the board: it is taken out of the pool first */
export function assertNotFed(id: string, { feed }: Pick<BoardRow, 'feed'>): void {
  if (!feed) return;
  throw new LadderError('BOARD_IN_USE', `Pool "${feed.pool}" feeds board "${id}": take it out of the pool first.`);
}

const boardNotFound = (id: string): LadderError => new LadderError('BOARD_NOT_FOUND', `There is no board "${id}".`);

const tagOf = (row: BoardRow): string =>
  entityTagOf({ uid: row.board_uid, definitionRevision: row.definition_revision });

/** Whether the stored windows and layouts of an empty board fit the new definition. */
const keepsWindows = (from: BoardDefinition, to: BoardDefinition): boolean =>
  keepsEntries(from, to) && !differsInWindows(from, to) && wantsDense(from) === wantsDense(to);
