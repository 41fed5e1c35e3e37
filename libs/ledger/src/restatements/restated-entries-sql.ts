import { joinScopeValuesSql, SCOPE_VALUES } from '../entries/scope-values-sql.js';
import { IS_UNRANKED, sanctionInForceSql } from '../entries/unranked-sql.js';

/** A window that ended, and its board; its lists are those that its first edition has. */
export const BOARD_OF_WINDOW = `
  SELECT b.board_uid AS "boardUid", b.definition,
    (SELECT rules -> 'scopes' FROM editions WHERE window_uid = w.window_uid AND kind = 'final' AND number = 1
      ORDER BY as_of DESC LIMIT 1) AS scopes
  FROM windows w JOIN boards b USING (board_uid) WHERE w.window_uid = $1 AND b.board_id IS NOT NULL`;

/** Players `$2` with the entry of each in window `$1`, where there ever was one. */
export const ENTRIES_TO_RESTATE = `
  SELECT k.player_id AS "playerId", e.version, e.removed, e.score, e.columns, e.achieved_at_ms AS "achievedAtMs", e.metadata,
    e.scopes, e.left_scopes AS "leftScopes", ${IS_UNRANKED} AS unranked, ${SCOPE_VALUES} AS values
  FROM windows w JOIN boards b USING (board_uid)
  CROSS JOIN unnest($2::text[]) AS k (player_id)
  ${sanctionInForceSql('k.player_id')}
  LEFT JOIN LATERAL (SELECT * FROM entries WHERE window_uid = w.window_uid AND player_id = k.player_id LIMIT 1) AS e ON true
  ${joinScopeValuesSql('k.player_id')}
  WHERE w.window_uid = $1`;

/** The most players of one statement. */
export const PLAYERS_AT_ONCE = 250;

/** Everybody of the pool: games of the window may have come after it closed. And who has an entry and no game any more. */
export const NEXT_PLAYERS = `
  SELECT player_id AS "playerId" FROM (
    (SELECT player_id FROM ratings WHERE pool_uid = $1 AND player_id > $3 ORDER BY player_id LIMIT ${PLAYERS_AT_ONCE})
    UNION
    (SELECT player_id FROM entries WHERE window_uid = $2 AND player_id > $3 ORDER BY player_id LIMIT ${PLAYERS_AT_ONCE})
  ) AS p ORDER BY player_id LIMIT ${PLAYERS_AT_ONCE}`;

/** The entries of players `$2` in window `$1`. */
export const ENTRIES_OF_PLAYERS = `
  SELECT player_id AS "playerId", score, columns, achieved_at_ms AS "achievedAtMs"
  FROM entries WHERE window_uid = $1 AND player_id = ANY ($2::text[]) AND NOT removed`;

/** What guilds keep of them. */
export const KEPT_OF_PLAYERS = `
  SELECT player_id AS "playerId", guild_id AS "guildId", present, score, achieved_at_ms AS "achievedAtMs",
    (extract(epoch FROM left_at) * 1000)::float8 AS "leftAtMs"
  FROM guild_kept WHERE window_uid = $1 AND player_id = ANY ($2::text[]) ORDER BY player_id, guild_id`;
