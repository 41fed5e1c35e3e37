import {
  newcomer,
  ratePlayerOfPeriod,
  withPeriod,
  type PlayerRating,
  type PoolGame,
  type RatingPool,
} from '@laddercast/domain';
import { Injectable } from '@nestjs/common';
import { PostgresDatabase, type SqlRunner } from '../database/postgres-database.js';
import { int8Array } from '../database/postgres-arrays.js';
import { prepared } from '../database/postgres-statements.js';
import {
  KEEP_TURN,
  type FoldedEvent,
  type PoolEvent,
  type PoolEventFold,
  type PoolInTurn,
} from '../pools/pool-events.js';
import { RatingAlgorithms } from '../pools/rating-algorithms.js';
import { changeParameters, INSERT_CHANGES, PUT_RATINGS, ratingParameters } from '../pools/rating-rows.js';
import { changesOf } from './period-changes.js';
import { PERIOD_CLOSED, type ClosedPeriodPayload } from './period-closer.js';
import {
  forgetResults,
  keepResults,
  namePlayersOf,
  nextChunk,
  resultsAfter,
  type PeriodChunk,
  type PeriodOfPool,
  type PeriodResult,
} from './period-results.js';

/** How long one statement may take to find all players of a period. */
const NAMED_WITHIN_MS = 60_000;
/** The most players that are written by one statement. */
const WRITTEN_AT_ONCE = 1000;

const WRITE_PERIOD = prepared(`
  WITH changed AS (
    ${INSERT_CHANGES}
  )
  ${PUT_RATINGS}`);

const NUMERIC_FOR_ALL = prepared(`
  SELECT position FROM games AS g WHERE pool_uid = $1 AND position = ANY ($2::bigint[])
    AND NOT EXISTS (SELECT FROM jsonb_array_elements(g.players) AS player JOIN rating_changes AS c
      ON c.pool_uid = $1 AND c.player_id = player ->> 'playerId' AND c.position > g.position AND c.game_position = g.position)`);

const MARK_NUMERIC = prepared(`
  UPDATE games SET unrated = 'NUMERIC' WHERE pool_uid = $1 AND position = ANY ($2::bigint[])`);

const COUNT_GAMES = prepared(`
  SELECT (count(*) FILTER (WHERE unrated IS NULL))::int AS rated,
    (count(*) FILTER (WHERE unrated = 'TOO_FEW_SIDES'))::int AS "tooFewSides"
  FROM games WHERE pool_uid = $1 AND period = $2`);

const MOVE_RATED_PERIOD = prepared('UPDATE pools SET rated_period = $2 WHERE pool_uid = $1');

/**
 * Rates the games of a period, all from the ratings at its start. A chunk of players at a time is rated and kept, so that who
 * comes after a process that died goes on where it was; then all of it is written at once.
 */
@Injectable()
export class PeriodClosedFold implements PoolEventFold {
  readonly type = PERIOD_CLOSED;

  constructor(
    private readonly database: PostgresDatabase,
    private readonly algorithms: RatingAlgorithms,
  ) {}

  async fold(transaction: SqlRunner, { uid, definition }: PoolInTurn, event: PoolEvent): Promise<FoldedEvent> {
    const { period, games, firstPosition } = event.payload as ClosedPeriodPayload;
    const of: PeriodOfPool = { poolUid: uid, eventPosition: event.position, period };
    const pool = this.algorithms.poolOf(definition);
    // Beside the transaction, which holds the pool's turn: what is kept stays, whatever becomes of it.
    await this.database.longTransaction(NAMED_WITHIN_MS, (sql) => namePlayersOf(sql, of));
    for (;;) {
      const chunk = await nextChunk(this.database, of);
      if (chunk.players.length === 0) break;
      await transaction.query(KEEP_TURN);
      await keepResults(this.database, of, ratedChunk(pool, period, firstPosition, chunk));
    }
    const written = await writeResults(transaction, of);
    await forgetResults(transaction, of);
    const { newcomers } = written;
    const numeric = await numericForAll(transaction, uid, written.numeric);
    const [counted] = await transaction.query<{ rated: number; tooFewSides: number }>(COUNT_GAMES, [uid, period]);
    const { rated, tooFewSides } = counted!;
    // Whether they were rankable before is not kept.
    const changed = definition.rankable
      ? written.changed.map((one) => ({ ...one, isEverywhere: true as const }))
      : written.changed;
    return {
      outcome: { period, games, players: changed.length },
      ...{ games, newcomers, changed },
      looked: { rated: rated - numeric.length, NUMERIC: numeric.length, TOO_FEW_SIDES: tooFewSides },
      async store(sql) {
        if (numeric.length > 0) await sql.query(MARK_NUMERIC, [uid, int8Array(numeric)]);
        await sql.query(MOVE_RATED_PERIOD, [uid, period]);
      },
    };
  }
}

/** Of games whose numbers were not finite for one of their players: those that moved nobody. */
async function numericForAll(transaction: SqlRunner, poolUid: number, positions: readonly number[]): Promise<number[]> {
  if (positions.length === 0) return [];
  const found = await transaction.query<{ position: number }>(NUMERIC_FOR_ALL, [poolUid, int8Array(positions)]);
  return found.map(({ position }) => position);
}

function ratedChunk(
  pool: RatingPool,
  period: number,
  firstPosition: number,
  { players, games, ratings }: PeriodChunk,
): PeriodResult[] {
  const known = new Map(ratings.map(({ playerId, rating }) => [playerId, rating]));
  const playerOf = (playerId: string): PlayerRating => known.get(playerId) ?? newcomer(pool);
  const gamesOf = new Map<string, PoolGame[]>(players.map((playerId) => [playerId, []]));
  for (const game of games) for (const { playerId } of game.players) gamesOf.get(playerId)?.push(game);
  return players.map((playerId) => {
    const own = gamesOf.get(playerId)!;
    const change = ratePlayerOfPeriod(pool, playerId, own, period, (id) => playerOf(id).state);
    if (change === null || change.unrated !== null) {
      const numeric = change === null ? [] : own.map(({ position }) => position);
      return { playerId, rating: null, changes: [], playedAtMs: [], numeric };
    }
    const changes = changesOf(change, firstPosition);
    return {
      playerId,
      rating: withPeriod(playerOf(playerId), change, { period, position: changes.at(-1)!.position }),
      changes,
      playedAtMs: change.games.map(({ game }) => game.playedAtMs),
      numeric: [],
    };
  });
}

interface WrittenPeriod {
  changed: { playerId: string; rating: PlayerRating; playedAtMs: number[] }[];
  newcomers: number;
  /** Positions of games whose numbers were not finite for one of their players. */
  numeric: number[];
}

async function writeResults(transaction: SqlRunner, of: PeriodOfPool): Promise<WrittenPeriod> {
  const written: WrittenPeriod = { changed: [], newcomers: 0, numeric: [] };
  for (let after = ''; ;) {
    const results = await resultsAfter(transaction, of, after, WRITTEN_AT_ONCE);
    const rated = results.flatMap((result) => (result.rating === null ? [] : [{ ...result, rating: result.rating }]));
    const changes = rated.flatMap((result) => result.changes);
    await transaction.query(WRITE_PERIOD, [of.poolUid, ...changeParameters(changes), ...ratingParameters(rated)]);
    for (const { playerId, rating, playedAtMs } of rated) {
      written.changed.push({ playerId, rating, playedAtMs: [...new Set(playedAtMs)] });
      if (rating.games === playedAtMs.length) written.newcomers += 1;
    }
    written.numeric.push(...results.flatMap(({ numeric }) => numeric));
    if (results.length < WRITTEN_AT_ONCE) return written;
    after = results.at(-1)!.playerId;
  }
}
