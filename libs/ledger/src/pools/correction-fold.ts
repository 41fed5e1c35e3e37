import { LadderError, newcomer, ratedSides, type Recomputation } from '@laddercast/domain';
import { Environment } from '@laddercast/platform';
import { Inject, Injectable } from '@nestjs/common';
import { int8Array } from '../database/postgres-arrays.js';
import type { SqlRunner } from '../database/postgres-database.js';
import { prepared } from '../database/postgres-statements.js';
import {
  gameAt,
  outcomeOf,
  POOL_CORRECTION,
  recomputed,
  type KeptOutcome,
  type PoolCorrection,
} from './corrections.js';
import type { FoldedEvent, PoolEvent, PoolEventFold, PoolInTurn } from './pool-events.js';
import { RatingAlgorithms } from './rating-algorithms.js';
import { deriveRatings, namePlayers, writeRecomputedGames } from './recomputed-rows.js';

const UNDO_VOID = prepared(`
  UPDATE games SET void_position = NULL, void_mode = NULL, void_reason = NULL
  WHERE pool_uid = $1 AND position = ANY ($2::bigint[]) AND void_position = $3`);

const MARK_UNRATED = prepared(`
  UPDATE games SET unrated = $3 WHERE pool_uid = $1 AND position = ANY ($2::bigint[])`);

/** Makes games void, or gives one another result, in the turn of their pool: whole, or not at all where it reaches too far. */
@Injectable()
export class CorrectionFold implements PoolEventFold {
  readonly type = POOL_CORRECTION;

  constructor(
    private readonly algorithms: RatingAlgorithms,
    @Inject(Environment) private readonly settings: Pick<Environment, 'RECOMPUTE_GAMES_MAX'>,
  ) {}

  async fold(transaction: SqlRunner, pool: PoolInTurn, event: PoolEvent): Promise<FoldedEvent> {
    const correction = event.payload as PoolCorrection;
    const gamesMax = this.settings.RECOMPUTE_GAMES_MAX;
    const { uid, ratedPosition } = pool;
    const rating = this.algorithms.poolOf(pool.definition);
    if (rating.periods) {
      await correctUnrated(transaction, uid, correction);
      return { outcome: { games: correction.positions.length, players: [] }, newcomers: 0, changed: [] };
    }
    try {
      const made = await recomputed(transaction, { uid, ratedPosition, rating }, correction, gamesMax);
      await nameCorrected(transaction, uid, correction, made);
      await writeRecomputedGames(transaction, uid, event.position, made.games);
      const { ratings, fewer } = await deriveRatings(transaction, uid, {
        players: [...made.touched],
        moved: [...made.players.keys()],
        eventPosition: event.position,
      });
      const known = new Map(ratings.map((one) => [one.playerId, one.rating]));
      const changed = [...made.touched].map((playerId) => ({
        playerId,
        rating: known.get(playerId) ?? newcomer(rating),
      }));
      return { outcome: outcomeOf(correction, made), newcomers: -fewer, changed };
    } catch (error) {
      if (!(error instanceof LadderError) || error.code !== 'RECOMPUTE_TOO_LARGE') throw error;
      await transaction.query(UNDO_VOID, [uid, int8Array(correction.positions), event.position]);
      const outcome: KeptOutcome = { refused: { detail: error.message, gamesMax } };
      return { outcome, newcomers: 0, changed: [] };
    }
  }
}

/** Games whose period is not closed yet: they have moved nobody, and will be rated as they are then. */
async function correctUnrated(
  transaction: SqlRunner,
  poolUid: number,
  { positions, players }: PoolCorrection,
): Promise<void> {
  if (players === null) {
    await transaction.query(MARK_UNRATED, [poolUid, int8Array(positions), 'VOID']);
    return;
  }
  for (const position of positions) {
    const game = await gameAt(transaction, poolUid, position);
    await namePlayers(transaction, { poolUid, position }, players, game.players);
    const unrated = ratedSides({ ...game, players }) === null ? 'TOO_FEW_SIDES' : null;
    await transaction.query(MARK_UNRATED, [poolUid, int8Array([position]), unrated]);
  }
}

async function nameCorrected(
  transaction: SqlRunner,
  poolUid: number,
  { positions, players }: PoolCorrection,
  { games }: Recomputation,
): Promise<void> {
  if (players === null) return;
  const [position] = positions;
  const { before } = games.find((one) => one.before.game.position === position)!;
  await namePlayers(transaction, { poolUid, position: position! }, players, before.game.players);
}
