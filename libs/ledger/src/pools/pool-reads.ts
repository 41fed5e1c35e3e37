import type { Outcome, PlayerRating, UnratedReason } from '@laddercast/domain';
import { textArray } from '../database/postgres-arrays.js';
import type { SqlRunner } from '../database/postgres-database.js';
import { prepared } from '../database/postgres-statements.js';
import { RATING_JSON } from './rating-rows.js';
import type { RecordedPlayer, VoidMode } from './recorded-games.js';

/** What a game did to one player, as it is shown: `before` and `after` are ratings. */
export interface ShownChange {
  playerId: string;
  before: number;
  after: number;
  expected: number;
  k: number | null;
}

/** A recorded game with what it did. */
export interface RecordedGame {
  gameId: string;
  position: number;
  playedAtMs: number;
  recordedAtMs: number;
  weight: number;
  players: RecordedPlayer[];
  metadata: string | null;
  unrated: UnratedReason | null;
  /** What a void of it does; null: it counts. */
  voided: VoidMode | null;
  /** Whether it was looked at; one that is not is pending. */
  isRated: boolean;
  /** Whether what it did is kept no longer: changes are missing then. */
  isGone: boolean;
  /** In the order of the players of the game, those whom it did not move left out. */
  changes: ShownChange[];
}

/** A change of a player's rating, and the game that made it. */
export interface RatingStep extends Omit<ShownChange, 'playerId' | 'expected'> {
  /** Whether it is no game's doing: points lost in the game were given back when it was made void. */
  isRefund: boolean;
  /** null for a refund, as the outcome. */
  expected: number | null;
  gameId: string;
  position: number;
  playedAtMs: number;
  outcome: Outcome | null;
  /** What computed it, such as elo@1. */
  engine: string;
  /** Of the correction after which it was computed again; null: it is as the game made it. */
  recomputedBy: number | null;
  players: RecordedPlayer[];
}

/** Which games: the newest first. */
export interface GamesPage {
  /** null: of everybody. */
  playerId: string | null;
  /** Only those before; null: from the newest on. */
  beforePosition: number | null;
  limit: number;
}

/** No position is as large. */
const LAST = Number.MAX_SAFE_INTEGER;

/** Of a row `g` of games and `p`, its pool: whether what the game did is kept no longer. */
export const IS_GONE = `(g.position <= p.history_position AND coalesce(g.period <= p.history_period, g.period IS NULL))`;

/** The columns of a {@link RecordedGame}: of `g`, a row of games, and `p`, its pool. */
const GAME_COLUMNS = `
  g.game_id AS "gameId", g.position, g.played_at_ms AS "playedAtMs",
  floor(extract(epoch FROM g.recorded_at) * 1000)::bigint AS "recordedAtMs", g.weight, g.players, g.metadata,
  g.unrated, g.void_mode AS voided, 
  CASE WHEN g.period IS NULL THEN g.position <= p.rated_position
    ELSE g.period <= coalesce(p.rated_period, g.period - 1) END AS "isRated",
  ${IS_GONE} AS "isGone",
  coalesce((SELECT json_agg(json_build_object('playerId', c.player_id, 'before', c.before_rating, 'after',
      c.after_rating, 'expected', c.expected, 'k', c.k) ORDER BY named.place)
    FROM jsonb_array_elements(g.players) WITH ORDINALITY AS named (player, place)
    CROSS JOIN LATERAL (
      SELECT * FROM rating_changes
      WHERE g.period IS NULL AND pool_uid = g.pool_uid AND player_id = named.player ->> 'playerId'
        AND position = g.position
      UNION ALL
      SELECT * FROM rating_changes
      WHERE g.period IS NOT NULL AND pool_uid = g.pool_uid AND player_id = named.player ->> 'playerId'
        AND position > g.position AND game_position = g.position AND refund IS NULL
      LIMIT 1) AS c),
    '[]') AS changes`;

const GAMES_BY_ID = prepared(`
  SELECT ${GAME_COLUMNS} FROM unnest($2::text[]) AS k (game_id)
  CROSS JOIN LATERAL (SELECT * FROM games WHERE pool_uid = $1 AND game_id = k.game_id LIMIT 1) AS g
  JOIN pools AS p ON p.pool_uid = g.pool_uid`);

const GAMES_OF_POOL = prepared(`
  SELECT ${GAME_COLUMNS} FROM (
    SELECT * FROM games WHERE pool_uid = $1 AND position < $2 ORDER BY position DESC LIMIT $3) AS g
  JOIN pools AS p ON p.pool_uid = g.pool_uid ORDER BY g.position DESC`);

const GAMES_OF_PLAYER = prepared(`
  SELECT ${GAME_COLUMNS} FROM (
    SELECT position FROM game_players WHERE pool_uid = $1 AND player_id = $4 AND position < $2
    ORDER BY position DESC LIMIT $3) AS of_player
  CROSS JOIN LATERAL (
    SELECT * FROM games WHERE pool_uid = $1 AND position = of_player.position LIMIT 1) AS g
  JOIN pools AS p ON p.pool_uid = g.pool_uid ORDER BY g.position DESC`);

const RATING_OF_PLAYER = `
  SELECT ${RATING_JSON} AS rating, floor(extract(epoch FROM ladder_now()) * 1000)::bigint AS "nowMs"
  FROM ratings AS r WHERE r.pool_uid = $1 AND r.player_id = $2`;

const RATINGS_OF_PLAYERS = prepared(`
  SELECT floor(extract(epoch FROM ladder_now()) * 1000)::bigint AS "nowMs",
    coalesce((SELECT json_agg(json_build_object('playerId', k.player_id, 'rating', ${RATING_JSON},
        'isListed', coalesce((SELECT listed FROM players WHERE player_id = k.player_id), true)
          AND NOT EXISTS (SELECT 1 FROM sanctions WHERE player_id = k.player_id AND ended_at IS NULL AND boards IS NULL),
        'isWithheld', EXISTS (SELECT 1 FROM sanctions
          WHERE player_id = k.player_id AND ended_at IS NULL AND boards IS NULL AND kind <> 'hide')))
      FROM unnest($2::text[]) AS k (player_id)
      CROSS JOIN LATERAL (SELECT * FROM ratings WHERE pool_uid = $1 AND player_id = k.player_id LIMIT 1) AS r),
    '[]') AS ratings`);

const CHANGES_OF_PLAYER = prepared(`
  SELECT g.game_id AS "gameId", c.position, g.played_at_ms AS "playedAtMs", c.before_rating AS before,
    c.after_rating AS after, c.expected, c.k, c.outcome, c.engine, c.refund IS NOT NULL AS "isRefund",
    c.recomputed_by AS "recomputedBy", g.players
  FROM (
    SELECT * FROM rating_changes WHERE pool_uid = $1 AND player_id = $2 AND position < $3
    ORDER BY position DESC LIMIT $4) AS c
  CROSS JOIN LATERAL (SELECT * FROM games WHERE pool_uid = $1 AND position = coalesce(c.game_position, c.position) LIMIT 1) AS g
  ORDER BY c.position DESC`);

/** Those of these games that there are. */
export const gamesById = (sql: SqlRunner, poolUid: number, gameIds: readonly string[]): Promise<RecordedGame[]> =>
  sql.query<RecordedGame>(GAMES_BY_ID, [poolUid, gameIds]);

/** A page of a pool's games, or of a player's in it. */
export function gamesOfPool(
  sql: SqlRunner,
  poolUid: number,
  { playerId, beforePosition, limit }: GamesPage,
): Promise<RecordedGame[]> {
  const page = [poolUid, beforePosition ?? LAST, limit];
  return playerId === null
    ? sql.query<RecordedGame>(GAMES_OF_POOL, page)
    : sql.query<RecordedGame>(GAMES_OF_PLAYER, [...page, playerId]);
}

/** Where a player stands, as of `nowMs` by the database's clock; undefined before the first rated game. */
export async function ratingOfPlayer(
  sql: SqlRunner,
  poolUid: number,
  playerId: string,
): Promise<{ rating: PlayerRating; nowMs: number } | undefined> {
  const [row] = await sql.query<{ rating: PlayerRating; nowMs: number }>(RATING_OF_PLAYER, [poolUid, playerId]);
  return row;
}

/** Where one of several players stands. */
export interface RatingOfPlayer {
  playerId: string;
  rating: PlayerRating;
  /** Whether others see the player. */
  isListed: boolean;
  /** Whether it is banned or shadowed on all boards. */
  isWithheld: boolean;
}

/** Where these players stand at one moment, as of `nowMs` by the database's clock; those without a rated game are left out. */
export async function ratingsOfPlayers(
  sql: SqlRunner,
  poolUid: number,
  playerIds: readonly string[],
): Promise<{ ratings: RatingOfPlayer[]; nowMs: number }> {
  const values = [poolUid, textArray([...new Set(playerIds)])];
  const [row] = await sql.query<{ ratings: RatingOfPlayer[]; nowMs: number }>(RATINGS_OF_PLAYERS, values);
  return row!;
}

/** The newest changes of a player's rating before a position (null: from the newest on). */
export const changesOfPlayer = (
  sql: SqlRunner,
  poolUid: number,
  playerId: string,
  { beforePosition, limit }: Omit<GamesPage, 'playerId'>,
): Promise<RatingStep[]> =>
  sql.query<RatingStep>(CHANGES_OF_PLAYER, [poolUid, playerId, beforePosition ?? LAST, limit]);

const RATED_POSITIONS = prepared(`
  SELECT p.pool_uid AS "poolUid", p.rated_position AS "ratedPosition" FROM unnest($1::int[]) AS k (pool_uid)
  CROSS JOIN LATERAL (SELECT * FROM pools WHERE pool_uid = k.pool_uid AND pool_id IS NOT NULL LIMIT 1) AS p`);

/** Up to where these pools are rated, by uid; those that are gone are left out. */
export async function ratedPositions(sql: SqlRunner, poolUids: readonly number[]): Promise<Map<number, number>> {
  const rows = await sql.query<{ poolUid: number; ratedPosition: number }>(RATED_POSITIONS, [poolUids]);
  return new Map(rows.map(({ poolUid, ratedPosition }) => [poolUid, ratedPosition]));
}

const POOL_IDS =
  'SELECT pool_uid AS uid, pool_id AS id FROM pools WHERE pool_uid = ANY($1::int[]) AND pool_id IS NOT NULL';

/** The ids of pools by their numbers; of those that are gone there is none. */
export async function poolIdsOf(database: SqlRunner, poolUids: readonly number[]): Promise<Map<number, string>> {
  if (poolUids.length === 0) return new Map();
  const rows = await database.query<{ uid: number; id: string }>(POOL_IDS, [[...poolUids]]);
  return new Map(rows.map(({ uid, id }) => [uid, id]));
}
