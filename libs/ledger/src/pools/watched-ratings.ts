import type { PlayerRating } from '@laddercast/domain';
import { int4Array, int8Array, textArray } from '../database/postgres-arrays.js';
import type { SqlRunner } from '../database/postgres-database.js';
import { prepared } from '../database/postgres-statements.js';
import { POOL_COLUMNS, type Pool, type PoolProgress } from './pool.js';
import { RATING_JSON } from './rating-rows.js';

/** A player of a pool whose changes after a position are asked for. */
export interface WatchedPlayer {
  poolUid: number;
  playerId: string;
  afterPosition: number;
}

/** A change of a rating, by its position in the pool. */
export interface WatchedChange {
  position: number;
  gameId: string;
  before: number;
  after: number;
}

/** Where a watched player stands, and how it came there. */
export interface WatchedRating {
  /** null before the first rated game. */
  rating: PlayerRating | null;
  isListed: boolean;
  /** Whether it is banned or shadowed on all boards. */
  isWithheld: boolean;
  /** The first of those after the position, the oldest first. */
  changes: WatchedChange[];
  /** By the database's clock. */
  nowMs: number;
}

/** One statement, so that a rating and its changes are of one moment. */
const WATCHED_RATINGS = prepared(`
  SELECT (SELECT ${RATING_JSON} FROM ratings AS r WHERE r.pool_uid = w.pool_uid AND r.player_id = w.player_id) AS rating,
    coalesce((SELECT listed FROM players WHERE player_id = w.player_id), true) AND s.kind IS NULL AS "isListed",
    coalesce(s.kind <> 'hide', false) AS "isWithheld",
    coalesce((SELECT json_agg(json_build_object('position', c.position, 'gameId', g.game_id, 'before', c.before_rating,
        'after', c.after_rating) ORDER BY c.position)
      FROM (SELECT * FROM rating_changes WHERE pool_uid = w.pool_uid AND player_id = w.player_id
        AND position > w.after_position AND refund IS NULL ORDER BY position LIMIT $4) AS c
      CROSS JOIN LATERAL (SELECT game_id FROM games WHERE pool_uid = w.pool_uid AND position = coalesce(c.game_position, c.position)
        LIMIT 1) AS g),
      '[]') AS changes,
    floor(extract(epoch FROM ladder_now()) * 1000)::bigint AS "nowMs"
  FROM unnest($1::int[], $2::text[], $3::bigint[]) WITH ORDINALITY AS w (pool_uid, player_id, after_position, place)
  LEFT JOIN LATERAL (
    SELECT kind FROM sanctions WHERE player_id = w.player_id AND ended_at IS NULL AND boards IS NULL LIMIT 1) AS s ON true
  ORDER BY w.place`);

/** What became of each of these players, in their order; of each at most so many changes. */
export const watchedRatings = (
  sql: SqlRunner,
  watched: readonly WatchedPlayer[],
  changesMax: number,
): Promise<WatchedRating[]> =>
  sql.query<WatchedRating>(WATCHED_RATINGS, [
    int4Array(watched.map(({ poolUid }) => poolUid)),
    textArray(watched.map(({ playerId }) => playerId)),
    int8Array(watched.map(({ afterPosition }) => afterPosition)),
    changesMax,
  ]);

const POOLS_BY_UID = prepared(`
  SELECT ${POOL_COLUMNS} FROM unnest($1::int[]) AS k (asked_uid)
  CROSS JOIN LATERAL (SELECT * FROM pools WHERE pool_uid = k.asked_uid AND pool_id IS NOT NULL LIMIT 1) AS p`);

/** Those of these pools that are there. */
export const poolsByUid = (sql: SqlRunner, uids: readonly number[]): Promise<(Pool & PoolProgress)[]> =>
  sql.query<Pool & PoolProgress>(POOLS_BY_UID, [int4Array(uids)]);
