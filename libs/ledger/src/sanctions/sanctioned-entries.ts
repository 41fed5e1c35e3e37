import {
  runOfKey,
  withBoardDefaults,
  type BoardDefinition,
  type EntryChange,
  type EntryChanged,
  type KeptPatchRun,
} from '@laddercast/domain';
import { keptAfterEndMs, runsOfEvent, type EntryRow } from '../entries/entry-rows.js';
import { isRunOfSql } from '../entries/run-keys-sql.js';
import { IS_UNRANKED, sanctionInForceSql } from '../entries/unranked-sql.js';
import { drawPositions } from '../lanes/lane-events.js';
import type { SqlRunner } from '../database/postgres-database.js';
import type { TouchedPlayer } from '../standings/revision-notes.js';
import { storeEntries } from '../reemission/entry-reemission.js';

/** The most entries of one transaction; a lane's runs wait some milliseconds for it. */
const ENTRIES_AT_ONCE = 250;
/** The most windows that one transaction looks for entries in. */
const WINDOWS_AT_ONCE = 2000;

/**
 * Those of the player's runs where each is one: that stand, or that only a frozen window shows, which is joined to what is
 * removed.
 */
const RUNS_OF_PLAYER = `
    (SELECT * FROM entries WHERE window_uid = w.window_uid AND ${isRunOfSql('$1')} AND NOT removed)
    UNION ALL
    (SELECT n.* FROM frozen_entries f JOIN entries n USING (window_uid, player_id)
      WHERE f.window_uid = w.window_uid AND ${isRunOfSql('$1', 'f.player_id')}
        AND n.removed)`;

/**
 * The entries of player `$1` in windows after `$2` that are not as the sanction in force says: of a page of windows, a
 * probe of the primary key for each.
 */
const DIFFERING = `
  SELECT b.board_uid, b.board_id, b.definition, w.window_uid, w.window_id, w.state <> 'open' AS is_closed,
    coalesce(w.freeze_at <= ladder_now(), false) AS is_frozen, (extract(epoch FROM w.ends_at) * 1000)::float8 AS ends_at_ms,
    NOT e.unranked AS unranked, e.player_id, e.version, e.removed, e.score, e.columns, e.achieved_at_ms, e.metadata, e.scopes, e.left_scopes,
    e.patch_runs
  FROM (SELECT * FROM windows WHERE window_uid > $2 ORDER BY window_uid LIMIT ${WINDOWS_AT_ONCE}) AS w
  CROSS JOIN LATERAL (SELECT * FROM boards WHERE board_uid = w.board_uid LIMIT 1) AS b
  CROSS JOIN LATERAL (
    (SELECT * FROM entries WHERE window_uid = w.window_uid AND player_id = $1 LIMIT 1)
    UNION ALL ${RUNS_OF_PLAYER}) AS e
  ${sanctionInForceSql('$1')}
  WHERE b.board_id IS NOT NULL AND e.unranked <> ${IS_UNRANKED}
  ORDER BY w.window_uid LIMIT ${ENTRIES_AT_ONCE}`;

/** The last window of that page; null: it was the last page. */
const LAST_OF_PAGE = `
  SELECT CASE WHEN count(*) = ${WINDOWS_AT_ONCE} THEN max(window_uid) END AS last
  FROM (SELECT window_uid FROM windows WHERE window_uid > $1 ORDER BY window_uid LIMIT ${WINDOWS_AT_ONCE}) AS page`;

interface DifferingRow {
  board_uid: number;
  board_id: string;
  definition: BoardDefinition;
  window_uid: number;
  window_id: string;
  is_closed: boolean;
  is_frozen: boolean;
  ends_at_ms: number | null;
  /** As it is to be: it differs, so it is the other way. */
  unranked: boolean;
  /** Or the key of a run's entry. */
  player_id: string;
  version: number;
  removed: boolean;
  score: number;
  columns: number[];
  achieved_at_ms: number;
  metadata: string | null;
  scopes: number[];
  left_scopes: number[];
  patch_runs: KeptPatchRun[] | null;
}

/** What a sanction did to an entry, as the audit log says it; null: others see none. */
export interface SanctionedEntry {
  board: string;
  window: string;
  windowUid: number;
  before: { score: number; columns: number[] } | null;
  after: { score: number; columns: number[] } | null;
  /** Whether standings of the window are written already. */
  isWritten: boolean;
}

/** A part of a player's entries that now is as the player's sanction says. */
export interface FollowedPart {
  entries: SanctionedEntry[];
  /** Rows of standings that may differ: those of the entries, and of what only frozen standings show. */
  touched: TouchedPlayer[];
  /** Up to which window; null: there is none behind it. */
  upTo: number | null;
}

/**
 * Brings the next part of a player's entries to what the sanction in force says, or to what they are without one, in a
 * lane that the transaction holds. Where the projection keeps the window it is told by an ordinary event: that there is no
 * entry, or the entry again.
 */
export async function followSanction(
  transaction: SqlRunner,
  { lane, playerId, after, nowMs }: { lane: number; playerId: string; after: number; nowMs: number },
): Promise<FollowedPart> {
  const [page] = await transaction.query<{ last: number | null }>(LAST_OF_PAGE, [after]);
  const found = await transaction.query<DifferingRow>(DIFFERING, [playerId, after]);
  const told = found.filter((row) => mayShow(row) && isProjected(row, nowMs));
  const boards = [...new Set(told.map((row) => row.board_uid))];
  const positions = await drawPositions(transaction, boards.length);
  const versions = new Map(boards.map((boardUid, index) => [boardUid, positions[index]!]));
  const rows = found.map((row) => entryRow(row, told.includes(row) ? versions.get(row.board_uid)! : row.version));
  const events = boards.map((boardUid): EntryChanged => {
    const changes = told.filter((row) => row.board_uid === boardUid).map(changeOf);
    return { type: 'entry-changed', boardUid, playerId, version: versions.get(boardUid)!, changes };
  });
  if (rows.length > 0) await storeEntries(transaction, lane, rows, events);
  // Of the last window there may be more.
  const upTo = found.length === ENTRIES_AT_ONCE ? found.at(-1)!.window_uid - 1 : page!.last;
  const touched = found.map((row) => ({ windowUid: row.window_uid, playerId: row.player_id }));
  return { entries: found.filter(({ removed }) => !removed).map(sanctionedEntry), touched, upTo };
}

/** A guild that the player left may keep a part of it, also where the entry itself is gone. */
const mayShow = ({ removed, left_scopes }: DifferingRow): boolean => !removed || left_scopes.length > 0;

const isProjected = ({ ends_at_ms, definition }: DifferingRow, nowMs: number): boolean =>
  ends_at_ms === null || ends_at_ms + keptAfterEndMs(withBoardDefaults(definition)) > nowMs;

const entryRow = (row: DifferingRow, version: number): EntryRow => ({
  boardUid: row.board_uid,
  windowUid: row.window_uid,
  playerId: row.player_id,
  state: {
    score: row.score,
    columns: row.columns,
    achievedAtMs: row.achieved_at_ms,
    metadata: row.metadata,
    version,
  },
  removed: row.removed,
  unranked: row.unranked,
  scopes: row.scopes,
  leftScopes: row.left_scopes,
});

/** Guilds that keep a part of the player are among the scopes that it left: they are added up anew, too. */
function changeOf(row: DifferingRow): EntryChange {
  const { window_uid: windowUid, ends_at_ms, definition, score, columns, achieved_at_ms, scopes } = row;
  return {
    windowUid,
    ...runOfKey(row.player_id),
    keepUntilMs: ends_at_ms === null ? null : ends_at_ms + keptAfterEndMs(withBoardDefaults(definition)),
    entry: row.unranked || row.removed ? null : { score, columns, achievedAtMs: achieved_at_ms },
    ...(scopes.length > 0 && { scopes }),
    ...(row.left_scopes.length > 0 && { leftScopes: row.left_scopes }),
    ...runsOfEvent(row.patch_runs, !row.unranked && !row.removed),
  };
}

function sanctionedEntry(row: DifferingRow): SanctionedEntry {
  const entry = { score: row.score, columns: row.columns };
  const [before, after] = row.unranked ? [entry, null] : [null, entry];
  const isWritten = row.is_closed || row.is_frozen;
  return { board: row.board_id, window: row.window_id, windowUid: row.window_uid, before, after, isWritten };
}
