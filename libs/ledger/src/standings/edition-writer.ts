import {
  entryOfKey,
  patchOrderAt,
  withBoardDefaults,
  type BoardDefinition,
  type PatchFamily,
  type RankStyle,
} from '@laddercast/domain';
import type { EditionKind } from '../catalogs/edition-catalog.js';
import { nextPosition } from '../lanes/lane-events.js';
import { takeLaneOf } from '../lanes/lane-locks.js';
import type { EntryTax } from '../entries/taxed-entries-sql.js';
import type { SqlRunner } from '../database/postgres-database.js';
import { PREVIEW_SCOPES_MAX, previewStandingsSql, READ_EDITION_START, writeStandingsSql } from './standings-sql.js';

/** The longest that one statement which writes an edition may take: some ten million rows. */
export const EDITION_TIMEOUT_MS = 600_000;
/** How long a written edition waits for its lane; the work of minutes is worth more than that of a moment. */
const SEAL_LOCK_TIMEOUT_MS = 30_000;

/** A window with its board, as closing and keeping look at them. */
export interface WindowOfDefinition {
  windowUid: number;
  windowId: string;
  boardUid: number;
  boardId: string;
  definition: BoardDefinition;
}

export interface WindowRow {
  window_uid: number;
  window_id: string;
  board_uid: number;
  board_id: string;
  definition: BoardDefinition;
}

/** What {@link windowOfRow} reads of `windows w JOIN boards b`. */
export const WINDOW_COLUMNS = 'w.window_uid, w.window_id, b.board_uid, b.board_id, b.definition';

export const windowOfRow = (row: WindowRow): WindowOfDefinition => ({
  windowUid: row.window_uid,
  windowId: row.window_id,
  boardUid: row.board_uid,
  boardId: row.board_id,
  definition: withBoardDefaults(row.definition),
});

/** What an edition was written of is not as it was: the board is gone, or the window moved. It is rolled back. */
export class EditionOvertakenError extends Error {
  constructor(windowUid: number) {
    super(`Window ${windowUid} changed while its standings were written.`);
    this.name = 'EditionOvertakenError';
  }
}

/** What decides an edition's rows beside the entries, and may change afterwards: later editions of the window keep it. */
export interface EditionRules extends Pick<BoardDefinition, 'scopes' | 'guildAggregate'> {
  /** The number of the order of patches that taxes its scores; absent: they are not taxed. */
  taxOrder?: number;
}

/** With an edition of a board that a pool feeds stand the pool's rules of who is ranked: as `pool`, beside {@link EditionRules}. */
const WITH_RULES_OF_POOL = `$5::jsonb || coalesce((
  SELECT jsonb_build_object('pool', jsonb_build_object(
    'rankable', p.definition -> 'rankable', 'provisional', p.definition -> 'provisional'))
  FROM boards b JOIN pools p ON p.pool_uid = (b.feed ->> 'poolUid')::int WHERE b.board_uid = $6), '{}')`;

/**
 * Writes a window's standings as they are in the transaction, which ends with {@link sealEdition}.
 * @param moment `asOf`: the moment, as PostgreSQL writes it; `top`: how many rows of each list, null for all; `number`: of
 *   the edition among those of its moment, 1 where it is not given
 * @returns the edition's uid, and the acts that were noted and are in it; null when there is one of that kind, moment and
 *   number already
 */
export async function writeEdition(
  transaction: SqlRunner,
  { windowUid, boardUid, definition }: WindowOfDefinition,
  kind: EditionKind,
  { asOf, top, number = 1 }: { asOf: string; top: number | null; number?: number },
): Promise<{ uid: number; acts: number[] } | null> {
  const { scopes, guildAggregate } = definition;
  const tax = await taxAt(transaction, windowUid, definition, asOf);
  const rules: EditionRules = { scopes, guildAggregate, ...(tax && { taxOrder: tax.order.number }) };
  const [edition] = await transaction.query<{ edition_uid: number }>(
    `INSERT INTO editions (window_uid, kind, as_of, version, number, rules)
     VALUES ($1, $2, $3, 0, $4, ${WITH_RULES_OF_POOL})
     ON CONFLICT (window_uid, kind, as_of, number) DO NOTHING RETURNING edition_uid`,
    [windowUid, kind, asOf, number, JSON.stringify(rules), boardUid],
  );
  if (edition === undefined) return null;
  const uid = edition.edition_uid;
  const seen = await transaction.query<{ act: number }>(writeStandingsSql(definition, kind, tax), [
    windowUid,
    asOf,
    uid,
    top,
  ]);
  return { uid, acts: seen.map(({ act }) => act) };
}

/** The tax of a window's entries at a moment, as PostgreSQL writes it, or at its end before that; null: they are not taxed. */
async function taxAt(
  transaction: SqlRunner,
  windowUid: number,
  definition: BoardDefinition,
  moment: string,
): Promise<EntryTax | null> {
  if (!definition.decay) return null;
  const [family] = await transaction.query<Pick<PatchFamily, 'orders'> & { atMs: number }>(
    `SELECT f.orders, (extract(epoch FROM
       least(CASE $2 WHEN 'now' THEN ladder_now() ELSE $2::timestamptz END, w.ends_at)) * 1000)::float8 AS "atMs"
     FROM windows w JOIN boards b USING (board_uid) JOIN patch_families f USING (family_uid) WHERE w.window_uid = $1`,
    [windowUid, moment],
  );
  return { definition, order: patchOrderAt(family!, family!.atMs) };
}

/** When an edition of each kind is still one of its window as it is. */
const STILL_HOLDS: Record<EditionKind, string> = {
  final: `w.state = CASE e.number WHEN 1 THEN 'closed' ELSE 'settled' END`,
  frozen: `w.state = 'open' AND w.freeze_at = e.as_of`,
  kept: 'true',
  day: 'true',
};

/**
 * Gives a written edition its version. The lane of the board's events is held from here to the commit: whatever changes
 * a board or a window holds all lanes, so what is looked at now stays.
 * @returns the version, a log position of that lane, and the lane
 * @throws EditionOvertakenError
 */
export async function sealEdition(
  transaction: SqlRunner,
  { windowUid, boardUid }: WindowOfDefinition,
  edition: { uid: number; kind: EditionKind },
): Promise<{ version: number; lane: number }> {
  await transaction.query(`SET LOCAL lock_timeout = ${SEAL_LOCK_TIMEOUT_MS}`);
  const lane = await takeLaneOf(transaction, String(boardUid));
  const version = await nextPosition(transaction);
  const sealed = await transaction.query(
    `UPDATE editions e SET version = $2 FROM windows w JOIN boards b USING (board_uid)
     WHERE e.edition_uid = $1 AND w.window_uid = e.window_uid AND b.board_id IS NOT NULL AND ${STILL_HOLDS[edition.kind]}
     RETURNING 1`,
    [edition.uid, version],
  );
  if (sealed.length === 0) throw new EditionOvertakenError(windowUid);
  return { version, lane };
}

/** The beginning of one list of an edition. */
export interface StandingsPreview {
  /** `global`, `guilds`, `region:EU`. */
  scope: string;
  total: number;
  /** The first ten, with their ranks in the board's style; `entryId` where each run is an entry. */
  top: { rank: number; playerId: string; entryId?: string; score: number }[];
}

interface PreviewRow {
  scope: string;
  total: number;
  rank: number | null;
  /** Or the key of a run's entry. */
  player_id: string;
  score: number;
}

/**
 * What the final standings of a window would be now: each list with its first ten rows, of many lists those of
 * everybody, of guilds, and the longest.
 */
export async function previewStandings(
  transaction: SqlRunner,
  { windowUid, definition }: WindowOfDefinition,
): Promise<StandingsPreview[]> {
  const tax = await taxAt(transaction, windowUid, definition, 'now');
  return listsOf(await transaction.query<PreviewRow>(previewStandingsSql(definition, tax), [windowUid, 'now']));
}

/** The same of standings that are written. */
export async function startOfEdition(
  sql: SqlRunner,
  editionUid: number,
  rankStyle: RankStyle,
): Promise<StandingsPreview[]> {
  return listsOf(await sql.query<PreviewRow>(READ_EDITION_START, [editionUid, rankStyle, PREVIEW_SCOPES_MAX]));
}

function listsOf(rows: readonly PreviewRow[]): StandingsPreview[] {
  const lists = new Map<string, StandingsPreview>();
  for (const { scope, total, rank, player_id, score } of rows) {
    const list = lists.get(scope) ?? { scope, total, top: [] };
    if (rank !== null) list.top.push({ rank, ...entryOfKey(player_id), score });
    lists.set(scope, list);
  }
  // Nobody played: that too is an answer.
  return lists.size > 0 ? [...lists.values()] : [{ scope: 'global', total: 0, top: [] }];
}
