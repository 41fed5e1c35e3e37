import { isDeepStrictEqual } from 'node:util';
import { LadderError, type Board, type BoardDefinition } from '@laddercast/domain';
import { recordAudit } from './audit-log.js';
import { appendEvent, nextPosition, takeAllLanes, type Lanes } from './lanes.js';
import type { PostgresDatabase, SqlRunner } from './postgres-database.js';

const PURGE_CHUNK_ROWS = 5000;

interface BoardRow {
  board_uid: number;
  revision: number;
  definition: BoardDefinition;
}

/** What must hold for a definition to be put. */
export interface PutCondition {
  /** The entity tag that the board must still have. */
  ifMatch?: string | null;
  /** Whether the board must not exist. */
  onlyCreate?: boolean;
}

/** A board's entity tag: it changes with every change of the board, and never comes back. */
export const entityTagOf = (board: Pick<Board, 'uid' | 'revision'>): string => `"${board.uid}-${board.revision}"`;

/** Creates, redefines, resets and deletes boards: each under all lanes, so that no write of an entry is under way. */
export class BoardRegistry {
  private lastChange: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly database: PostgresDatabase,
    private readonly lanes: Lanes,
  ) {}

  /**
   * Creates or replaces a definition.
   * @param actor who is named in the audit log
   * @throws PRECONDITION_FAILED, BOARD_NOT_EMPTY, NOT_SUPPORTED
   */
  async put(
    id: string,
    definition: BoardDefinition,
    condition: PutCondition = {},
    actor = 'the service',
  ): Promise<{ board: Board; created: boolean }> {
    return this.underAllLanes(async (transaction) => {
      const current = await this.find(transaction, id);
      assertMatches(id, current, condition.ifMatch ?? null);
      if (condition.onlyCreate && current) {
        throw new LadderError('PRECONDITION_FAILED', `Board "${id}" exists already (If-None-Match: *).`);
      }
      const action = current ? 'board.replace' : 'board.create';
      await recordAudit(transaction, { actor, action, subject: id, details: { definition } });
      if (!current) return { board: await this.create(transaction, id, definition), created: true };
      const kept = keepsEntries(current.definition, definition);
      if (!kept && (await this.hasEntries(transaction, current.board_uid))) {
        throw refusalOfChange(current.definition, definition);
      }
      if (!kept) {
        // Late events of the old order must not reach the new one: the empty board gets a uid of its own.
        await this.unlink(transaction, current.board_uid);
        return { board: await this.create(transaction, id, definition), created: false };
      }
      const revision = await this.announce(transaction, current.board_uid, id);
      await transaction.query('UPDATE boards SET definition = $2, revision = $3 WHERE board_uid = $1', [
        current.board_uid,
        JSON.stringify(definition),
        revision,
      ]);
      return { board: { uid: current.board_uid, id, revision, definition }, created: false };
    });
  }

  /** @throws BOARD_NOT_FOUND, PRECONDITION_FAILED */
  async delete(id: string, ifMatch: string | null, actor: string): Promise<void> {
    await this.underAllLanes(async (transaction) => {
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
    return this.underAllLanes(async (transaction) => {
      const current = await this.find(transaction, id);
      if (!current) throw boardNotFound(id);
      await recordAudit(transaction, { actor, action: 'board.reset', subject: id, details: {} });
      await this.unlink(transaction, current.board_uid);
      return this.create(transaction, id, current.definition);
    });
  }

  /** The definition of a board that was deleted or reset; undefined while it lives, or when it never did. */
  async definitionOfGone(boardUid: number): Promise<BoardDefinition | undefined> {
    const [row] = await this.database.query<{ definition: BoardDefinition }>(
      'SELECT definition FROM boards WHERE board_uid = $1 AND board_id IS NULL',
      [boardUid],
    );
    return row?.definition;
  }

  /** Deletes the entries and submissions of a board that is gone, a chunk at a time. Its windows' rows stay. */
  async purgeRows(boardUid: number): Promise<void> {
    const chunks = [
      `DELETE FROM entries WHERE ctid IN (SELECT e.ctid FROM windows w JOIN entries e USING (window_uid)
        WHERE w.board_uid = $1 LIMIT ${PURGE_CHUNK_ROWS}) RETURNING 1`,
      `DELETE FROM submissions WHERE ctid IN (SELECT ctid FROM submissions WHERE board_uid = $1 LIMIT ${PURGE_CHUNK_ROWS})
        RETURNING 1`,
    ];
    for (const chunk of chunks) while ((await this.database.query(chunk, [boardUid])).length === PURGE_CHUNK_ROWS);
  }

  /** One change at a time: a connection that waits for the lanes is one that their writers cannot have. */
  private underAllLanes<T>(work: (transaction: SqlRunner) => Promise<T>): Promise<T> {
    const change = this.lastChange.then(() =>
      this.database.transaction(async (transaction) => {
        await takeAllLanes(transaction, this.lanes);
        return work(transaction);
      }),
    );
    this.lastChange = change.catch(() => undefined);
    return change;
  }

  private async find(transaction: SqlRunner, id: string): Promise<BoardRow | undefined> {
    const [row] = await transaction.query<BoardRow>(
      'SELECT board_uid, revision, definition FROM boards WHERE board_id = $1',
      [id],
    );
    return row;
  }

  private async create(transaction: SqlRunner, id: string, definition: BoardDefinition): Promise<Board> {
    const [row] = await transaction.query<{ board_uid: number }>(
      'INSERT INTO boards (board_id, definition, revision) VALUES ($1, $2, 0) RETURNING board_uid',
      [id, JSON.stringify(definition)],
    );
    const uid = row!.board_uid;
    const revision = await this.announce(transaction, uid, id);
    await transaction.query('UPDATE boards SET revision = $2 WHERE board_uid = $1', [uid, revision]);
    return { uid, id, revision, definition };
  }

  private async unlink(transaction: SqlRunner, uid: number): Promise<void> {
    const revision = await this.announce(transaction, uid, null);
    await transaction.query('UPDATE boards SET board_id = NULL, revision = $2 WHERE board_uid = $1', [uid, revision]);
  }

  /** Writes the change into every lane; the first position is the board's revision. */
  private async announce(transaction: SqlRunner, boardUid: number, boardId: string | null): Promise<number> {
    const revision = await nextPosition(transaction);
    for (const lane of this.lanes.all) {
      const position = await nextPosition(transaction);
      await appendEvent(transaction, lane, position, String(boardUid), {
        type: 'board-changed',
        boardUid,
        boardId,
        revision,
      });
    }
    return revision;
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

/** @throws PRECONDITION_FAILED */
function assertMatches(id: string, current: BoardRow | undefined, ifMatch: string | null): void {
  if (ifMatch === null || (current && matches(ifMatch, current))) return;
  throw new LadderError('PRECONDITION_FAILED', `Board "${id}" is not the one If-Match names; read it again.`);
}

const boardNotFound = (id: string): LadderError => new LadderError('BOARD_NOT_FOUND', `There is no board "${id}".`);

function matches(ifMatch: string, row: BoardRow): boolean {
  const tag = entityTagOf({ uid: row.board_uid, revision: row.revision });
  return ifMatch.split(',').some((candidate) => candidate.trim() === '*' || candidate.trim() === tag);
}

/** Options that decide the order of what is there. */
const ORDERING_OPTIONS = ['order', 'operator', 'tiebreak', 'columns'] as const;
/** Options that what is stored was written under; a later release changes some of them in the background. */
const LAYOUT_OPTIONS = [
  'sharding',
  'windows',
  'timeZone',
  'scopes',
  'submitters',
  'graceSeconds',
  'keepEndedSeconds',
] as const;

const differing = <Option extends keyof BoardDefinition>(
  options: readonly Option[],
  a: BoardDefinition,
  b: BoardDefinition,
): Option[] => options.filter((option) => !isDeepStrictEqual(a[option], b[option]));

function keepsEntries(from: BoardDefinition, to: BoardDefinition): boolean {
  return differing([...ORDERING_OPTIONS, ...LAYOUT_OPTIONS], from, to).length === 0;
}

function refusalOfChange(from: BoardDefinition, to: BoardDefinition): LadderError {
  const ordering = differing(ORDERING_OPTIONS, from, to);
  if (ordering.length > 0) {
    return new LadderError(
      'BOARD_NOT_EMPTY',
      `${ordering.join(', ')} cannot change while the board has entries: reset it first, or make another board.`,
    );
  }
  const layout = differing(LAYOUT_OPTIONS, from, to);
  return new LadderError(
    'NOT_SUPPORTED',
    `${layout.join(', ')} of a board with entries cannot be changed yet: reset it first, or make another board.`,
    { option: layout[0] },
  );
}
