import { KEPT_AFTER_END_MS } from '../entries/entry-rows.js';
import { isRunOfSql } from '../entries/run-keys-sql.js';

/** `$1`: whose; `$2`, `$3`: of which board and windows, null for all. Windows that the projection still keeps. */
const windowsOf = (keptMs: string): string => `
  FROM boards AS b
  CROSS JOIN LATERAL (
    SELECT * FROM windows WHERE board_uid = b.board_uid AND ($3::int[] IS NULL OR window_uid = ANY ($3::int[]))
      AND (ends_at IS NULL OR ends_at > ladder_now() - ${keptMs} * interval '1 millisecond') OFFSET 0) AS w`;

const OF_BOARD = 'WHERE b.board_id IS NOT NULL AND ($2::int IS NULL OR b.board_uid = $2)';

const COLUMNS = `b.board_uid AS "boardUid", b.definition, w.window_uid AS "windowUid",
  (extract(epoch FROM w.ends_at) * 1000)::float8 AS "endsAtMs", e.key, e.removed, e.score, e.achieved_at_ms AS "achievedAtMs"`;

/** A player's entries as they are, and those of the keys `$4`, which may be removed. */
export const ENTRIES_OF_PLAYER = `
  SELECT ${COLUMNS}, e.columns, e.scopes, e.left_scopes AS "leftScopes",
    e.patch_runs AS "patchRuns" ${windowsOf(KEPT_AFTER_END_MS)}
  CROSS JOIN LATERAL (
    SELECT DISTINCT key FROM (
      SELECT unnest($4::text[]) AS key UNION ALL SELECT $1 UNION ALL
      SELECT player_id FROM entries WHERE window_uid = w.window_uid AND ${isRunOfSql('$1')} AND NOT removed) AS keys) AS k
  CROSS JOIN LATERAL (
    SELECT *, player_id AS key FROM projected_entries
    WHERE window_uid = w.window_uid AND player_id = k.key LIMIT 1) AS e
  ${OF_BOARD} ORDER BY b.board_uid, w.window_uid`;

/** A guild's totals as they are. */
export const TOTALS_OF_GUILD = `
  SELECT ${COLUMNS}, '{}'::float8[] AS columns, '{}'::int[] AS scopes, '{}'::int[] AS "leftScopes",
    NULL::jsonb AS "patchRuns" ${windowsOf(KEPT_AFTER_END_MS)}
  CROSS JOIN LATERAL (
    SELECT *, guild_id AS key FROM guild_totals
    WHERE window_uid = w.window_uid AND guild_id = $1 AND $4::text[] IS NOT NULL LIMIT 1) AS e
  ${OF_BOARD} ORDER BY b.board_uid, w.window_uid`;

export const RENUMBER_ENTRIES = `
  UPDATE entries AS e SET version = $3, lane = $4 FROM unnest($1::int[], $2::text[]) AS k (window_uid, player_id)
  WHERE e.window_uid = k.window_uid AND e.player_id = k.player_id`;

export const RENUMBER_TOTALS = `
  UPDATE guild_totals AS t SET version = $3, lane = $4 FROM unnest($1::int[], $2::text[]) AS k (window_uid, guild_id)
  WHERE t.window_uid = k.window_uid AND t.guild_id = k.guild_id`;

export const PRESENT_FLAG = `
  SELECT rule, severity, board_uid AS "boardUid", player_id AS "playerId", summary FROM flags WHERE flag_id = $1`;
