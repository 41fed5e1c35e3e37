import {
  gamesByPlayer,
  inTurns,
  namedSides,
  ratePlayerOfPeriod,
  withPoints,
  type DifferingStates,
  type PeriodHistory,
  type PoolGame,
  type RatingState,
} from '@laddercast/domain';
import { float8Array, int8Array, textArray } from '../database/postgres-arrays.js';
import type { SqlRunner } from '../database/postgres-database.js';
import { prepared } from '../database/postgres-statements.js';
import type { PoolCorrection } from './corrections.js';
import type { RatedPool } from './recomputed.js';

const CHUNK = 1000;

/** Points that a player lost in a game. */
interface Loss {
  readonly playerId: string;
  readonly gamePosition: number;
  readonly points: number;
}

/** What a void gives back of a game, and between which ratings. */
interface Given extends Loss {
  readonly before: number;
  readonly after: number;
}

/** What a void gives back, before anything of it is stored. */
export interface Refunds {
  /** In the order of their games. */
  readonly given: readonly Given[];
  readonly players: ReadonlyMap<string, DifferingStates>;
  /** All of them together. */
  readonly points: number;
}

const STATES = prepared(`
  SELECT r.player_id AS "playerId", json_build_object('rating', r.rating, 'deviation', r.deviation,
    'volatility', r.volatility, 'memory', coalesce(r.memory, '{}')) AS state
  FROM unnest($2::text[]) AS k (player_id)
  CROSS JOIN LATERAL (SELECT * FROM ratings WHERE pool_uid = $1 AND player_id = k.player_id LIMIT 1) AS r`);

/** Each loss is given back whole, one after the other. */
export async function refundsOf(sql: SqlRunner, poolUid: number, losses: readonly Loss[]): Promise<Refunds> {
  const named = [...new Set(losses.map(({ playerId }) => playerId))];
  const rows = await sql.query<{ playerId: string; state: RatingState }>(STATES, [poolUid, textArray(named)]);
  const players = new Map(rows.map(({ playerId, state }) => [playerId, { before: state, after: state }]));
  let points = 0;
  const given = losses.map((loss) => {
    const { before, after: known } = players.get(loss.playerId)!;
    const after = withPoints(known, loss.points);
    players.set(loss.playerId, { before, after });
    points += loss.points;
    return { ...loss, before: known.rating, after: after.rating };
  });
  return { given, players, points };
}

/** Whether a player is an opponent of the one whose games are void; where nobody was named all are. */
function opponentsOf(playerId: string | null, { players }: Pick<PoolGame, 'players'>): Set<string> {
  const sides = namedSides(players).filter((side) => !side.some((player) => player.playerId === playerId));
  return new Set(sides.flatMap((side) => side.map((player) => player.playerId)));
}

const LOSSES = prepared(`
  SELECT g.position, g.players, coalesce((
      SELECT json_agg(json_build_object('playerId', c.player_id, 'points', c.before_rating - c.after_rating)
        ORDER BY named.place)
      FROM jsonb_array_elements(g.players) WITH ORDINALITY AS named (player, place)
      CROSS JOIN LATERAL (
        SELECT * FROM rating_changes WHERE pool_uid = $1 AND player_id = named.player ->> 'playerId'
          AND position = g.position AND after_rating < before_rating LIMIT 1) AS c), '[]') AS losses
  FROM unnest($2::bigint[]) AS k (position)
  CROSS JOIN LATERAL (SELECT * FROM games WHERE pool_uid = $1 AND position = k.position LIMIT 1) AS g
  ORDER BY g.position`);

/** What opponents lost in games that are rated one by one. */
export async function lossesOfGames(
  sql: SqlRunner,
  poolUid: number,
  positions: readonly number[],
  { refund }: PoolCorrection,
): Promise<Loss[]> {
  const losses: Loss[] = [];
  for (let from = 0; from < positions.length; from += CHUNK) {
    const games = await sql.query<{
      position: number;
      players: PoolGame['players'];
      losses: Omit<Loss, 'gamePosition'>[];
    }>(LOSSES, [poolUid, int8Array(positions.slice(from, from + CHUNK))]);
    for (const { position: gamePosition, players, losses: ofGame } of games) {
      const opponents = opponentsOf(refund!.playerId, { players });
      losses.push(
        ...ofGame.filter(({ playerId }) => opponents.has(playerId)).map((loss) => ({ ...loss, gamePosition })),
      );
    }
  }
  return losses;
}

/** A period moves a player by all games at once: a game's loss is what the player would have more without it alone. */
export async function lossesOfPeriods(
  { rating }: Pick<RatedPool, 'rating'>,
  history: PeriodHistory,
  games: readonly (PoolGame & { readonly period: number })[],
  { refund }: Pick<PoolCorrection, 'refund'>,
): Promise<Loss[]> {
  const losses: Loss[] = [];
  for (const period of new Set(games.map((game) => game.period))) {
    const ofPeriod = games.filter((game) => game.period === period);
    const opponents = new Map(ofPeriod.map((game) => [game.position, opponentsOf(refund!.playerId, game)]));
    const played = await history.gamesOf(period, new Set([...opponents.values()].flatMap((ids) => [...ids])));
    const states = new Map<string, RatingState>();
    for (const { playerId } of played.flatMap(({ players }) => players)) {
      states.set(playerId, await history.stateAtStart(playerId, period));
    }
    const gamesOf = gamesByPlayer(played);
    for await (const { position: gamePosition } of inTurns(ofPeriod)) {
      for (const playerId of opponents.get(gamePosition)!) {
        const change = await history.changeOf(playerId, period);
        if (change === null) continue;
        const others = (gamesOf.get(playerId) ?? []).filter(({ position }) => position !== gamePosition);
        const without = ratePlayerOfPeriod(rating, playerId, others, period, (id) => states.get(id)!);
        const points = (without ?? change)[without ? 'after' : 'before'].rating - change.after.rating;
        if (points > 0) losses.push({ playerId, gamePosition, points });
      }
    }
  }
  return losses.sort((a, b) => a.gamePosition - b.gamePosition);
}

const GIVE = prepared(`
  INSERT INTO rating_changes (pool_uid, player_id, position, game_position, refund, engine, before_rating,
    before_deviation, before_volatility, before_memory, after_rating, after_deviation, after_volatility, after_memory)
  SELECT $1::int, k.player_id, k.position, k.game_position, k.points, 'refund', k.before_rating,
    r.deviation, r.volatility, r.memory, k.after_rating, r.deviation, r.volatility, r.memory
  FROM unnest($2::text[], $3::bigint[], $4::bigint[], $5::float8[], $6::float8[], $7::float8[])
    AS k (player_id, position, game_position, points, before_rating, after_rating)
  JOIN ratings AS r ON r.pool_uid = $1 AND r.player_id = k.player_id`);

/** Stores refunds among the changes of their players: each game of the void has a position for them. */
export async function writeRefunds(
  transaction: SqlRunner,
  poolUid: number,
  { given }: Refunds,
  { positions, refund }: PoolCorrection,
): Promise<void> {
  const places = new Map(positions.map((position, at) => [position, refund!.firstPosition + at]));
  for (let from = 0; from < given.length; from += CHUNK) {
    const chunk = given.slice(from, from + CHUNK);
    await transaction.query(GIVE, [
      poolUid,
      textArray(chunk.map(({ playerId }) => playerId)),
      int8Array(chunk.map(({ gamePosition }) => places.get(gamePosition)!)),
      int8Array(chunk.map(({ gamePosition }) => gamePosition)),
      float8Array(chunk.map(({ points }) => points)),
      float8Array(chunk.map(({ before }) => before)),
      float8Array(chunk.map(({ after }) => after)),
    ]);
  }
}
