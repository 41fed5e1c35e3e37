import type { FoldedGames, PlayerRating, PoolGame, RatingChange, RatingState } from '@laddercast/domain';
import { float8Array, int4Array, int8Array, textArray } from '../database/postgres-arrays.js';
import type { SqlRunner } from '../database/postgres-database.js';
import { prepared } from '../database/postgres-statements.js';
import { drawPositions } from '../lanes/lane-events.js';
import type { PoolDefinition } from './pool.js';
import type { PoolEvent } from './pool-events.js';
import { wordRatings, type ToldRating } from './untold-ratings.js';

/** The most games that are rated in one transaction, and about the most players in them: their rows hold the lane. */
export const TURN_GAMES_MAX = 500;
const TURN_PLAYERS_MAX = 2000;

/** The rating of a row `r` of ratings, as JSON: PostgreSQL writes doubles so that they come back bit for bit. */
export const RATING_JSON = `json_build_object(
  'state', json_build_object('rating', r.rating, 'deviation', r.deviation, 'volatility', r.volatility,
    'memory', coalesce(r.memory, '{}')),
  'games', r.games, 'wins', r.wins, 'draws', r.draws, 'losses', r.losses,
  'peak', CASE WHEN r.peak_rating IS NOT NULL THEN
    json_build_object('rating', r.peak_rating, 'atMs', r.peak_at_ms, 'gameId', r.peak_game_id) END,
  'lastPlayedAtMs', r.last_played_at_ms, 'position', r.position)`;

interface WorkOfTurnRow {
  id: string;
  definition: PoolDefinition;
  ratedPosition: number;
  /** None where the event is next. */
  games: PoolGame[];
  ratings: { playerId: string; rating: PlayerRating }[];
  /** What comes after these games, be it at once or later; null where nothing but games is recorded. */
  event: PoolEvent | null;
  /** Whether events of an earlier turn are still to be told: nothing else comes before. */
  hasUntold: boolean;
  /** By the ledger's clock, Unix ms. */
  nowMs: number;
}

/** What a turn of a pool begins with: its next games and where their players stand before them, or its next event. */
export interface WorkOfTurn extends Omit<WorkOfTurnRow, 'ratings'> {
  ratings: ReadonlyMap<string, PlayerRating>;
}

/** One statement, so that games and ratings are of one moment. */
const WORK_OF_TURN = prepared(`
  WITH pool AS (
    SELECT pool_id, definition, rated_position FROM pools WHERE pool_uid = $1 AND pool_id IS NOT NULL
  ), event AS MATERIALIZED (
    SELECT position, type, payload FROM pool_events
    WHERE pool_uid = $1 AND position > (SELECT rated_position FROM pool) ORDER BY position LIMIT 1
  ), next AS MATERIALIZED (
    SELECT g.*, sum(jsonb_array_length(g.players)) OVER places AS players_so_far, row_number() OVER places AS place
    FROM (SELECT * FROM games WHERE pool_uid = $1 AND position > (SELECT rated_position FROM pool)
        AND position < coalesce((SELECT position FROM event), 9223372036854775807) ORDER BY position LIMIT ${TURN_GAMES_MAX}) AS g
    WINDOW places AS (ORDER BY g.position)
  ), taken AS MATERIALIZED (
    SELECT * FROM next WHERE place = 1 OR players_so_far <= ${TURN_PLAYERS_MAX}
  ), named AS (
    SELECT DISTINCT player ->> 'playerId' AS player_id FROM taken CROSS JOIN jsonb_array_elements(players) AS player
  )
  SELECT pool_id AS id, definition, rated_position AS "ratedPosition",
    coalesce((SELECT json_agg(json_build_object('gameId', game_id, 'position', position, 'playedAtMs', played_at_ms,
      'weight', weight, 'players', players, 'results', results) ORDER BY position) FROM taken), '[]') AS games,
    coalesce((SELECT json_agg(json_build_object('playerId', r.player_id, 'rating', ${RATING_JSON})) FROM named
      CROSS JOIN LATERAL (
        SELECT * FROM ratings WHERE pool_uid = $1 AND player_id = named.player_id LIMIT 1) AS r), '[]') AS ratings,
    (SELECT json_build_object('position', position, 'type', type, 'payload', payload) FROM event) AS event,
    EXISTS (SELECT FROM untold_ratings WHERE pool_uid = $1) AS "hasUntold",
    floor(extract(epoch FROM ladder_now()) * 1000)::bigint AS "nowMs"
  FROM pool`);

/** What of a pool is not rated; undefined where the pool is gone. */
export async function readWorkOfTurn(transaction: SqlRunner, poolUid: number): Promise<WorkOfTurn | undefined> {
  const [row] = await transaction.query<WorkOfTurnRow>(WORK_OF_TURN, [poolUid]);
  return row && { ...row, ratings: new Map(row.ratings.map(({ playerId, rating }) => [playerId, rating])) };
}

const MOVE_RATED_POSITION = prepared(`
  UPDATE pools SET rated_position = $3, games_rated = games_rated + $4, players = players + $5
  WHERE pool_uid = $1 AND rated_position = $2 AND pool_id IS NOT NULL RETURNING pool_uid`);

/** A step of a pool's rating: between two positions, with so many games, and players who are new. */
export interface RatedStep {
  from: number;
  to: number;
  games: number;
  newcomers: number;
}

/** Whether the pool was still rated up to `from`, and is now up to `to`. */
export async function moveRatedPosition(
  transaction: SqlRunner,
  poolUid: number,
  { from, to, games, newcomers }: RatedStep,
): Promise<boolean> {
  return (await transaction.query(MOVE_RATED_POSITION, [poolUid, from, to, games, newcomers])).length === 1;
}

/** Changes of one pool: `$1` its uid, `$2` to `$16` those of {@link changeParameters}. */
export const INSERT_CHANGES = `
    INSERT INTO rating_changes (pool_uid, player_id, position, before_rating, before_deviation, before_volatility,
      before_memory, after_rating, after_deviation, after_volatility, after_memory, expected, k, outcome, engine, game_position)
    SELECT $1::int, c.player_id, c.position, c.before_rating, c.before_deviation::float8, c.before_volatility::float8,
      c.before_memory::jsonb, c.after_rating, c.after_deviation::float8, c.after_volatility::float8,
      c.after_memory::jsonb, c.expected, c.k::float8, c.outcome, c.engine, c.game_position::bigint
    FROM unnest($2::text[], $3::bigint[], $4::float8[], $5::text[], $6::text[], $7::text[], $8::float8[], $9::text[],
      $10::text[], $11::text[], $12::float8[], $13::text[], $14::text[], $15::text[], $16::text[])
      AS c (player_id, position, before_rating, before_deviation, before_volatility, before_memory, after_rating,
        after_deviation, after_volatility, after_memory, expected, k, outcome, engine, game_position)`;

/** Where players of one pool stand: `$17` to `$30` those of {@link ratingParameters}. */
export const PUT_RATINGS = `
    INSERT INTO ratings AS r (pool_uid, player_id, position, rating, deviation, volatility, memory, games, wins, draws,
      losses, peak_rating, peak_at_ms, peak_game_id, last_played_at_ms)
    SELECT $1::int, n.player_id, n.position, n.rating, n.deviation::float8, n.volatility::float8, n.memory::jsonb,
      n.games, n.wins, n.draws, n.losses, n.peak_rating::float8, n.peak_at_ms::bigint, n.peak_game_id,
      n.last_played_at_ms::bigint
    FROM unnest($17::text[], $18::bigint[], $19::float8[], $20::text[], $21::text[], $22::text[], $23::int[],
      $24::int[], $25::int[], $26::int[], $27::text[], $28::text[], $29::text[], $30::text[])
      AS n (player_id, position, rating, deviation, volatility, memory, games, wins, draws, losses, peak_rating,
        peak_at_ms, peak_game_id, last_played_at_ms)
    ON CONFLICT (pool_uid, player_id) DO UPDATE SET position = excluded.position, rating = excluded.rating,
      deviation = excluded.deviation, volatility = excluded.volatility, memory = excluded.memory,
      games = excluded.games, wins = excluded.wins, draws = excluded.draws, losses = excluded.losses,
      peak_rating = excluded.peak_rating, peak_at_ms = excluded.peak_at_ms, peak_game_id = excluded.peak_game_id,
      last_played_at_ms = excluded.last_played_at_ms`;

const WRITE_RATINGS = prepared(`
  WITH changed AS (
    ${INSERT_CHANGES}
  ), stood AS (
    ${PUT_RATINGS}
  ), parked AS (
    UPDATE games AS g SET unrated = u.reason FROM unnest($31::bigint[], $32::text[]) AS u (position, reason)
    WHERE g.pool_uid = $1 AND g.position = u.position AND g.unrated IS DISTINCT FROM u.reason
  )
  INSERT INTO outbox (lane, position, topic, key, payload)
  SELECT $33::smallint, o.position, 'rating-changed', o.key, o.payload
  FROM unnest($34::bigint[], $35::text[], $36::text[]) AS o (position, key, payload)`);

/** What a turn made of a pool's games. */
export interface RatedTurn extends FoldedGames {
  /** Who is rankable since, or no more, and may have entries of other games. */
  readonly everywhere: ReadonlySet<string>;
}

/** Stores what a turn made of a pool's games, with an event for each player whose rating it changed. */
export async function writeRatings(
  transaction: SqlRunner,
  { poolUid, lane, ratedPosition }: { poolUid: number; lane: number; ratedPosition: number },
  { games, players, everywhere }: RatedTurn,
  eventPositions: readonly number[],
): Promise<void> {
  const changes = games.flatMap(({ game: { position }, engine, changes: ofGame }) =>
    ofGame.map((change) => ({ ...change, position, engine })),
  );
  const rated = [...players].map(([playerId, rating]) => ({ playerId, rating }));
  const times = new Map(rated.map(({ playerId }) => [playerId, new Set<number>()]));
  for (const { game, changes: ofGame } of games) {
    for (const { playerId } of ofGame) times.get(playerId)!.add(game.playedAtMs);
  }
  const told = rated.map(({ playerId, rating }): ToldRating => ({
    ...{ playerId, playedAtMs: [...times.get(playerId)!] },
    ...(everywhere.has(playerId) && { isEverywhere: true }),
    rating,
  }));
  const unrated = games.filter(({ unrated: reason }) => reason !== null);
  await transaction.query(WRITE_RATINGS, [
    poolUid,
    ...changeParameters(changes),
    ...ratingParameters(rated),
    int8Array(unrated.map(({ game }) => game.position)),
    textArray(unrated.map(({ unrated: reason }) => reason)),
    lane,
    int8Array(eventPositions),
    ...wordRatings({ poolUid, ratedPosition }, told),
  ]);
}

const TELL_RATINGS = prepared(`
  INSERT INTO outbox (lane, position, topic, key, payload)
  SELECT $1::smallint, o.position, 'rating-changed', o.key, o.payload
  FROM unnest($2::bigint[], $3::text[], $4::text[]) AS o (position, key, payload)`);

/** Writes events of some players into the outbox of a lane that this transaction holds. */
export async function tellRatings(
  transaction: SqlRunner,
  lane: number,
  of: { poolUid: number; ratedPosition: number },
  changed: readonly ToldRating[],
): Promise<void> {
  if (changed.length === 0) return;
  const positions = await drawPositions(transaction, changed.length);
  await transaction.query(TELL_RATINGS, [lane, int8Array(positions), ...wordRatings(of, changed)]);
}

/** A change with the game that made it. */
export type ChangeOfGame = RatingChange & {
  position: number;
  engine: string;
  /** Where the position is not that of the game. */
  gamePosition?: number;
};

export const changeParameters = (changes: readonly ChangeOfGame[]): unknown[] => [
  textArray(changes.map(({ playerId }) => playerId)),
  int8Array(changes.map(({ position }) => position)),
  ...stateParameters(changes.map(({ before }) => before)),
  ...stateParameters(changes.map(({ after }) => after)),
  float8Array(changes.map(({ expected }) => expected)),
  numberTexts(changes.map(({ k }) => k)),
  textArray(changes.map(({ outcome }) => outcome)),
  textArray(changes.map(({ engine }) => engine)),
  textArray(changes.map(({ gamePosition }) => (gamePosition === undefined ? null : String(gamePosition)))),
];

/** Ratings as float8, deviations, volatilities and memories as text. */
export const stateParameters = (states: readonly RatingState[]): Buffer[] => [
  float8Array(states.map(({ rating }) => rating)),
  numberTexts(states.map(({ deviation }) => deviation)),
  numberTexts(states.map(({ volatility }) => volatility)),
  memoryTexts(states.map(({ memory }) => memory)),
];

export const ratingParameters = (rated: readonly { playerId: string; rating: PlayerRating }[]): unknown[] => [
  textArray(rated.map(({ playerId }) => playerId)),
  int8Array(rated.map(({ rating }) => rating.position)),
  ...stateParameters(rated.map(({ rating }) => rating.state)),
  int4Array(rated.map(({ rating }) => rating.games)),
  int4Array(rated.map(({ rating }) => rating.wins)),
  int4Array(rated.map(({ rating }) => rating.draws)),
  int4Array(rated.map(({ rating }) => rating.losses)),
  numberTexts(rated.map(({ rating }) => rating.peak?.rating ?? null)),
  numberTexts(rated.map(({ rating }) => rating.peak?.atMs ?? null)),
  textArray(rated.map(({ rating }) => rating.peak?.gameId ?? null)),
  numberTexts(rated.map(({ rating }) => rating.lastPlayedAtMs)),
];

/** Numbers that may be missing: binary arrays of numbers have no place for that. The text says every bit. */
const numberTexts = (values: readonly (number | null)[]): Buffer =>
  textArray(values.map((value) => (value === null ? null : String(value))));

/** null where there is nothing to remember. */
const memoryTexts = (memories: readonly Readonly<Record<string, number>>[]): Buffer =>
  textArray(memories.map((memory) => (Object.keys(memory).length === 0 ? null : JSON.stringify(memory))));
