import { HOUR_MS, type Peak, type PlayerRating, type RatingState } from '@laddercast/domain';
import { int4Array, int8Array, textArray } from '../database/postgres-arrays.js';
import type { SqlRunner } from '../database/postgres-database.js';
import { prepared } from '../database/postgres-statements.js';
import type { PoolDefinition } from '../pools/pool.js';
import { CLOCKS_APART_MS } from '../pools/recorded-games.js';
import { RATING_JSON } from '../pools/rating-rows.js';

/** A player and a stretch of time. */
export interface StretchOfPlayer {
  readonly playerId: string;
  readonly of: Stretch;
}

/**
 * Unix ms, from the first to before the second, of games that were recorded before the third; or so many whole hours up to
 * now, the running one among them.
 */
export type Stretch =
  | { readonly startsAtMs: number; readonly endsAtMs: number; readonly recordedBeforeMs: number }
  | { readonly rollingHours: number };

/** A player's games in a stretch of time. */
export interface GamesOfStretch {
  readonly games: number;
  readonly wins: number;
  readonly before: number;
  readonly after: RatingState;
  /** How many the player had in the pool after the last of them. */
  readonly gamesSoFar: number;
  readonly peak: Pick<Peak, 'rating' | 'atMs'> | null;
  readonly firstPlayedAtMs: number;
  readonly lastPlayedAtMs: number;
}

/** Where a player stands over all time, beside its rating. */
export interface RatedPlayer {
  readonly playerId: string;
  readonly rating: PlayerRating;
  /** The rating before the first game; null: not asked. */
  readonly before: number | null;
  /** The best rating after a game after which the player was not provisional; null also where the pool has no such rules. */
  readonly peak: Pick<Peak, 'rating' | 'atMs'> | null;
}

/** A pool, and what was asked of its players, all of one moment. */
export interface FedState {
  readonly definition: PoolDefinition;
  readonly ratedPosition: number;
  /** From when on games have their changes, Unix ms; null: none was given up. Where the pool rates by periods see `historyPeriod`. */
  readonly historyFromMs: number | null;
  /** The last period whose changes were given up; null: none was. */
  readonly historyPeriod: number | null;
  /** By the ledger's clock, Unix ms. */
  readonly nowMs: number;
  readonly players: readonly RatedPlayer[];
  /** In the order asked; null: no game. */
  readonly stretches: readonly (GamesOfStretch | null)[];
}

/**
 * The games of player `k.player_id` from a position on, the number of games that the player had after each among it. By
 * periods the last game of each alone is settled: before that the rating is the one that the period began with.
 */
export const gamesFrom = (position: string): string => `
  SELECT c.position, c.before_rating, c.after_rating, c.after_deviation, c.after_volatility, c.after_memory, c.outcome,
    g.played_at_ms, g.recorded_at, rated.games - row_number() OVER (ORDER BY c.position DESC) + 1 AS games_so_far,
    c.game_position IS NULL OR lead(c.position) OVER (ORDER BY c.position) IS DISTINCT FROM c.position + 1 AS is_settled
  FROM (SELECT * FROM rating_changes WHERE pool_uid = $1 AND player_id = k.player_id AND position >= ${position}
    AND refund IS NULL) AS c
  CROSS JOIN LATERAL (
    SELECT played_at_ms, recorded_at FROM games
    WHERE pool_uid = $1 AND position = coalesce(c.game_position, c.position) LIMIT 1) AS g
  CROSS JOIN LATERAL (
    SELECT games FROM ratings WHERE pool_uid = $1 AND player_id = k.player_id LIMIT 1) AS rated`;

/** The best of rows of {@link gamesFrom}, those left out after which the player was provisional by the rules of a definition. */
export const bestGame = (definition: string): string => `
  (array_agg(json_build_object('rating', after_rating, 'atMs', played_at_ms) ORDER BY after_rating DESC, position)
    FILTER (WHERE is_settled AND games_so_far >= coalesce((${definition} #>> '{provisional,games}')::float8, 0)
      AND coalesce(after_deviation, 0) <= coalesce((${definition} #>> '{provisional,deviationAbove}')::float8, 'Infinity')))[1]`;

const BEST_GAME = bestGame('pools.definition');

/** Of rows of {@link gamesFrom}: the rating before the first of them, and the state after the last. */
export const BEFORE_AND_AFTER = `
          (array_agg(before_rating ORDER BY position))[1] AS before,
          (array_agg(json_build_object('rating', after_rating, 'deviation', after_deviation, 'volatility',
            after_volatility, 'memory', coalesce(after_memory, '{}')) ORDER BY position DESC))[1] AS after`;

/** The first position that may hold a game played from the time `ms` on, Unix ms: a game is recorded after it was played. */
export const positionSince = (ms: string): string => `(
          SELECT position FROM games
          WHERE pool_uid = $1 AND recorded_at >= to_timestamp((${ms} - ${CLOCKS_APART_MS})::float8 / 1000)
          ORDER BY recorded_at, position LIMIT 1)`;

const FED_STATE = prepared(`
  SELECT definition, rated_position AS "ratedPosition", history_from_ms AS "historyFromMs", history_period AS "historyPeriod",
    floor(extract(epoch FROM ladder_now()) * 1000)::bigint AS "nowMs",
    coalesce((SELECT json_agg(json_build_object('playerId', k.player_id, 'rating', ${RATING_JSON}, 'before', coalesce(base.first_rating, first.rating),
        'peak', CASE WHEN $6::boolean AND jsonb_typeof(pools.definition -> 'provisional') = 'object' THEN (
          SELECT peak FROM (
            SELECT ${BEST_GAME} AS peak, 1 AS place FROM (${gamesFrom('0')}) AS counted
            UNION ALL
            SELECT json_build_object('rating', base.counted_peak_rating, 'atMs', base.counted_peak_at_ms), 0
            WHERE base.counted_peak_rating IS NOT NULL) AS best
          WHERE peak IS NOT NULL ORDER BY (peak ->> 'rating')::float8 DESC, place LIMIT 1) END))
      FROM unnest($2::text[]) AS k (player_id)
      CROSS JOIN LATERAL (SELECT * FROM ratings WHERE pool_uid = $1 AND player_id = k.player_id LIMIT 1) AS r
      LEFT JOIN LATERAL (SELECT before_rating AS rating FROM rating_changes
        WHERE $7::boolean AND pool_uid = $1 AND player_id = k.player_id ORDER BY position LIMIT 1) AS first ON true
      LEFT JOIN LATERAL (SELECT first_rating, counted_peak_rating, counted_peak_at_ms FROM rating_bases
        WHERE pools.history_position > 0 AND pool_uid = $1 AND player_id = k.player_id LIMIT 1) AS base ON true),
      '[]') AS players,
    coalesce((SELECT json_agg(CASE WHEN w.games = 0 THEN NULL ELSE to_json(w) END ORDER BY k.n)
      FROM unnest($3::text[], $4::bigint[], $5::bigint[], $8::int[], $9::bigint[]) WITH ORDINALITY
        AS s (player_id, starts_at, ends_at, hours, recorded_before, n)
      CROSS JOIN LATERAL (SELECT s.player_id, s.n, s.ends_at, to_timestamp(s.recorded_before::float8 / 1000) AS recorded_before, CASE WHEN s.hours = 0 THEN s.starts_at
        ELSE (floor(extract(epoch FROM ladder_now()) / 3600)::bigint - s.hours + 1) * ${HOUR_MS} END AS starts_at) AS k
      CROSS JOIN LATERAL (
        SELECT count(*) AS games, count(*) FILTER (WHERE outcome = 'win') AS wins,${BEFORE_AND_AFTER},
          (array_agg(games_so_far ORDER BY position DESC))[1] AS "gamesSoFar",
          ${BEST_GAME} AS peak, min(played_at_ms) AS "firstPlayedAtMs", max(played_at_ms) AS "lastPlayedAtMs"
        FROM (${gamesFrom(positionSince('k.starts_at'))}) AS recorded
        WHERE played_at_ms >= k.starts_at AND played_at_ms < k.ends_at AND (recorded_at < k.recorded_before
          OR jsonb_typeof(pools.definition -> 'periods') = 'object')) AS w), '[]') AS stretches
  FROM pools WHERE pool_uid = $1 AND pool_id IS NOT NULL`);

/**
 * What is to be written to the boards of a pool, by one statement, so that it is of one moment; undefined where the pool is
 * gone. Who has no rated game is not among the players.
 *
 * A game is recorded after it was played, and positions are in the order in which games were recorded: so the games of a
 * window lie behind the first that was recorded since it began, and no older change of a player is looked at.
 * @param asked `peaks`: whether peaks over all time are looked for where some games are left out of them; `gains`: whether
 * the rating before the first game is
 */
export async function readFedState(
  sql: SqlRunner,
  poolUid: number,
  asked: { players: readonly string[]; stretches: readonly StretchOfPlayer[]; peaks: boolean; gains: boolean },
): Promise<FedState | undefined> {
  const { players, stretches, peaks, gains } = asked;
  const [row] = await sql.query<FedState>(FED_STATE, [
    poolUid,
    textArray(players),
    textArray(stretches.map(({ playerId }) => playerId)),
    int8Array(stretches.map(({ of }) => ('rollingHours' in of ? 0 : of.startsAtMs))),
    int8Array(stretches.map(({ of }) => ('rollingHours' in of ? Number.MAX_SAFE_INTEGER : of.endsAtMs))),
    peaks,
    gains,
    int4Array(stretches.map(({ of }) => ('rollingHours' in of ? of.rollingHours : 0))),
    int8Array(stretches.map(({ of }) => ('rollingHours' in of ? Number.MAX_SAFE_INTEGER : of.recordedBeforeMs))),
  ]);
  return row;
}
