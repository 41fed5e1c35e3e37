import { GLOBAL_SCOPE } from '@laddercast/domain';
import { WINDOW_COLUMNS } from '../standings/edition-writer.js';
import { ENTRY_OF_PLAYER, FROZEN_ENTRY_OF_PLAYER } from '../standings/standings-sql.js';

/** Of so many players nobody looks who differs: the edition is written whole. */
export const PLAYERS_COMPARED_MAX = 5000;
/** The most acts that an edition names, the first; the audit log has them all. */
const ACTS_MAX = 1000;
const REASON_LENGTH_MAX = 500;

/**
 * The newest edition of window `$1` and kind `$2`. It holds the window's row, as its settling does: one process at a time
 * makes the editions of a window.
 */
export const NEWEST_EDITION = `
  SELECT ${WINDOW_COLUMNS}, coalesce(e.base_uid, e.edition_uid) AS base, e.number, e.as_of::text AS as_of, e.rules
  FROM windows w JOIN boards b USING (board_uid)
  CROSS JOIN LATERAL (
    SELECT * FROM editions WHERE window_uid = w.window_uid AND kind = $2
    ORDER BY as_of DESC, number DESC LIMIT 1) AS e
  WHERE w.window_uid = $1 AND b.board_id IS NOT NULL
    AND w.state = CASE $2::text WHEN 'final' THEN 'settled' ELSE 'open' END
  FOR NO KEY UPDATE OF w SKIP LOCKED`;

/** Of windows whose standings are kept no longer, or that run unfrozen: no edition will follow. */
export const FORGET_NOTES = `
  DELETE FROM revisions_due d USING windows w
  WHERE d.window_uid = $1 AND w.window_uid = d.window_uid
    AND CASE w.state WHEN 'settled' THEN NOT EXISTS (
        SELECT FROM editions e WHERE e.window_uid = w.window_uid AND e.kind = 'final')
      WHEN 'open' THEN w.freeze_at IS NULL OR w.freeze_at > (SELECT ladder_now()) ELSE false END`;

/** How many players were noted of window `$1`, which the transaction holds, and whether its entries are being written anew. */
export const COUNT_NOTED = `
  SELECT count(*)::int AS players,
    EXISTS (
      SELECT FROM restatements WHERE window_uid = $1 AND entries IS NOT NULL AND done_at IS NULL) AS restating
  FROM (
    SELECT DISTINCT player_id FROM revisions_due WHERE window_uid = $1 LIMIT ${PLAYERS_COMPARED_MAX}) AS p`;

const takeNoted = (entry: string): string => `
  WITH k AS (DELETE FROM revisions_due WHERE window_uid = $1 RETURNING player_id, guild_ids, audit_id)
  SELECT k.player_id, k.guild_ids, k.audit_id, e.score, e.columns, e.achieved_at_ms, e.metadata, e.scopes,
    e.verified, e.proof
  FROM k LEFT JOIN LATERAL (${entry}) AS e ON true`;

/** What was noted of window `$1`, and the entries of those players as standings count them: of one moment. */
export const TAKE_NOTED_FINAL = takeNoted(ENTRY_OF_PLAYER);
export const TAKE_NOTED_FROZEN = takeNoted(FROZEN_ENTRY_OF_PLAYER);

/** What {@link TAKE_NOTED_FINAL} reads; of a player without entry the score is null, and what follows it. */
export interface NotedRow {
  player_id: string;
  guild_ids: string[];
  audit_id: number | null;
  score: number | null;
  columns: number[] | null;
  achieved_at_ms: number | null;
  metadata: string | null;
  scopes: number[] | null;
  verified: boolean | null;
  proof: string | null;
}

/** Edition `$2` over the base `$1`. */
export const ADD_EDITION = `
  INSERT INTO editions (window_uid, kind, as_of, version, number, base_uid, rules)
  SELECT window_uid, kind, as_of, 0, $2, edition_uid, rules FROM editions WHERE edition_uid = $1
  RETURNING edition_uid AS uid`;

/** How many everybody is in edition `$2` over the base `$1`; its other lists are counted as they are read. */
export const ADD_TOTAL = `
  INSERT INTO edition_scopes (edition_uid, scope_uid, total)
  SELECT $2, ${GLOBAL_SCOPE}, coalesce((
    SELECT total FROM edition_scopes WHERE edition_uid = $1 AND scope_uid = ${GLOBAL_SCOPE}), 0) + (
    SELECT count(score) - count(struck) FROM edition_changes
    WHERE edition_uid = $1 AND scope_uid = ${GLOBAL_SCOPE} AND until IS NULL)`;

/** Notes of edition `$1` the acts `$2`, and the reasons that they were done for. */
export const DESCRIBE_EDITION = `
  UPDATE editions SET
    acts = ($2::bigint[])[1:${ACTS_MAX}],
    reason = (SELECT left(string_agg(DISTINCT details->>'reason', '; '), ${REASON_LENGTH_MAX})
      FROM audit_log WHERE audit_id = ANY ($2::bigint[]))
  WHERE edition_uid = $1 RETURNING acts::float8[] AS acts, reason`;
