import { newcomer, type PlayerRating } from '@laddercast/domain';
import { Injectable } from '@nestjs/common';
import { PostgresDatabase } from '../database/postgres-database.js';
import { LaneQueue } from '../lanes/lane-queue.js';
import type { PoolDefinition } from '../pools/pool.js';
import { RatingAlgorithms } from '../pools/rating-algorithms.js';
import { RATING_JSON, tellRatings } from '../pools/rating-rows.js';

const POOL_ID = 'SELECT pool_id AS id FROM pools WHERE pool_uid = $1 AND pool_id IS NOT NULL';

/** One statement, so that both positions are of one moment. */
const PRESENT_RATING = `
  SELECT definition, rated_position AS "ratedPosition",
    (SELECT ${RATING_JSON} FROM ratings AS r WHERE r.pool_uid = $1 AND r.player_id = $2) AS rating
  FROM pools WHERE pool_uid = $1 AND pool_id IS NOT NULL`;

interface PresentRating {
  definition: PoolDefinition;
  ratedPosition: number;
  /** null: the player has no rated game, or none any more. */
  rating: PlayerRating | null;
}

/** Says once more in the log what a player's rating is, as `StateRepublisher` does of all else. */
@Injectable()
export class RatingRepublisher {
  constructor(
    private readonly database: PostgresDatabase,
    private readonly work: LaneQueue,
    private readonly algorithms: RatingAlgorithms,
  ) {}

  /**
   * Whoever feeds boards looks at all windows that take entries, and at those of the times when games were played that were to
   * be told, which may not have been made yet.
   * @returns false when the pool is gone
   * @throws ALGORITHM_MISSING where only that knows what a player without games has
   */
  async emit(poolUid: number, playerId: string, playedAtMs: readonly number[]): Promise<boolean> {
    const [pool] = await this.database.query<{ id: string }>(POOL_ID, [poolUid]);
    if (!pool) return false;
    return this.work.holding(pool.id, async (transaction, lane) => {
      const [present] = await transaction.query<PresentRating>(PRESENT_RATING, [poolUid, playerId]);
      if (!present) return false;
      const { definition, ratedPosition } = present;
      const rating = present.rating ?? newcomer(this.algorithms.poolOf(definition));
      const told = { playerId, playedAtMs: [...playedAtMs], isEverywhere: true as const, rating };
      await tellRatings(transaction, lane, { poolUid, ratedPosition }, [told]);
      return true;
    });
  }
}
