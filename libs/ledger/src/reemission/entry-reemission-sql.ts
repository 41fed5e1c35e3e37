import { isRunOfSql } from '../entries/run-keys-sql.js';
import { joinScopeValuesSql, SCOPE_VALUES } from '../entries/scope-values-sql.js';

const COLUMNS = `b.board_uid, b.definition, w.window_uid, w.kind = 'rolling' AS is_rolling,
  coalesce(w.freeze_at <= clock.now, false) AS is_frozen, (extract(epoch FROM w.ends_at) * 1000)::bigint AS ends_at_ms,
  e.player_id, e.removed, e.score, e.columns, e.achieved_at_ms, e.metadata, e.version, e.scopes, e.left_scopes, e.unranked,
  e.patch_runs,
  ${SCOPE_VALUES} AS values`;

const CLOCK = `(SELECT to_timestamp($1::float8 / 1000) AS now) AS clock`;

const RUNS = `w.state = 'open' AND (w.ends_at IS NULL OR w.ends_at > clock.now)`;

/**
 * A player's entries in the running windows of all live boards that rank more than everybody together: a probe of
 * `windows_unsettled` for each of those boards, and one of the entries for each of their windows.
 */
export const RUNNING_ENTRIES_OF_PLAYER = `
  SELECT ${COLUMNS}
  FROM boards AS b
  CROSS JOIN ${CLOCK}
  CROSS JOIN LATERAL (
    SELECT * FROM windows AS w WHERE w.board_uid = b.board_uid AND w.state <> 'settled' AND ${RUNS} OFFSET 0) AS w
  CROSS JOIN LATERAL (
    (SELECT * FROM entries WHERE window_uid = w.window_uid AND player_id = $2 LIMIT 1)
    UNION ALL
    (SELECT * FROM entries WHERE window_uid = w.window_uid AND ${isRunOfSql('$2')} AND NOT removed)) AS e${joinScopeValuesSql('$2')}
  WHERE b.board_id IS NOT NULL AND (b.rescope OR b.definition -> 'scopes' <> '["global"]')`;

/** The entries `$3` of players `$4` in one window, while it runs. */
export const RUNNING_ENTRIES_OF_WINDOW = `
  SELECT ${COLUMNS}
  FROM windows AS w
  JOIN boards AS b USING (board_uid)
  CROSS JOIN ${CLOCK}
  CROSS JOIN unnest($3::text[], $4::text[]) AS k (player_id, owner)
  CROSS JOIN LATERAL (SELECT * FROM entries WHERE window_uid = w.window_uid AND player_id = k.player_id LIMIT 1) AS e${joinScopeValuesSql('k.owner')}
  WHERE w.window_uid = $2 AND b.board_id IS NOT NULL AND ${RUNS}`;

/** The players of one window after a given one, in the order of the primary key. */
export const PLAYERS_OF_WINDOW = `
  SELECT player_id FROM entries WHERE window_uid = $1 AND player_id > $2 ORDER BY player_id LIMIT $3`;
