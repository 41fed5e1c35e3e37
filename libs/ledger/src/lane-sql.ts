/**
 * What a batch touches, in one round trip: entries by key, submissions by id, boards by uid.
 * LATERAL with LIMIT 1 keeps every look-up an index probe: joined plainly, the planner, which cannot know that the
 * arrays are short, scans whole tables.
 */
export const READ_LANE_BATCH = `
  SELECT 'entry' AS what, k.n::int AS n, e.version, e.removed AS gone, e.score, e.columns, e.achieved_at_ms,
    e.metadata AS text, NULL::bytea AS body_sha256
  FROM unnest($1::int[], $2::text[]) WITH ORDINALITY AS k (window_uid, player_id, n)
  CROSS JOIN LATERAL (
    SELECT * FROM entries WHERE window_uid = k.window_uid AND player_id = k.player_id LIMIT 1) AS e
  UNION ALL
  SELECT 'submission', k.n::int, NULL, NULL, NULL, NULL, NULL, s.answer, s.body_sha256
  FROM unnest($3::int[], $4::text[], $5::text[]) WITH ORDINALITY AS k (board_uid, owner, submission_id, n)
  CROSS JOIN LATERAL (
    SELECT * FROM submissions
    WHERE board_uid = k.board_uid AND owner = k.owner AND submission_id = k.submission_id LIMIT 1) AS s
  UNION ALL
  SELECT 'board', b.board_uid, b.revision, b.board_id IS NULL, NULL, NULL, NULL, NULL, NULL
  FROM unnest($6::int[]) AS k (board_uid)
  CROSS JOIN LATERAL (SELECT * FROM boards WHERE board_uid = k.board_uid LIMIT 1) AS b`;

/** Everything a batch changes, in one statement: submissions, entries and outbox rows. */
export const WRITE_LANE_BATCH = `
  WITH accepted AS (
    INSERT INTO submissions (board_uid, owner, submission_id, player_id, body_sha256, score, columns, achieved_at_ms,
      metadata, answer, accepted_at)
    SELECT s.board_uid, s.owner, s.submission_id, s.player_id, s.body_sha256, s.score, s.columns::float8[],
      s.achieved_at_ms, s.metadata, s.answer, to_timestamp($2::float8 / 1000)
    FROM unnest($3::int[], $4::text[], $5::text[], $6::text[], $7::bytea[], $8::float8[], $9::text[], $10::bigint[],
      $11::text[], $12::text[])
      AS s (board_uid, owner, submission_id, player_id, body_sha256, score, columns, achieved_at_ms, metadata, answer)
  ), changed AS (
    INSERT INTO entries (window_uid, player_id, board_uid, lane, version, removed, score, columns, achieved_at_ms,
      metadata)
    SELECT e.window_uid, e.player_id, e.board_uid, $1::smallint, e.version, e.removed, e.score, e.columns::float8[],
      e.achieved_at_ms, e.metadata
    FROM unnest($13::int[], $14::text[], $15::int[], $16::bigint[], $17::boolean[], $18::float8[], $19::text[],
      $20::bigint[], $21::text[])
      AS e (window_uid, player_id, board_uid, version, removed, score, columns, achieved_at_ms, metadata)
    ON CONFLICT (window_uid, player_id) DO UPDATE SET version = excluded.version, removed = excluded.removed,
      score = excluded.score, columns = excluded.columns, achieved_at_ms = excluded.achieved_at_ms,
      metadata = excluded.metadata
  )
  INSERT INTO outbox (lane, position, topic, key, payload)
  SELECT $1::smallint, o.position, o.topic, o.key, o.payload
  FROM unnest($22::bigint[], $23::text[], $24::text[], $25::text[]) AS o (position, topic, key, payload)`;
