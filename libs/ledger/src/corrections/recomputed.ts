import {
  LadderError,
  newcomer,
  ratedSides,
  recompute,
  recomputePeriods,
  type DifferingStates,
  type PeriodCorrection,
  type PoolGame,
  type RatingPool,
} from '@laddercast/domain';
import { int8Array } from '../database/postgres-arrays.js';
import type { SqlRunner } from '../database/postgres-database.js';
import { prepared } from '../database/postgres-statements.js';
import type { RecordedPlayer } from '../pools/recorded-games.js';
import { IS_GONE } from '../pools/pool-reads.js';
import { gameAt, type PoolCorrection } from './corrections.js';
import { closedPeriods, PeriodRows } from './period-rows.js';
import { RatedRows } from './rated-rows.js';
import { lossesOfGames, lossesOfPeriods, refundsOf, writeRefunds, type Refunds } from './refunds.js';
import { namePlayers, writeRecomputedGames, writeRecomputedPeriods } from './recomputed-rows.js';
import { writeRecomputedRefunds } from './stored-refunds.js';

/** The pool as a correction looks at it. */
export interface RatedPool {
  readonly uid: number;
  readonly ratedPosition: number;
  readonly rating: RatingPool;
}

/** What a correction comes to, before anything of it is stored. */
export interface Recomputed {
  /** Whose rating is another one. */
  readonly players: ReadonlyMap<string, DifferingStates>;
  /** Those, and whose counts or history are. */
  readonly touched: ReadonlySet<string>;
  /** Points that are given back. */
  readonly refunded: number;
  /** Stores games and changes as they are after the event at this position. */
  write(transaction: SqlRunner, eventPosition: number): Promise<void>;
}

/**
 * What all ratings would be with the correction; nothing is written.
 * @throws RECOMPUTE_TOO_LARGE
 */
export async function recomputed(
  sql: SqlRunner,
  pool: RatedPool,
  correction: PoolCorrection,
  gamesMax: number,
): Promise<Recomputed> {
  if (correction.mode !== 'keep' || correction.players !== null) await refuseGone(sql, pool.uid, correction, gamesMax);
  return (pool.rating.periods ? byPeriods : byGames)(sql, pool, correction, gamesMax);
}

const GONE = prepared(`
  SELECT count(*) AS games, min(p.history_from_ms) AS "fromMs"
  FROM games AS g JOIN pools AS p USING (pool_uid)
  WHERE g.pool_uid = $1 AND g.position = ANY ($2::bigint[]) AND ${IS_GONE}`);

/** Games whose changes are not kept: what would be had they never been cannot be said. @throws RECOMPUTE_TOO_LARGE */
async function refuseGone(
  sql: SqlRunner,
  poolUid: number,
  { positions }: PoolCorrection,
  gamesMax: number,
): Promise<void> {
  const [gone] = await sql.query<{ games: number; fromMs: number }>(GONE, [poolUid, int8Array(positions)]);
  const { games, fromMs } = gone!;
  if (games === 0) return;
  const since = new Date(fromMs).toISOString();
  throw new LadderError(
    'RECOMPUTE_TOO_LARGE',
    `What ${games} of the games did is kept no longer (history.keepDays): say from ${since} on, or the mode keep.`,
    { gamesMax },
  );
}

async function byGames(
  sql: SqlRunner,
  { uid, ratedPosition, rating }: RatedPool,
  correction: PoolCorrection,
  gamesMax: number,
): Promise<Recomputed> {
  const { positions, mode, players } = correction;
  // What is not rated yet will be rated without what is void, or as it is said now.
  const rated = positions.filter((position) => position <= ratedPosition);
  if (correction.refund !== null) {
    return refunded(uid, await refundsOf(sql, uid, await lossesOfGames(sql, uid, rated, correction)), correction);
  }
  const corrections = new Map<number, PoolGame | null>();
  if (mode === 'recompute') for (const position of rated) corrections.set(position, null);
  if (players !== null) {
    for (const position of rated) corrections.set(position, { ...(await gameAt(sql, uid, position)), players });
  }
  const history = new RatedRows(sql, uid, ratedPosition, newcomer(rating).state);
  const made = await recompute(rating, history, corrections, gamesMax);
  return {
    ...made,
    refunded: 0,
    async write(transaction, eventPosition) {
      if (players !== null) {
        const [position] = positions;
        const { before } = made.games.find((one) => one.before.game.position === position)!;
        await namePlayers(transaction, { poolUid: uid, position: position! }, players, before.game.players);
      }
      await writeRecomputedGames(transaction, uid, eventPosition, made.games);
      await writeRecomputedRefunds(transaction, uid, eventPosition, made.refunds);
    },
  };
}

function refunded(poolUid: number, refunds: Refunds, correction: PoolCorrection): Recomputed {
  const { players, points } = refunds;
  return {
    ...{ players, touched: new Set(players.keys()), refunded: points },
    write: (transaction) => writeRefunds(transaction, poolUid, refunds, correction),
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
  pool: RatedPool,
  correction: PoolCorrection,
  gamesMax: number,
): Promise<Recomputed> {
  const { uid, ratedPosition, rating } = pool;
  const { positions, mode, players } = correction;
  const games = await sql.query<PoolGame & { period: number; isRated: boolean }>(GAMES_OF_PERIODS, [
    uid,
    int8Array(positions),
  ]);
  const history = new PeriodRows(sql, uid, rating, await closedPeriods(sql, uid, ratedPosition));
  const isOpen = ({ isRated }: { isRated: boolean }): boolean => !isRated;
  if (correction.refund !== null) {
    const losses = await lossesOfPeriods(
      pool,
      history,
      games.filter(({ isRated }) => isRated),
      correction,
    );
    const made = refunded(uid, await refundsOf(sql, uid, losses), correction);
    return {
      ...made,
      async write(transaction, eventPosition) {
        await markVoid(transaction, uid, games.filter(isOpen));
        await made.write(transaction, eventPosition);
      },
    };
  }
  const isKept = players === null && mode === 'keep';
  const corrections = games.flatMap(({ period, isRated, ...game }): PeriodCorrection[] =>
    isRated && !isKept ? [{ period, before: game, after: players && { ...game, players } }] : [],
  );
  const made = await recomputePeriods(rating, history, corrections, gamesMax);
  return {
    players: made.players,
    touched: new Set(made.periods.map(({ playerId }) => playerId)),
    refunded: 0,
    async write(transaction, eventPosition) {
      if (players !== null) for (const game of games) await giveResult(transaction, uid, game, players);
      else await markVoid(transaction, uid, isKept ? games.filter(isOpen) : games);
      await writeRecomputedPeriods(transaction, uid, eventPosition, made.periods, history);
      await writeRecomputedRefunds(transaction, uid, eventPosition, made.refunds);
    },
  };
}

/** They move nobody, now or when their period closes. */
async function markVoid(transaction: SqlRunner, poolUid: number, games: readonly PoolGame[]): Promise<void> {
  await transaction.query(MARK_UNRATED, [poolUid, int8Array(games.map(({ position }) => position)), 'VOID']);
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
