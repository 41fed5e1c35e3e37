import type { SqlRunner } from '../database/postgres-database.js';
import { prepared } from '../database/postgres-statements.js';
import { CLOCKS_APART_MS } from './recorded-games.js';

/** The most buckets from the lowest rating to the highest: where they are further apart, buckets are wider. */
export const BUCKETS_MAX = 400;

/** How the ratings of a pool are spread, as of `nowMs` by the database's clock. */
export interface RatingDistribution {
  players: number;
  sum: number;
  /** null without players. */
  mean: number | null;
  median: number | null;
  /** Players whose last game was played within the week. */
  active: number;
  /** Of those, the players whose first game was, too. */
  newcomers: number;
  /** How many points a bucket holds. */
  bucketWidth: number;
  /** The lowest first, those without players left out; `from` is in the bucket, `from` + `bucketWidth` is not. */
  histogram: { from: number; players: number }[];
  ratedPosition: number;
  nowMs: number;
}

/**
 * One look at the ratings, kept for the statement. Whether a player is new is looked up only for those who were active:
 * the first change of each, and its game, by a probe of an index each.
 */
const DISTRIBUTION = prepared(`
  WITH pool AS (
    SELECT rated_position, floor(extract(epoch FROM ladder_now()) * 1000)::bigint AS now_ms
    FROM pools WHERE pool_uid = $1
  ), since AS (SELECT now_ms - 7 * 86400000::bigint AS ms FROM pool
  ), recent AS (
    SELECT position FROM games
    WHERE pool_uid = $1 AND recorded_at >= to_timestamp(((SELECT ms FROM since) - ${CLOCKS_APART_MS})::float8 / 1000)
    ORDER BY recorded_at, position LIMIT 1
  ), standing AS MATERIALIZED (
    SELECT player_id, rating, last_played_at_ms >= (SELECT ms FROM since) AS is_active FROM ratings WHERE pool_uid = $1
  ), total AS (
    SELECT count(*) AS players, coalesce(sum(rating), 0) AS sum, avg(rating) AS mean,
      percentile_cont(0.5) WITHIN GROUP (ORDER BY rating) AS median, count(*) FILTER (WHERE is_active) AS active,
      $2::float8 * 2 ^ greatest(0, ceil(log(2, greatest(1, (max(rating) - min(rating)) / ($2::float8 * ${BUCKETS_MAX}))::numeric)))::float8
        AS width
    FROM standing
  ), bucket AS (
    SELECT floor(rating / (SELECT width FROM total)) AS place, count(*) AS players FROM standing GROUP BY 1
  )
  SELECT t.players, t.sum, t.mean, t.median, t.active, coalesce(t.width, $2::float8) AS "bucketWidth",
    (SELECT count(*) FROM (SELECT player_id FROM standing WHERE is_active) AS s
      CROSS JOIN LATERAL (
        SELECT position, game_position FROM rating_changes WHERE pool_uid = $1 AND player_id = s.player_id
          AND position >= (SELECT position FROM recent) ORDER BY position LIMIT 1) AS c
      CROSS JOIN LATERAL (
        SELECT played_at_ms FROM games WHERE pool_uid = $1 AND position = coalesce(c.game_position, c.position) LIMIT 1) AS g
      -- What was recorded before was played before. Most active players have a change of not long before that.
      LEFT JOIN LATERAL (
        SELECT position FROM rating_changes WHERE pool_uid = $1 AND player_id = s.player_id
          AND position < (SELECT position FROM recent) ORDER BY position DESC LIMIT 1) AS earlier ON true
      WHERE g.played_at_ms >= (SELECT ms FROM since) AND earlier.position IS NULL
        -- Who has older changes that are not kept is none.
        AND NOT EXISTS (SELECT FROM rating_bases WHERE pool_uid = $1 AND player_id = s.player_id)) AS newcomers,
    coalesce((SELECT json_agg(json_build_object('from', b.place * t.width, 'players', b.players) ORDER BY b.place)
      FROM bucket AS b), '[]') AS histogram,
    p.rated_position AS "ratedPosition", p.now_ms AS "nowMs"
  FROM total AS t CROSS JOIN pool AS p`);

/**
 * How a pool's ratings are spread; undefined where it is gone. It reads all of them: what asks often keeps the answer.
 * @param bucketWidth in points, where the ratings are not too far apart for it
 */
export async function ratingDistribution(
  sql: SqlRunner,
  poolUid: number,
  bucketWidth: number,
): Promise<RatingDistribution | undefined> {
  const [row] = await sql.query<RatingDistribution>(DISTRIBUTION, [poolUid, bucketWidth]);
  return row;
}
