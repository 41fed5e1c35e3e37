import {
  firstLayouts,
  firstVersions,
  shardCountOf,
  versionsAfter,
  withBoardDefaults,
  type Board,
  type BoardDefinition,
  type BoardFeed,
  type Layouts,
  type ListVersions,
  type PatchFamily,
} from '@laddercast/domain';
import { ledgerNowMs } from '../database/ledger-clock.js';
import type { SqlRunner } from '../database/postgres-database.js';
import { announceBoard } from '../lanes/lane-events.js';
import { type Lanes } from '../lanes/lanes.js';
import { firstTax, patchFamily } from '../patches/patch-families.js';
import { forgetPatchUse } from '../patches/patch-uses.js';
import type { TemplateLink } from './template-layers.js';

/** How far the clocks of processes, which give lists' counters their start, may be ahead of the ledger's. */
const CLOCKS_APART_MS = 60_000;

export interface BoardRow {
  board_uid: number;
  revision: number;
  definition_revision: number;
  definition: BoardDefinition;
  windows_since: Record<string, number>;
  layouts: Layouts;
  feed: BoardFeed | null;
  runs_from: number | null;
  family_uid: number | null;
  /** null: it is of no template. */
  template: TemplateLink | null;
}

/** A row, with what its board knows of its family of patches. */
export interface FoundBoard extends BoardRow {
  patches?: PatchFamily;
}

const BOARD_COLUMNS = `board_uid, revision, definition_revision, definition, windows_since, layouts, feed, runs_from,
  family_uid, template`;

/** The live board of that id. */
export async function findBoard(transaction: SqlRunner, id: string): Promise<FoundBoard | undefined> {
  const [row] = await transaction.query<BoardRow>(`SELECT ${BOARD_COLUMNS} FROM boards WHERE board_id = $1`, [id]);
  if (!row) return undefined;
  const patches = row.family_uid === null ? undefined : await patchFamily(transaction, row.family_uid);
  return { ...asOfNow(row), ...(patches && { patches }) };
}

/** The live boards of these ids, and those of a template, by id. */
export async function boardsOfTemplate(
  runner: SqlRunner,
  templateId: string,
  ids: readonly string[],
): Promise<Map<string, BoardRow>> {
  const rows = await runner.query<BoardRow & { id: string }>(
    `SELECT board_id AS id, ${BOARD_COLUMNS} FROM boards
     WHERE board_id = ANY($2) OR (template ->> 'id' = $1 AND template IS NOT NULL AND board_id IS NOT NULL)
     ORDER BY board_id`,
    [templateId, ids],
  );
  return new Map(rows.map(({ id, ...row }) => [id, asOfNow(row)]));
}

/** Definitions that an earlier release stored lack later options. */
const asOfNow = (row: BoardRow): BoardRow => ({ ...row, definition: withBoardDefaults(row.definition) });

/** What a board is made of. */
export interface NewBoard {
  definition: BoardDefinition;
  feed?: BoardFeed | null;
  template?: TemplateLink | null;
}

/** Makes a board under a uid of its own, in a transaction that holds all lanes; nobody has the id. */
export async function createBoard(
  transaction: SqlRunner,
  lanes: Lanes,
  id: string,
  { definition, feed = null, template = null }: NewBoard,
): Promise<Board> {
  const taxed = definition.decay && (await firstTax(transaction, definition.decay));
  const layouts = firstLayouts(definition, await versionsFrom(transaction, id), taxed?.tax);
  const [row] = await transaction.query<{ board_uid: number }>(
    `INSERT INTO boards (board_id, definition, layouts, feed, revision, family_uid, family_revision, template)
     VALUES ($1, $2, $3, $4, 0, $5, $6, $7) RETURNING board_uid`,
    [
      ...[id, JSON.stringify(definition), JSON.stringify(layouts), feed && JSON.stringify(feed)],
      ...[taxed?.family.uid ?? null, taxed?.familyRevision ?? 0, template && JSON.stringify(template)],
    ],
  );
  const uid = row!.board_uid;
  const revision = await announceBoard(transaction, lanes, uid, id);
  const runsFrom = definition.runs && revision;
  await transaction.query(
    'UPDATE boards SET revision = $2, definition_revision = $2, runs_from = $3 WHERE board_uid = $1',
    [uid, revision, runsFrom],
  );
  return boardOf(id, {
    ...{ board_uid: uid, revision, definition_revision: revision, definition, windows_since: {}, layouts },
    ...{ feed, template, runs_from: runsFrom, family_uid: taxed?.family.uid ?? null },
    ...(taxed && { patches: taxed.family }),
  });
}

/** The board of a row. */
export function boardOf(id: string, row: FoundBoard): Board {
  const { board_uid: uid, revision, definition_revision: definitionRevision, definition, layouts } = row;
  const { windows_since: windowsSinceMs, feed, template, runs_from: runsFrom, patches } = row;
  return {
    ...{ uid, id, revision, definitionRevision, definition, windowsSinceMs, layouts },
    ...(feed && { feed }),
    ...(template && { template: template.id }),
    ...(runsFrom !== null && { runsFrom }),
    ...(patches && { patches }),
  };
}

/** Takes the id from a board, in a transaction that holds all lanes: the uid is never used again. */
export async function unlinkBoard(transaction: SqlRunner, lanes: Lanes, uid: number): Promise<void> {
  const [board] = await transaction.query<{ id: string }>(
    'SELECT board_id AS id FROM boards WHERE board_uid = $1 AND board_id IS NOT NULL',
    [uid],
  );
  const revision = await announceBoard(transaction, lanes, uid, null, board?.id);
  await forgetPatchUse(transaction, uid);
  await transaction.query(
    'UPDATE boards SET former_id = board_id, board_id = NULL, revision = $2 WHERE board_uid = $1',
    [uid, revision],
  );
}

/** Whether a window of the board has an entry, or may have one again: by a run that is held, or voided. */
export async function hasEntries(transaction: SqlRunner, boardUid: number): Promise<boolean> {
  const rows = await transaction.query(
    `SELECT 1 FROM windows w WHERE w.board_uid = $1
      AND EXISTS (SELECT 1 FROM entries e WHERE e.window_uid = w.window_uid AND NOT e.removed)
     UNION ALL SELECT 1 FROM runs WHERE board_uid = $1 AND (held OR voided) LIMIT 1`,
    [boardUid],
  );
  return rows.length > 0;
}

/** Where a new board's versions begin: above those of the board that had the id before. */
async function versionsFrom(transaction: SqlRunner, id: string): Promise<ListVersions> {
  const now = await ledgerNowMs(transaction);
  const first = firstVersions(now);
  const [before] = await transaction.query<Pick<BoardRow, 'layouts'>>(
    'SELECT layouts FROM boards WHERE former_id = $1 ORDER BY board_uid DESC LIMIT 1',
    [id],
  );
  if (!before) return first;
  const { sharding, versions } = before.layouts.serving;
  const next = versionsAfter({ shards: shardCountOf(sharding), versions }, now, now + CLOCKS_APART_MS);
  return next.base > first.base ? next : first;
}
