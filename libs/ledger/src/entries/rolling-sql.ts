import { prepared } from '../database/postgres-statements.js';

/**
 * Rolling windows with hours that have left them. The least hour is the first entry of an index; for an EXISTS the
 * planner would scan the table.
 */
export const WINDOWS_WITH_LEFT_HOURS = `
  SELECT w.window_uid, w.window_id, b.board_uid, b.definition, b.runs_from FROM windows w JOIN boards b USING (board_uid)
  WHERE w.kind = 'rolling' AND w.state = 'open' AND b.board_id IS NOT NULL
    AND least((SELECT min(hour) FROM rolling_hours h WHERE h.window_uid = w.window_uid),
        (SELECT min(hour) FROM attempts a WHERE a.window_uid = w.window_uid))
      <= floor(extract(epoch FROM (SELECT ladder_now())) / 3600)::int - substring(w.window_id FROM '[0-9]+')::int
  ORDER BY w.window_uid`;

/** Rolling windows with entries that a pool fed, of boards that none feeds any more. */
export const WINDOWS_LEFT_BY_FEEDS = `
  SELECT w.window_uid AS uid FROM windows w JOIN boards b USING (board_uid)
  WHERE w.kind = 'rolling' AND w.state = 'open' AND b.board_id IS NOT NULL AND b.feed IS NULL
    AND (SELECT min(player_id) FROM entry_feeds f WHERE f.window_uid = w.window_uid) IS NOT NULL
  ORDER BY w.window_uid`;

/** Both of these, for a look whether there is anything to do. */
export const ROLLING_WINDOWS_DUE = `
  SELECT 1 FROM (${WINDOWS_WITH_LEFT_HOURS}) AS of_hours UNION ALL SELECT 1 FROM (${WINDOWS_LEFT_BY_FEEDS}) AS of_feeds`;

/** At most `$2` players of window `$1` whose entries were fed. */
export const FED_PLAYERS_OF_WINDOW = prepared(`
  SELECT player_id AS "playerId" FROM entry_feeds WHERE window_uid = $1 ORDER BY player_id LIMIT $2`);

/** Makes the entries of window `$1` and players `$2` of lane `$3` ones of the hour of their last game, and no longer fed. */
export const TAKE_OVER_FED = prepared(`
  WITH taken AS (
    DELETE FROM entry_feeds WHERE ctid = ANY (ARRAY(
      SELECT f.ctid FROM unnest($2::text[]) AS k (player_id)
      CROSS JOIN LATERAL (
        SELECT ctid FROM entry_feeds WHERE window_uid = $1 AND player_id = k.player_id OFFSET 0) AS f)))
  INSERT INTO rolling_hours (window_uid, player_id, hour, lane, score, columns, achieved_at_ms, metadata)
  SELECT $1, k.player_id, floor(e.achieved_at_ms / 3600000.0)::int, $3::smallint, e.score, e.columns, e.achieved_at_ms,
    e.metadata
  FROM unnest($2::text[]) AS k (player_id)
  CROSS JOIN LATERAL (
    SELECT * FROM entries WHERE window_uid = $1 AND player_id = k.player_id AND NOT removed LIMIT 1) AS e
  ON CONFLICT (window_uid, player_id, hour) DO NOTHING`);

/** Players of window `$1` and lane `$3` who have hours before `$2`: of at most `$4` hours, so some may come twice. */
export const PLAYERS_WITH_LEFT_HOURS = `
  SELECT player_id FROM rolling_hours WHERE window_uid = $1 AND hour < $2 AND lane = $3 ORDER BY hour LIMIT $4`;

/** Entries of window `$1` and players `$2`, each with its hours from `$3` on, the oldest first. */
export const READ_ROLLING_PLAYERS = `
  SELECT e.player_id, e.version, e.score, e.columns, e.achieved_at_ms, e.metadata, e.scopes, e.unranked, h.hours
  FROM unnest($2::text[]) AS k (player_id)
  CROSS JOIN LATERAL (
    SELECT * FROM entries WHERE window_uid = $1 AND player_id = k.player_id AND NOT removed LIMIT 1) AS e
  CROSS JOIN LATERAL (
    SELECT jsonb_agg(jsonb_build_object('score', score, 'columns', columns, 'achievedAtMs', achieved_at_ms,
      'metadata', metadata) ORDER BY hour) AS hours
    FROM rolling_hours WHERE window_uid = $1 AND player_id = k.player_id AND hour >= $3) AS h`;

/** By LATERAL probes: joined plainly, the planner, which cannot know that the array is short, scans the whole table. */
export const DELETE_LEFT_HOURS = `
  DELETE FROM rolling_hours WHERE ctid = ANY (ARRAY(
    SELECT h.ctid FROM unnest($2::text[]) AS k (player_id)
    CROSS JOIN LATERAL (
      SELECT ctid FROM rolling_hours WHERE window_uid = $1 AND player_id = k.player_id AND hour < $3 OFFSET 0) AS h))`;

/** At most `$3` of the attempts in window `$1` that lie before hour `$2`, whoever's: also of players whose entries are gone. */
export const DELETE_LEFT_ATTEMPTS = `
  DELETE FROM attempts WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM attempts WHERE window_uid = $1 AND hour < $2 ORDER BY hour LIMIT $3)) RETURNING 1`;

/** Stores recomputed entries, which are there already, of window `$1` and board `$11` in lane `$2`, and their events. */
export const WRITE_ROLLING_ENTRIES = `
  WITH given AS (
    SELECT * FROM unnest($3::text[], $4::bigint[], $5::boolean[], $6::float8[], $7::text[], $8::bigint[], $9::text[],
      $10::text[], $12::bigint[])
      AS g (player_id, version, removed, score, columns, achieved_at_ms, metadata, payload, run_position)
  ), changed AS (
    INSERT INTO entries (window_uid, player_id, board_uid, lane, version, removed, score, columns, achieved_at_ms,
      metadata, run_position)
    SELECT $1, player_id, $11::int, $2, version, removed, score, columns::float8[], achieved_at_ms, metadata,
      run_position
    FROM given
    ON CONFLICT (window_uid, player_id) DO UPDATE SET lane = excluded.lane, version = excluded.version,
      removed = excluded.removed, score = excluded.score, columns = excluded.columns, achieved_at_ms = excluded.achieved_at_ms,
      metadata = excluded.metadata, run_position = excluded.run_position
  )
  INSERT INTO outbox (lane, position, topic, key, payload)
  SELECT $2::smallint, version, 'entry-changed', player_id, payload FROM given`;
