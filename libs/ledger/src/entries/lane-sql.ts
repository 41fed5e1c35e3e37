import { headOf } from '../lanes/lane-heads.js';
import { NEW_POSITIONS } from '../lanes/lane-events.js';
import { prepared } from '../database/postgres-statements.js';
import { joinScopeValuesSql, SCOPE_VALUES } from './scope-values-sql.js';

/**
 * The sanctions in force of players `$9`, by their ids; null where nobody is sanctioned: for that the
 * first entry of an index is looked at. For an EXISTS the planner may scan what was lifted.
 */
const SANCTIONS = `
    CASE WHEN (SELECT player_id FROM sanctions WHERE ended_at IS NULL ORDER BY player_id LIMIT 1) IS NOT NULL THEN (
      SELECT jsonb_object_agg(s.player_id, jsonb_build_object('kind', s.kind, 'boards', s.boards,
        'untilMs', floor(extract(epoch FROM s.until) * 1000)::bigint, 'publicReason', s.public_reason))
      FROM (SELECT DISTINCT player_id FROM unnest($9::text[]) AS k (player_id)) AS k
      CROSS JOIN LATERAL (
        SELECT * FROM sanctions WHERE player_id = k.player_id AND ended_at IS NULL LIMIT 1) AS s) END`;

const CLOCK_AND_POSITIONS = `
  SELECT 'lane' AS what, 0 AS n, floor(extract(epoch FROM ladder_now()) * 1000)::bigint AS version, NULL::boolean AS gone,
    NULL::float8 AS score, ${NEW_POSITIONS} AS columns, nextval($8::regclass) AS achieved_at_ms, h.head AS text,
    NULL::bytea AS body_sha256, NULL::int[] AS scopes, NULL::int[] AS left_scopes, ${SANCTIONS} AS values,
    NULL::boolean AS unranked
  FROM (SELECT ${headOf('$8::regclass')} AS head OFFSET 0) AS h`;

const ENTRIES = `
  SELECT 'entry', k.n::int, e.version, e.removed, e.score, e.columns, e.achieved_at_ms, e.metadata, NULL, e.scopes,
    e.left_scopes, e.patch_runs, e.unranked
  FROM unnest($2::int[], $3::text[]) WITH ORDINALITY AS k (window_uid, player_id, n)
  CROSS JOIN LATERAL (
    SELECT * FROM entries WHERE window_uid = k.window_uid AND player_id = k.player_id LIMIT 1) AS e`;

const SUBMISSIONS = `
  SELECT 'submission', k.n::int, NULL, NULL, NULL, NULL, round(extract(epoch FROM s.accepted_at) * 1000)::bigint,
    s.answer, s.body_sha256, NULL, NULL, NULL, NULL
  FROM unnest($4::int[], $5::text[], $6::text[]) WITH ORDINALITY AS k (board_uid, owner, submission_id, n)
  CROSS JOIN LATERAL (
    SELECT * FROM submissions
    WHERE board_uid = k.board_uid AND owner = k.owner AND submission_id = k.submission_id LIMIT 1) AS s`;

const BOARDS = `
  SELECT 'board', b.board_uid, b.revision, b.board_id IS NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
  FROM unnest($7::int[]) AS k (board_uid)
  CROSS JOIN LATERAL (SELECT * FROM boards WHERE board_uid = k.board_uid LIMIT 1) AS b`;

const PLAYERS = `
  SELECT 'player', k.n::int, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
    ${SCOPE_VALUES}, NULL
  FROM unnest($10::text[]) WITH ORDINALITY AS k (player_id, n)${joinScopeValuesSql('k.player_id')}`;

const HOURS = `
  SELECT 'hour', k.n::int, NULL, NULL, h.score, h.columns, h.achieved_at_ms, h.metadata, NULL, NULL, NULL, NULL, NULL
  FROM unnest($11::int[], $12::text[], $13::int[]) WITH ORDINALITY AS k (window_uid, player_id, hour, n)
  CROSS JOIN LATERAL (
    SELECT * FROM rolling_hours
    WHERE window_uid = k.window_uid AND player_id = k.player_id AND hour = k.hour LIMIT 1) AS h`;

const allOf = (...parts: string[]): string => prepared(parts.join('\n  UNION ALL'));

/**
 * What a batch touches, in one round trip: the ledger's time, `$1` new log positions, the lane's head by its sequence `$8`, and
 * the value to which that is moved (as `version`, `columns`, `text` and `achieved_at_ms`), while the lane is held; entries by key, submissions by id, boards by uid, sanctions of players.
 * LATERAL with LIMIT 1 keeps every look-up an index probe: joined plainly, the planner, which cannot know that the
 * arrays are short, scans whole tables.
 */
export const READ_LANE_BATCH = allOf(CLOCK_AND_POSITIONS, ENTRIES, SUBMISSIONS, BOARDS);

/**
 * The same with the scopes of players, and the hours of rolling windows. It is apart because starting a plan costs for
 * each of its parts.
 */
export const READ_WIDE_LANE_BATCH = allOf(CLOCK_AND_POSITIONS, ENTRIES, SUBMISSIONS, BOARDS, PLAYERS, HOURS);

const accepted = (answer: string, more: { arrays: string; names: string }): string => `
    INSERT INTO submissions (board_uid, owner, submission_id, player_id, body_sha256, score, columns, achieved_at_ms,
      metadata, answer, accepted_at)
    SELECT s.board_uid, s.owner, s.submission_id, s.player_id, s.body_sha256, s.score, s.columns::float8[],
      s.achieved_at_ms, s.metadata, ${answer}, to_timestamp($2::float8 / 1000)
    FROM unnest($3::int[], $4::text[], $5::text[], $6::text[], $7::bytea[], $8::float8[], $9::text[], $10::bigint[],
      $11::text[], $12::text[]${more.arrays})
      AS s (board_uid, owner, submission_id, player_id, body_sha256, score, columns, achieved_at_ms, metadata,
        answer${more.names})`;
const ACCEPTED = accepted('s.answer', { arrays: '', names: '' });

const ENTRY_COLUMNS = `window_uid, player_id, board_uid, lane, version, removed, score, columns, achieved_at_ms, metadata,
      scopes, left_scopes, unranked`;
const entryValues = (version: string): string => `e.window_uid, e.player_id, e.board_uid, $1::smallint, ${version},
      e.removed, e.score, e.columns::float8[], e.achieved_at_ms, e.metadata, e.scopes::int[], e.left_scopes::int[], e.unranked`;
const ENTRY_ARRAYS = `$13::int[], $14::text[], $15::int[], $16::bigint[], $17::boolean[], $18::float8[], $19::text[],
      $20::bigint[], $21::text[], $22::text[], $23::text[], $28::boolean[]`;
const ENTRY_NAMES = `window_uid, player_id, board_uid, version, removed, score, columns, achieved_at_ms, metadata, scopes,
        left_scopes, unranked`;
const ENTRY_UPDATES = `lane = excluded.lane, version = excluded.version, removed = excluded.removed, score = excluded.score,
      columns = excluded.columns, achieved_at_ms = excluded.achieved_at_ms, metadata = excluded.metadata,
      scopes = excluded.scopes, left_scopes = excluded.left_scopes, unranked = excluded.unranked`;
const changed = (version: string): string => `
    INSERT INTO entries (${ENTRY_COLUMNS})
    SELECT ${entryValues(version)}
    FROM unnest(${ENTRY_ARRAYS}) AS e (${ENTRY_NAMES})
    ON CONFLICT (window_uid, player_id) DO UPDATE SET ${ENTRY_UPDATES}`;

const INTO_OUTBOX = `
  INSERT INTO outbox (lane, position, topic, key, payload)
  SELECT $1::smallint, o.position, o.topic, o.key, o.payload
  FROM unnest($24::bigint[], $25::text[], $26::text[], $27::text[]) AS o (position, topic, key, payload)`;

/** Everything that every batch changes, in one statement: submissions, entries and outbox rows. */
export const WRITE_LANE_BATCH = prepared(`
  WITH accepted AS (${ACCEPTED}
  ), changed AS (${changed('e.version')}
  )${INTO_OUTBOX}`);

/**
 * The same where a board keeps runs: with `$29`, the run that each entry rests on (0: none that is kept), and `$30`, on boards
 * with decay, its runs as JSON.
 */
export const WRITE_LANE_BATCH_OF_RUNS = prepared(`
  WITH accepted AS (${ACCEPTED}
  ), changed AS (
    INSERT INTO entries (${ENTRY_COLUMNS}, run_position, patch_runs)
    SELECT ${entryValues('e.version')}, nullif(e.run_position, 0), e.patch_runs::jsonb
    FROM unnest(${ENTRY_ARRAYS}, $29::bigint[], $30::text[]) AS e (${ENTRY_NAMES}, run_position, patch_runs)
    ON CONFLICT (window_uid, player_id) DO UPDATE SET ${ENTRY_UPDATES}, run_position = excluded.run_position,
      patch_runs = excluded.patch_runs
  )${INTO_OUTBOX}`);

/** The log position of the n-th event, which the statement itself draws. */
const positionOf = (n: string): string => `((SELECT positions FROM drawn))[(${n})::int]`;

/**
 * Whether the transaction is of a lane. What is sent behind its beginning, without waiting for that, is a transaction of its own
 * where the beginning was cancelled.
 */
const IN_LANE = `coalesce(current_setting('laddercast.lane', true), '') <> ''`;

/** Whether a lane has the head that its writer left, and boards, players and the time are as that assumes. */
const AS_ASSUMED = `${IN_LANE} AND ${headOf('$30::regclass')} = $31 AND n.ms >= $35::bigint AND n.ms < $36::bigint
        AND NOT EXISTS (
          SELECT FROM unnest($32::int[], $33::bigint[]) AS k (board_uid, revision)
          LEFT JOIN LATERAL (
            SELECT revision FROM boards WHERE board_uid = k.board_uid AND board_id IS NOT NULL LIMIT 1) AS b ON true
          WHERE b.revision IS DISTINCT FROM k.revision)
        AND CASE WHEN (SELECT player_id FROM sanctions WHERE ended_at IS NULL ORDER BY player_id LIMIT 1) IS NULL THEN true
          ELSE NOT EXISTS (
            SELECT FROM unnest($34::text[]) AS k (player_id)
            CROSS JOIN LATERAL (
              SELECT FROM sanctions WHERE player_id = k.player_id AND ended_at IS NULL LIMIT 1) AS s) END`;

/**
 * The same for a batch that was folded before the lane was taken: where log positions stand in WRITE_LANE_BATCH it has numbers of
 * events, from 1. `$12` are the answers behind their versions, and `$29` the versions, below 0 those of events. Assumed is that
 * the sequence `$30` makes the head `$31`, boards `$32` have the revisions `$33`, players `$34` have no sanctions, and it is `$35`
 * or later, and earlier than `$36` (Unix ms). Answers the ledger's time and the positions. Fails by LC001.
 */
export const CONTINUE_LANE = prepared(`
  WITH drawn AS MATERIALIZED (
    SELECT n.ms, CASE WHEN ${AS_ASSUMED}
      THEN ARRAY(SELECT nextval('ladder_position') FROM generate_series(1, cardinality($24::bigint[])))
      ELSE ladder_refuse_commit() END AS positions
    FROM (SELECT floor(extract(epoch FROM ladder_now()) * 1000)::bigint AS ms OFFSET 0) AS n
  ), accepted AS (${accepted(
    `'[' || CASE WHEN s.version < 0 THEN ${positionOf('-s.version')} ELSE s.version END || s.answer`,
    { arrays: ', $29::bigint[]', names: ', version' },
  )}
  ), changed AS (${changed(positionOf('e.version'))}
  ), told AS (
    INSERT INTO outbox (lane, position, topic, key, payload)
    SELECT $1::smallint, ${positionOf('o.n')}, o.topic, o.key, o.payload
    FROM unnest($24::bigint[], $25::text[], $26::text[], $27::text[]) AS o (n, topic, key, payload))
  SELECT ms AS "nowMs", positions::float8[] AS positions FROM drawn`);

/**
 * Entries `$2`, `$3` were renewed at `$1`: only for those whose board has a limit that removes entries, so that others pay
 * nothing for it.
 */
export const RENEW_ENTRIES = `
  UPDATE entries SET renewed_at_ms = greatest(renewed_at_ms, $1::bigint) WHERE ctid = ANY (ARRAY(
    SELECT e.ctid FROM unnest($2::int[], $3::text[]) AS k (window_uid, player_id)
    CROSS JOIN LATERAL (
      SELECT ctid FROM entries WHERE window_uid = k.window_uid AND player_id = k.player_id OFFSET 0) AS e))`;

/** The runs of players `$2` that count in windows `$1`, from the hours `$3` on. */
export const READ_ATTEMPTS = `
  SELECT k.window_uid, k.player_id, a.hour, a.runs
  FROM unnest($1::int[], $2::text[], $3::int[]) AS k (window_uid, player_id, first_hour)
  CROSS JOIN LATERAL (
    SELECT hour, runs FROM attempts
    WHERE window_uid = k.window_uid AND player_id = k.player_id AND hour >= k.first_hour OFFSET 0) AS a`;

export const WRITE_ATTEMPTS = `
  INSERT INTO attempts (window_uid, player_id, hour, runs)
  SELECT * FROM unnest($1::int[], $2::text[], $3::int[], $4::int[])
  ON CONFLICT (window_uid, player_id, hour) DO UPDATE SET runs = excluded.runs`;

/** From which positions of their pools entries were fed; duplicates of a key are one row each. */
export const READ_FEED_POSITIONS = prepared(`
  SELECT f.window_uid AS "windowUid", f.player_id AS "playerId", f.position
  FROM unnest($1::int[], $2::text[]) AS k (window_uid, player_id)
  CROSS JOIN LATERAL (
    SELECT * FROM entry_feeds WHERE window_uid = k.window_uid AND player_id = k.player_id LIMIT 1) AS f`);

export const WRITE_FEED_POSITIONS = prepared(`
  INSERT INTO entry_feeds (window_uid, player_id, position)
  SELECT * FROM unnest($1::int[], $2::text[], $3::bigint[])
  ON CONFLICT (window_uid, player_id) DO UPDATE SET position = excluded.position`);

/** What the hours of rolling windows hold after a batch. */
export const CLEAR_ROLLING_HOURS = `
  DELETE FROM rolling_hours AS h USING unnest($1::int[], $2::text[]) AS k (window_uid, player_id)
  WHERE h.window_uid = k.window_uid AND h.player_id = k.player_id`;

export const WRITE_ROLLING_HOURS = `
  INSERT INTO rolling_hours (window_uid, player_id, hour, lane, score, columns, achieved_at_ms, metadata)
  SELECT h.window_uid, h.player_id, h.hour, $1::smallint, h.score, h.columns::float8[], h.achieved_at_ms, h.metadata
  FROM unnest($2::int[], $3::text[], $4::int[], $5::float8[], $6::text[], $7::bigint[], $8::text[])
    AS h (window_uid, player_id, hour, score, columns, achieved_at_ms, metadata)
  ON CONFLICT (window_uid, player_id, hour) DO UPDATE SET score = excluded.score, columns = excluded.columns,
    achieved_at_ms = excluded.achieved_at_ms, metadata = excluded.metadata`;

const saveFrozen = (condition: string): string => `
  INSERT INTO frozen_entries (window_uid, player_id, present, score, columns, achieved_at_ms, metadata, scopes,
    run_position, patch_runs)
  SELECT f.window_uid, f.player_id, f.present, f.score, f.columns::float8[], f.achieved_at_ms, f.metadata,
    f.scopes::int[], e.run_position, e.patch_runs
  FROM unnest($1::int[], $2::text[], $3::boolean[], $4::float8[], $5::text[], $6::bigint[], $7::text[], $8::text[])
    AS f (window_uid, player_id, present, score, columns, achieved_at_ms, metadata, scopes)
  LEFT JOIN LATERAL (
    SELECT run_position, patch_runs FROM entries WHERE window_uid = f.window_uid AND player_id = f.player_id LIMIT 1)
    AS e ON true
  WHERE ${condition}
  ON CONFLICT (window_uid, player_id) DO NOTHING`;

/** Entries as they stood at their window's freeze, before they change; what an earlier change has saved stays. */
export const SAVE_FROZEN_ENTRIES = saveFrozen('true');

/** The same in a transaction that said its lane, and nothing outside of one. */
export const SAVE_FROZEN_ENTRIES_IN_LANE = saveFrozen(IN_LANE);
