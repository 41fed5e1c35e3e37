import {
  newcomer,
  ratedSides,
  recompute,
  recomputePeriods,
  type PeriodCorrection,
  type PoolGame,
  type RatingPool,
  type RatingState,
} from '@laddercast/domain';
import { int8Array } from '../database/postgres-arrays.js';
import type { SqlRunner } from '../database/postgres-database.js';
import { prepared } from '../database/postgres-statements.js';
import type { RecordedPlayer } from '../pools/recorded-games.js';
import { gameAt, type PoolCorrection } from './corrections.js';
import { closedPeriods, PeriodRows } from './period-rows.js';
import { RatedRows } from './rated-rows.js';
import { namePlayers, writeRecomputedGames, writeRecomputedPeriods } from './recomputed-rows.js';

/** The pool as a correction looks at it. */
export interface RatedPool {
  readonly uid: number;
  readonly ratedPosition: number;
  readonly rating: RatingPool;
}

/** What a correction comes to, before anything of it is stored. */
export interface Recomputed {
  /** Whose rating is another one. */
  readonly players: ReadonlyMap<string, { readonly before: RatingState; readonly after: RatingState }>;
  /** Those, and whose counts or history are. */
  readonly touched: ReadonlySet<string>;
  /** Stores games and changes as they are after the event at this position. */
  write(transaction: SqlRunner, eventPosition: number): Promise<void>;
}

/**
 * What all ratings would be with the correction; nothing is written.
 * @throws RECOMPUTE_TOO_LARGE
 */
export const recomputed = (
  sql: SqlRunner,
  pool: RatedPool,
  correction: PoolCorrection,
  gamesMax: number,
): Promise<Recomputed> => (pool.rating.periods ? byPeriods : byGames)(sql, pool, correction, gamesMax);

async function byGames(
  sql: SqlRunner,
  { uid, ratedPosition, rating }: RatedPool,
  { positions, mode, players }: PoolCorrection,
  gamesMax: number,
): Promise<Recomputed> {
  // What is not rated yet will be rated without what is void, or as it is said now.
  const rated = positions.filter((position) => position <= ratedPosition);
  const corrections = new Map<number, PoolGame | null>();
  if (mode === 'recompute') for (const position of rated) corrections.set(position, null);
  if (players !== null) {
    for (const position of rated) corrections.set(position, { ...(await gameAt(sql, uid, position)), players });
  }
  const history = new RatedRows(sql, uid, ratedPosition, newcomer(rating).state);
  const made = await recompute(rating, history, corrections, gamesMax);
  return {
    ...made,
    async write(transaction, eventPosition) {
      if (players !== null) {
        const [position] = positions;
        const { before } = made.games.find((one) => one.before.game.position === position)!;
        await namePlayers(transaction, { poolUid: uid, position: position! }, players, before.game.players);
      }
      await writeRecomputedGames(transaction, uid, eventPosition, made.games);
    },
  };
}

const GAMES_OF_PERIODS = prepared(`
  SELECT g.game_id AS "gameId", g.position, g.played_at_ms AS "playedAtMs", g.weight, g.players, g.results, g.period,
    g.period <= coalesce(p.rated_period, g.period - 1) AS "isRated"
  FROM games AS g JOIN pools AS p USING (pool_uid) WHERE g.pool_uid = $1 AND g.position = ANY ($2::bigint[])`);

const MARK_UNRATED = prepared(`
  UPDATE games SET unrated = $3 WHERE pool_uid = $1 AND position = ANY ($2::bigint[])`);

/** Games of periods that are not closed have moved nobody, and will be rated as they are then. */
async function byPeriods(
  sql: SqlRunner,
  { uid, ratedPosition, rating }: RatedPool,
  { positions, mode, players }: PoolCorrection,
  gamesMax: number,
): Promise<Recomputed> {
  const games = await sql.query<PoolGame & { period: number; isRated: boolean }>(GAMES_OF_PERIODS, [
    uid,
    int8Array(positions),
  ]);
  const isKept = players === null && mode === 'keep';
  const corrections = games.flatMap(({ period, isRated, ...game }): PeriodCorrection[] =>
    isRated && !isKept ? [{ period, before: game, after: players && { ...game, players } }] : [],
  );
  const history = new PeriodRows(sql, uid, newcomer(rating).state, await closedPeriods(sql, uid, ratedPosition));
  const made = await recomputePeriods(rating, history, corrections, gamesMax);
  return {
    players: made.players,
    touched: new Set(made.periods.map(({ playerId }) => playerId)),
    async write(transaction, eventPosition) {
      if (players !== null) for (const game of games) await giveResult(transaction, uid, game, players);
      else {
        const unrated = games.filter(({ isRated }) => !(isRated && isKept)).map(({ position }) => position);
        await transaction.query(MARK_UNRATED, [uid, int8Array(unrated), 'VOID']);
      }
      await writeRecomputedPeriods(transaction, uid, eventPosition, made.periods, history);
    },
  };
}

async function giveResult(
  transaction: SqlRunner,
  poolUid: number,
  game: PoolGame,
  players: readonly RecordedPlayer[],
): Promise<void> {
  const { position } = game;
  await namePlayers(transaction, { poolUid, position }, players, game.players);
  const unrated = ratedSides({ ...game, players }) === null ? 'TOO_FEW_SIDES' : null;
  await transaction.query(MARK_UNRATED, [poolUid, int8Array([position]), unrated]);
}
