import { LadderError, poolOfRecorded, refuseGameThatDoesNotFit } from '@laddercast/domain';
import { Environment } from '@laddercast/platform';
import { Inject, Injectable } from '@nestjs/common';
import { int8Array, textArray } from '../database/postgres-arrays.js';
import { PostgresDatabase, type SqlRunner } from '../database/postgres-database.js';
import { prepared } from '../database/postgres-statements.js';
import { LaneQueue } from '../lanes/lane-queue.js';
import { drawPositions, recordPoolEvent } from '../lanes/lane-events.js';
import {
  gameAt,
  hasResultAlready,
  NOTHING_CORRECTED,
  outcomeOf,
  POOL_CORRECTION,
  type CorrectionOutcome,
  type PoolCorrection,
  type RecordedCorrection,
} from './corrections.js';
import { recomputed } from './recomputed.js';
import { requirePool, type Pool, type PoolProgress } from '../pools/pool.js';
import { RatingAlgorithms } from '../pools/rating-algorithms.js';
import { CLOCKS_APART_MS, type RecordedPlayer, type VoidMode } from '../pools/recorded-games.js';

/** Which games are to be void: all that fit what is given. */
export interface VoidSelection {
  /** null: not asked. */
  readonly gameIds: readonly string[] | null;
  readonly playerId: string | null;
  /** Of `playedAt`, Unix ms: from this time on, and before that one. */
  readonly fromMs: number | null;
  readonly toMs: number | null;
}

/** Games to be void (mode null: as the pool says), or the result that one of them really had. */
export type AskedCorrection =
  | { readonly selection: VoidSelection; readonly mode: VoidMode | null; readonly reason: string }
  | { readonly gameId: string; readonly players: readonly RecordedPlayer[]; readonly reason: string };

interface SelectedGame {
  gameId: string;
  position: number;
  voidPosition: number | null;
}

const SELECTED = `g.game_id AS "gameId", g.position, g.void_position AS "voidPosition"`;
const FITS = '($3::bigint IS NULL OR g.played_at_ms >= $3) AND ($4::bigint IS NULL OR g.played_at_ms < $4)';

const GAMES_OF_IDS = prepared(`
  SELECT ${SELECTED} FROM unnest($2::text[]) AS k (game_id)
  CROSS JOIN LATERAL (SELECT * FROM games WHERE pool_uid = $1 AND game_id = k.game_id LIMIT 1) AS g
  WHERE ${FITS} AND ($5::text IS NULL OR EXISTS (
    SELECT 1 FROM game_players AS p WHERE p.pool_uid = $1 AND p.player_id = $5 AND p.position = g.position))
  ORDER BY g.position`);

const GAMES_OF_PLAYER = prepared(`
  SELECT ${SELECTED} FROM game_players AS p
  CROSS JOIN LATERAL (SELECT * FROM games WHERE pool_uid = $1 AND position = p.position LIMIT 1) AS g
  WHERE p.pool_uid = $1 AND p.player_id = $2 AND ${FITS} AND g.void_position IS NULL
  ORDER BY p.position LIMIT $5`);

/** Along the index by time: a game is recorded after it was played, and the pool's lane is held meanwhile. */
const GAMES_OF_TIME = prepared(`
  SELECT ${SELECTED} FROM games AS g WHERE g.pool_uid = $1 AND ${FITS} AND g.void_position IS NULL
    AND g.recorded_at >= to_timestamp(greatest($3::bigint - ${CLOCKS_APART_MS}, 0)::float8 / 1000)
  ORDER BY g.recorded_at, g.position LIMIT $2`);

/** The most games of one statement that marks them: of all that may be void at once it would take longer than one may. */
const MARKED_AT_ONCE = 5000;

const MARK_VOID = prepared(`
  UPDATE games SET void_position = $3, void_mode = $4, void_reason = $5
  WHERE pool_uid = $1 AND position = ANY ($2::bigint[])`);

/** Takes corrections of games that were recorded: in the pool's order, as the games are. */
@Injectable()
export class PoolCorrections {
  constructor(
    private readonly database: PostgresDatabase,
    private readonly work: LaneQueue,
    private readonly algorithms: RatingAlgorithms,
    @Inject(Environment) private readonly settings: Pick<Environment, 'RECOMPUTE_GAMES_MAX'>,
  ) {}

  /**
   * What the correction would do now; nothing is written.
   * @throws as {@link record}, and RECOMPUTE_TOO_LARGE
   */
  dryRun(poolId: string, asked: AskedCorrection): Promise<CorrectionOutcome> {
    return this.database.transaction(async (transaction) => {
      await transaction.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ');
      const pool = await requirePool(transaction, poolId);
      const correction = await this.correctionOf(transaction, pool, asked);
      if (await hasResultAlready(transaction, pool.uid, correction)) return NOTHING_CORRECTED;
      const rated = {
        uid: pool.uid,
        ratedPosition: pool.ratedPosition,
        rating: this.algorithms.poolOf(pool.definition),
      };
      return outcomeOf(correction, await recomputed(transaction, rated, correction, this.settings.RECOMPUTE_GAMES_MAX));
    });
  }

  /**
   * Records the correction behind all that the pool has; it is done once the pool is rated up to its position. Of no game
   * nothing is recorded.
   * @param actor who is named in the audit log
   * @returns where it stands, and of how many games it is
   * @throws POOL_NOT_FOUND, GAME_NOT_FOUND, GAME_VOIDED, ALGORITHM_MISSING, OVERLOADED, and what a pool refuses a game for
   */
  record(
    poolId: string,
    asked: AskedCorrection,
    actor: string,
  ): Promise<{ poolUid: number; position: number; games: number }> {
    return this.work.holding(poolId, async (transaction, lane) => {
      const pool = await requirePool(transaction, poolId);
      const asCorrection = await this.correctionOf(transaction, pool, asked);
      const { positions, mode, players } = asCorrection;
      if (positions.length === 0) return { poolUid: pool.uid, position: pool.ratedPosition, games: 0 };
      const [firstPosition = 0] = asCorrection.refund ? await drawPositions(transaction, positions.length) : [];
      const { uid: poolUid } = pool;
      const { reason } = asked;
      const action = players === null ? 'pool.void' : 'pool.result';
      const said = 'selection' in asked ? { mode, ...asked.selection } : asked;
      const details = { reason, games: positions.length, ...said };
      const act = { actor, action, subject: poolId, details };
      const correction: RecordedCorrection = { ...withRefundsFrom(asCorrection, firstPosition), act };
      const position = await recordPoolEvent(
        transaction,
        { poolUid, lane },
        { type: POOL_CORRECTION, payload: correction },
      );
      if (players === null) {
        for (let from = 0; from < positions.length; from += MARKED_AT_ONCE) {
          const some = int8Array(positions.slice(from, from + MARKED_AT_ONCE));
          await transaction.query(MARK_VOID, [poolUid, some, position, mode, reason]);
        }
      }
      return { poolUid, position, games: positions.length };
    });
  }

  private async correctionOf(
    sql: SqlRunner,
    pool: Pool & PoolProgress,
    asked: AskedCorrection,
  ): Promise<PoolCorrection> {
    if ('selection' in asked) {
      const positions = await this.select(sql, pool, asked.selection);
      const mode = asked.mode ?? pool.definition.onVoid;
      const refund = mode === 'refund' ? { playerId: asked.selection.playerId, firstPosition: 0 } : null;
      return { positions, mode, refund, players: null };
    }
    const { gameId, players } = asked;
    const [game] = await named(sql, pool, { ...NOTHING, gameIds: [gameId] });
    const recorded = await gameAt(sql, pool.uid, game!.position);
    const taking = poolOfRecorded(this.algorithms.poolOf(pool.definition), recorded.players);
    refuseGameThatDoesNotFit(taking, players, recorded.weight);
    return { positions: [game!.position], mode: 'keep', refund: null, players };
  }

  private async select(sql: SqlRunner, pool: Pool, selection: VoidSelection): Promise<number[]> {
    const { gameIds, playerId, fromMs, toMs } = selection;
    const gamesMax = this.settings.RECOMPUTE_GAMES_MAX;
    const games =
      gameIds !== null
        ? await named(sql, pool, selection)
        : playerId !== null
          ? await sql.query<SelectedGame>(GAMES_OF_PLAYER, [pool.uid, playerId, fromMs, toMs, gamesMax + 1])
          : await sql.query<SelectedGame>(GAMES_OF_TIME, [pool.uid, gamesMax + 1, fromMs, toMs]);
    if (games.length > gamesMax) {
      throw new LadderError('RECOMPUTE_TOO_LARGE', `More than ${gamesMax} games fit; say more closely which.`, {
        gamesMax,
      });
    }
    return games.map(({ position }) => position).toSorted((one, other) => one - other);
  }
}

const withRefundsFrom = (correction: PoolCorrection, firstPosition: number): PoolCorrection => ({
  ...correction,
  refund: correction.refund && { ...correction.refund, firstPosition },
});

const NOTHING: VoidSelection = { gameIds: null, playerId: null, fromMs: null, toMs: null };

/** @throws GAME_NOT_FOUND, GAME_VOIDED */
async function named(
  sql: SqlRunner,
  pool: Pool,
  { gameIds, playerId, fromMs, toMs }: VoidSelection,
): Promise<SelectedGame[]> {
  const asked = [...new Set(gameIds)];
  const all = await sql.query<SelectedGame>(GAMES_OF_IDS, [pool.uid, textArray(asked), null, null, null]);
  const found = new Set(all.map(({ gameId }) => gameId));
  const missing = asked.find((gameId) => !found.has(gameId));
  if (missing !== undefined) throw new LadderError('GAME_NOT_FOUND', `Pool "${pool.id}" has no game "${missing}".`);
  const gone = all.find(({ voidPosition }) => voidPosition !== null);
  if (gone) {
    throw new LadderError('GAME_VOIDED', `Game "${gone.gameId}" is void already; nothing was changed.`);
  }
  if (playerId === null && fromMs === null && toMs === null) return all;
  return sql.query<SelectedGame>(GAMES_OF_IDS, [pool.uid, textArray(asked), fromMs, toMs, playerId]);
}
