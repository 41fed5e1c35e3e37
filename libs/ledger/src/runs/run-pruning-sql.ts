import { isRunOfSql } from '../entries/run-keys-sql.js';
import { prepared } from '../database/postgres-statements.js';

/** How many runs of a board one look reads, and so the most of one transaction. */
export const RUNS_AT_ONCE = 5000;
/** The most boards of one look. */
const BOARDS_AT_ONCE = 1000;

const CUTOFF = `ladder_now() - (b.definition #>> '{runs,keepDays}')::float8 * interval '1 day'`;
const CUTOFF_MS = `floor(extract(epoch FROM ${CUTOFF}) * 1000)::bigint`;

/** Boards whose first run is older than they keep runs: one probe of an index for each that keeps any. */
export const BOARDS_WITH_OLD_RUNS = prepared(`
  SELECT b.board_uid AS uid, b.board_id AS id, b.runs_from AS "runsFrom", ${CUTOFF_MS} AS "cutoffMs",
    (b.definition #>> '{runs,keepDays}')::int AS "keepDays"
  FROM boards AS b CROSS JOIN LATERAL (
    SELECT accepted_at FROM runs WHERE board_uid = b.board_uid AND position >= b.runs_from
    ORDER BY position LIMIT 1) AS r
  WHERE b.board_id IS NOT NULL AND b.runs_from IS NOT NULL AND r.accepted_at < ${CUTOFF}
  LIMIT ${BOARDS_AT_ONCE}`);

/** The next runs of board `$1` behind position `$2`; old: accepted before `$3` (Unix ms). */
export const NEXT_RUNS = prepared(`
  SELECT player_id AS "playerId", position, submission_id AS "submissionId", held AND NOT voided AS "isHeld",
    accepted_at < to_timestamp($3::float8 / 1000) AS "isOld"
  FROM runs WHERE board_uid = $1 AND position > $2 ORDER BY position LIMIT ${RUNS_AT_ONCE}`);

/** Board `$1` as it is under a lane. */
export const PRUNED_BOARD = prepared(`
  SELECT b.definition, b.runs_from AS "runsFrom", ${CUTOFF_MS} AS "cutoffMs", b.family_uid AS "familyUid" FROM boards AS b
  WHERE b.board_uid = $1 AND b.board_id IS NOT NULL AND b.runs_from IS NOT NULL`);

/**
 * The runs of players `$3` on board `$1` from `$4` up to `$5` (positions), accepted before `$6` (Unix ms). A player of whom
 * an earlier run is still there, behind `$2`, has none: what is folded has to be the first of its runs.
 */
export const READ_PREFIXES = prepared(`
  SELECT k.player_id AS "playerId", r.position, r.kind, r.held, r.voided, r.score, r.columns,
    r.achieved_at_ms AS "achievedAtMs", r.metadata, r.window_uids AS "windowUids", r.submission_id AS "submissionId",
    r.patch_uid AS patch
  FROM unnest($3::text[], $4::bigint[], $5::bigint[]) AS k (player_id, first, last)
  CROSS JOIN LATERAL (
    SELECT * FROM runs
    WHERE board_uid = $1 AND player_id = k.player_id AND position >= k.first AND position <= k.last
      AND accepted_at < to_timestamp($6::float8 / 1000)
      AND k.first <= (
        SELECT position FROM runs WHERE board_uid = $1 AND player_id = k.player_id AND position >= $2
        ORDER BY position LIMIT 1)
    ORDER BY position LIMIT ${RUNS_AT_ONCE}) AS r
  ORDER BY r.player_id, r.position`);

export const ROLLING_WINDOWS = prepared(
  `SELECT window_uid AS "windowUid" FROM windows WHERE window_uid = ANY ($1::int[]) AND kind = 'rolling'`,
);

/** What players `$2` had in windows `$1` before their runs: a base, or the entry from before `$3`, where runs begin. */
export const READ_BASES_OF_PLAYERS = prepared(`
  SELECT k.window_uid AS "windowUid", k.player_id AS "playerId", b.position, b.score, b.columns,
    b.achieved_at_ms AS "achievedAtMs", b.metadata, b.patch_runs AS "patchRuns"
  FROM unnest($1::int[], $2::text[]) AS k (window_uid, player_id)
  CROSS JOIN LATERAL (
    SELECT * FROM run_bases WHERE window_uid = k.window_uid AND player_id = k.player_id AND position >= $3 LIMIT 1) AS b
  UNION ALL
  SELECT k.window_uid, k.player_id, $3::bigint, e.score, e.columns, e.achieved_at_ms, e.metadata, e.patch_runs
  FROM unnest($1::int[], $2::text[]) AS k (window_uid, player_id)
  CROSS JOIN LATERAL (
    SELECT * FROM entries
    WHERE window_uid = k.window_uid AND player_id = k.player_id AND NOT removed AND version < $3 LIMIT 1) AS e`);

export const WRITE_BASES = prepared(`
  INSERT INTO run_bases (window_uid, player_id, position, score, columns, achieved_at_ms, metadata, patch_runs)
  SELECT b.window_uid, b.player_id, b.position, b.score, b.columns::float8[], b.achieved_at_ms, b.metadata,
    b.patch_runs::jsonb
  FROM unnest($1::int[], $2::text[], $3::bigint[], $4::float8[], $5::text[], $6::bigint[], $7::text[], $8::text[])
    AS b (window_uid, player_id, position, score, columns, achieved_at_ms, metadata, patch_runs)
  ON CONFLICT (window_uid, player_id) DO UPDATE SET position = excluded.position, score = excluded.score,
    columns = excluded.columns, achieved_at_ms = excluded.achieved_at_ms, metadata = excluded.metadata,
    patch_runs = excluded.patch_runs`);

export const DELETE_BASES = prepared(`
  DELETE FROM run_bases AS b USING unnest($1::int[], $2::text[]) AS k (window_uid, player_id)
  WHERE b.window_uid = k.window_uid AND b.player_id = k.player_id`);

/** Of players `$2` the bases in windows `$1` where each run is an entry. */
export const DELETE_RUN_BASES = prepared(`
  DELETE FROM run_bases WHERE ctid = ANY (ARRAY(
    SELECT b.ctid FROM unnest($1::int[], $2::text[]) AS k (window_uid, player_id)
    CROSS JOIN LATERAL (
      SELECT ctid FROM run_bases
      WHERE window_uid = k.window_uid AND ${isRunOfSql('k.player_id')}
      OFFSET 0) AS b))`);

/** Entries of players `$2` in windows `$1` that rest on a run up to position `$3` rest on none that is kept. */
export const REST_ON_BASES = prepared(`
  UPDATE entries SET run_position = NULL WHERE ctid = ANY (ARRAY(
    SELECT e.ctid FROM unnest($1::int[], $2::text[], $3::bigint[]) AS k (window_uid, player_id, position)
    CROSS JOIN LATERAL (
      SELECT ctid FROM entries
      WHERE window_uid = k.window_uid AND player_id = k.player_id AND run_position <= k.position OFFSET 0) AS e))`);

/** The runs of players `$2` on board `$1` from `$3` up to `$4`. */
export const DELETE_PREFIXES = prepared(`
  WITH acts AS (
    DELETE FROM run_acts AS a USING unnest($2::text[], $3::bigint[], $4::bigint[]) AS k (player_id, first, last)
    WHERE a.board_uid = $1 AND a.player_id = k.player_id AND a.run_position BETWEEN k.first AND k.last)
  DELETE FROM runs AS r USING unnest($2::text[], $3::bigint[], $4::bigint[]) AS k (player_id, first, last)
  WHERE r.board_uid = $1 AND r.player_id = k.player_id AND r.position BETWEEN k.first AND k.last RETURNING 1`);
