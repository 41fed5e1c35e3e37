import type { BoardDefinition } from '@laddercast/domain';
import { worstFirstSql } from '../entries/entry-order-sql.js';

/** The clock as a value: a volatile function in a condition would be called for each row. */
const NOW = '(SELECT ladder_now())';

const IS_OPEN = `b.board_id IS NOT NULL AND w.state = 'open'`;
const RUNS = `${IS_OPEN} AND (w.ends_at IS NULL OR w.ends_at > ${NOW})`;
/** What a pool feeds may come to a window after its end: also who was trimmed, where its board is filled anew. */
const IS_TRIMMED = `${IS_OPEN} AND (w.ends_at IS NULL OR w.ends_at > ${NOW} OR b.feed IS NOT NULL)`;

/** Of entries: those that `entries_limited` holds, ranked or not. */
const STANDS = 'renewed_at_ms IS NOT NULL AND NOT removed';

/** A limit that removes entries begins on board `$1`: see `beginLimits`. */
export const BEGIN_LIMITS = `
  UPDATE boards SET mark_entries = true, limits_since_ms = floor(extract(epoch FROM ladder_now()) * 1000)::bigint
  WHERE board_uid = $1`;

/** Boards with a limit that removes entries, whose older entries are not marked yet. */
export const BOARDS_TO_MARK = `
  SELECT board_uid, definition_revision, limits_since_ms FROM boards
  WHERE (definition -> 'limits' ->> 'entriesMax' IS NOT NULL
      OR definition -> 'limits' ->> 'entryLifetimeSeconds' IS NOT NULL)
    AND mark_entries AND board_id IS NOT NULL
  ORDER BY board_uid`;

export const RUNNING_WINDOWS_OF_BOARD = `
  SELECT w.window_uid FROM boards b JOIN windows w USING (board_uid)
  WHERE b.board_uid = $1 AND w.state <> 'settled' AND ${RUNS} ORDER BY w.window_uid`;

/** Marks the entries of players `$2` in window `$1` that nothing has renewed since `$3`. */
export const MARK_ENTRIES = `
  UPDATE entries SET renewed_at_ms = $3 WHERE ctid = ANY (ARRAY(
    SELECT e.ctid FROM unnest($2::text[]) AS k (player_id)
    CROSS JOIN LATERAL (
      SELECT ctid FROM entries WHERE window_uid = $1 AND player_id = k.player_id
        AND (renewed_at_ms IS NULL OR renewed_at_ms < $3::bigint) OFFSET 0) AS e))`;

/** Until when an entry whose lifetime is over was renewed last, of window `w`, after whose end none expires; null: there is no lifetime. */
const EXPIRED_UNTIL = `floor(extract(epoch FROM least(${NOW}, w.ends_at)) * 1000)::bigint
    - 1000 * (b.definition -> 'limits' ->> 'entryLifetimeSeconds')::bigint`;

/** Windows of boards that keep so many entries: they run, or are fed. Those whose lifetime is over do not count among them. */
export const WINDOWS_TO_TRIM = `
  SELECT w.window_uid, b.definition_revision, (b.definition -> 'limits' ->> 'entriesMax')::int AS entries_max,
    coalesce(${EXPIRED_UNTIL}, -1) AS expired_until_ms
  FROM boards b JOIN windows w USING (board_uid)
  WHERE b.definition -> 'limits' ->> 'entriesMax' IS NOT NULL AND NOT b.mark_entries
    AND w.state <> 'settled' AND ${IS_TRIMMED}
  ORDER BY w.window_uid`;

/** How many ranked entries stand in windows `$1` that were begun or renewed at `$2` or after. */
export const COUNT_SINCE = `
  SELECT k.window_uid, c.entries
  FROM unnest($1::int[], $2::bigint[]) AS k (window_uid, since_ms)
  CROSS JOIN LATERAL (
    SELECT count(*)::int AS entries FROM ranked_entries
    WHERE window_uid = k.window_uid AND renewed_at_ms >= k.since_ms AND ${STANDS}) AS c`;

/**
 * The entries of window `$1` behind the best `$2` of those renewed after `$4`, the last first, at most `$3`. One
 * statement reads the whole window at one moment, so no entry before the cut is among them. Unranked ones neither take a
 * place nor lose one.
 */
export const entriesBehindSql = (definition: BoardDefinition): string => `
  SELECT player_id, version FROM ranked_entries
  WHERE window_uid = $1 AND renewed_at_ms > $4 AND ${STANDS}
  ORDER BY ${worstFirstSql(definition)}
  LIMIT least($3::int, greatest(0, (
    SELECT count(*) FROM ranked_entries WHERE window_uid = $1 AND renewed_at_ms > $4 AND ${STANDS}) - $2::int))`;

/** Running windows with entries whose lifetime is over, and until when those were renewed last. */
export const WINDOWS_WITH_EXPIRED = `
  SELECT w.window_uid, b.definition_revision, until.ms AS until_ms
  FROM boards b JOIN windows w USING (board_uid)
  CROSS JOIN LATERAL (SELECT ${EXPIRED_UNTIL} AS ms) AS until
  CROSS JOIN LATERAL (
    SELECT renewed_at_ms FROM entries WHERE window_uid = w.window_uid AND ${STANDS}
    ORDER BY renewed_at_ms LIMIT 1) AS oldest
  WHERE b.definition -> 'limits' ->> 'entryLifetimeSeconds' IS NOT NULL AND NOT b.mark_entries
    AND w.state <> 'settled' AND ${RUNS} AND oldest.renewed_at_ms <= until.ms
  ORDER BY w.window_uid`;

/** The first `$3` entries of window `$1` that were renewed last at `$2` or before. */
export const EXPIRED_ENTRIES = `
  SELECT player_id, renewed_at_ms FROM entries
  WHERE window_uid = $1 AND renewed_at_ms <= $2 AND ${STANDS}
  ORDER BY renewed_at_ms LIMIT $3`;

/** Window `$1` with its board, while limits hold in it and the board is defined as at revision `$2`. */
export const WINDOW_OF_LIMITS = `
  SELECT b.board_uid, b.definition, b.runs_from, w.kind = 'rolling' AS is_rolling, coalesce(w.freeze_at <= ${NOW}, false) AS is_frozen,
    (extract(epoch FROM w.ends_at) * 1000)::bigint AS ends_at_ms
  FROM windows w JOIN boards b USING (board_uid)
  WHERE w.window_uid = $1 AND b.definition_revision = $2 AND ${IS_TRIMMED}`;

/** The entries of window `$1` that still stand as they were seen: under version `$3`, or renewed last at `$4`. */
export const ENTRIES_AS_SEEN = `
  SELECT e.player_id, e.version, e.score, e.columns, e.achieved_at_ms, e.metadata, e.scopes, e.left_scopes,
    e.unranked
  FROM unnest($2::text[], $3::bigint[], $4::bigint[]) AS k (player_id, version, renewed_at_ms)
  CROSS JOIN LATERAL (SELECT * FROM entries WHERE window_uid = $1 AND player_id = k.player_id LIMIT 1) AS e
  WHERE NOT e.removed AND e.version = coalesce(k.version, e.version)
    AND e.renewed_at_ms = coalesce(k.renewed_at_ms, e.renewed_at_ms)`;
