import { WINDOW_COLUMNS } from '../standings/edition-writer.js';

/** The most windows that are closed under one hold of all lanes. */
export const CLOSED_AT_ONCE = 100;

/** The clock as a value: a volatile function in a condition would be asked for each row, and no index would be used. */
const NOW = '(SELECT ladder_now())';

/** When a window `w` of board `b` is due to close. */
export const DUE_AT = `(w.ends_at + (b.definition->>'graceSeconds')::float8 * interval '1 second')`;

/** Whether the end and the grace of a window `w` of board `b`, which lives, are over. */
export const IS_OVER = `w.state = 'open' AND w.ends_at <= ${NOW} AND b.board_id IS NOT NULL AND ${DUE_AT} <= ${NOW}`;

/**
 * Whether what a pool says of a window `w` of board `b` is all written; so is that of boards that no pool feeds. What was left to
 * a filling of the board is written when a round of it has ended that began after it was left. While the log has lost something
 * it is not known of any: the fillings that bring it back are yet to begin.
 */
const IS_FED = `(b.feed IS NULL OR EXISTS (
    SELECT FROM last_feeds l WHERE l.window_uid = w.window_uid AND l.asked_at >= ${DUE_AT} AND l.done_position IS NOT NULL
      AND NOT EXISTS (SELECT FROM installation WHERE name = 'log-lost')
      AND NOT EXISTS (
        SELECT FROM board_fills f WHERE f.board_uid = b.board_uid AND coalesce(f.ended_round, 0) <= l.done_position)))`;

/** Windows whose end and grace are over, and that wait for no pool; the first to end first. */
export const DUE_WINDOWS = `
  SELECT ${WINDOW_COLUMNS} FROM windows w JOIN boards b USING (board_uid)
  WHERE ${IS_OVER} AND ${IS_FED}
  ORDER BY w.ends_at, w.window_uid LIMIT ${CLOSED_AT_ONCE}`;

/** Those of them whose frozen standings are not being written: nobody who holds the lanes waits for that. */
export const WINDOWS_TO_CLOSE = `${DUE_WINDOWS} FOR NO KEY UPDATE OF w SKIP LOCKED`;

/** Closed windows without standings that nobody has tried to write, and those of which the next try is due. */
export const UNTRIED = 'f.window_uid IS NULL';
export const TRIED_AND_DUE = `f.retry_at <= ${NOW}`;
export const NO_WINDOWS = `'{}'::int[]`;

/** Closed windows whose standings are not written, the first to end first. */
export const unsettledWindows = (condition: string, except: string): string => `
  SELECT ${WINDOW_COLUMNS} FROM windows w JOIN boards b USING (board_uid)
  LEFT JOIN settlement_failures f ON f.window_uid = w.window_uid AND f.kind = 'final'
  WHERE w.state = 'closed' AND w.ends_at <= ${NOW} AND b.board_id IS NOT NULL AND w.window_uid <> ALL (${except})
    AND ${condition}
  ORDER BY w.ends_at, w.window_uid LIMIT ${CLOSED_AT_ONCE}`;

/** Those that are not of `$1`. */
export const UNSETTLED_WINDOWS = unsettledWindows(UNTRIED, '$1::int[]');
export const FAILED_WINDOWS = unsettledWindows(TRIED_AND_DUE, '$1::int[]');

export const CLOSE_WINDOWS = `
  WITH fed AS (DELETE FROM last_feeds WHERE window_uid = ANY($1::int[]))
  UPDATE windows SET state = 'closed', closed_at = date_trunc('milliseconds', ladder_now())
  WHERE window_uid = ANY($1::int[])`;

/** Gives boards `$1` their revisions `$2`, and writes the events that say so into the lanes. */
export const ANNOUNCE_BOARDS = `
  WITH revised AS (
    UPDATE boards b SET revision = k.revision FROM unnest($1::int[], $2::bigint[]) AS k (board_uid, revision)
    WHERE b.board_uid = k.board_uid)
  INSERT INTO outbox (lane, position, topic, key, payload)
  SELECT o.lane, o.position, 'board-changed', o.key, o.payload
  FROM unnest($3::smallint[], $4::bigint[], $5::text[], $6::text[]) AS o (lane, position, key, payload)`;
