import { joinScopeValuesSql, SCOPE_VALUES } from '../entries/scope-values-sql.js';
import { isRunOfSql } from '../entries/run-keys-sql.js';
import { IS_UNRANKED, sanctionInForceSql } from '../entries/unranked-sql.js';

/** Windows `$1` with the entry of player `$2` in each, where there ever was one. */
export const REFOLDED_WINDOWS = `
  SELECT w.window_uid AS "windowUid", w.window_id AS "windowId", w.kind, w.state,
    floor(extract(epoch FROM w.ends_at) * 1000)::bigint AS "endsAtMs",
    floor(extract(epoch FROM w.freeze_at) * 1000)::bigint AS "freezeAtMs",
    e.version, e.removed, e.score, e.columns, e.achieved_at_ms AS "achievedAtMs", e.metadata, e.scopes,
    e.left_scopes AS "leftScopes", e.run_position AS "runPosition", e.patch_runs AS "patchRuns", ${IS_UNRANKED} AS unranked
  FROM windows w JOIN boards b USING (board_uid)
  ${sanctionInForceSql('$2')}
  LEFT JOIN LATERAL (SELECT * FROM entries WHERE window_uid = w.window_uid AND player_id = $2 LIMIT 1) AS e ON true
  WHERE w.window_uid = ANY ($1::int[]) ORDER BY w.window_uid`;

/** The entries of keys `$2` in windows `$1`, where there ever was one; `n` counts the keys from 1 on. */
export const ENTRIES_OF_KEYS = `
  SELECT k.n::int AS n, e.version, e.removed, e.score, e.columns, e.achieved_at_ms AS "achievedAtMs", e.metadata, e.scopes,
    e.left_scopes AS "leftScopes", e.run_position AS "runPosition", e.patch_runs AS "patchRuns"
  FROM unnest($1::int[], $2::text[]) WITH ORDINALITY AS k (window_uid, key, n)
  CROSS JOIN LATERAL (SELECT * FROM entries WHERE window_uid = k.window_uid AND player_id = k.key LIMIT 1) AS e`;

/** The keys of runs of player `$2` that are saved of the freeze of window `$1`. */
export const FROZEN_RUNS = `
  SELECT player_id AS key FROM frozen_entries
  WHERE window_uid = $1 AND ${isRunOfSql('$2')}`;

/** What decides the scopes of player `$1`. */
export const SCOPE_VALUES_OF_PLAYER = `
  SELECT ${SCOPE_VALUES} AS values FROM (SELECT) AS one${joinScopeValuesSql('$1')}`;

/**
 * Notes again the hours of rolling windows `$3` in which player `$2` has runs on board `$1`: a wall that is voided lets runs
 * count again whose hours went with it. What an hour holds is of no interest where runs are folded.
 */
export const MARK_HOURS = `
  INSERT INTO rolling_hours (window_uid, player_id, hour, lane, score, columns, achieved_at_ms, metadata)
  SELECT DISTINCT w.window_uid, r.player_id, (r.achieved_at_ms / $5::bigint)::int, $4::smallint, 0, '{}'::float8[], 0, NULL
  FROM runs r CROSS JOIN LATERAL unnest(r.window_uids) AS w (window_uid)
  WHERE r.board_uid = $1 AND r.player_id = $2 AND w.window_uid = ANY ($3::int[])
  ON CONFLICT (window_uid, player_id, hour) DO NOTHING`;

/** The entry of player `$2` in window `$1` as it stood at the freeze. */
export const REWRITE_FROZEN = `
  UPDATE frozen_entries SET present = $3, score = $4, columns = $5, achieved_at_ms = $6, metadata = $7,
    run_position = nullif($8::bigint, 0), patch_runs = $9::jsonb
  WHERE window_uid = $1 AND player_id = $2`;

/** What guilds keep of player `$2` in windows `$1`. */
export const KEPT_PARTS = `
  SELECT window_uid AS "windowUid", guild_id AS "guildId", (extract(epoch FROM left_at) * 1000)::float8 AS "leftAtMs"
  FROM guild_kept WHERE window_uid = ANY ($1::int[]) AND player_id = $2`;

/** One such part; `$4`: whether anything is left of it. Returns a row where it is another one than before. */
export const REWRITE_KEPT_PART = `
  UPDATE guild_kept SET present = $4, score = $5, achieved_at_ms = $6
  WHERE window_uid = $1 AND guild_id = $2 AND player_id = $3
    AND (present <> $4 OR $4 AND (score, achieved_at_ms) <> ($5::float8, $6::bigint))
  RETURNING 1`;
