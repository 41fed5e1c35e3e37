import { PostgresDatabase, RatingAlgorithms } from '@laddercast/ledger';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { LookupRatingsQuery, type ShownRating } from './pool-queries.js';
import { PoolReader, readerOf } from './pool-reader.js';
import { ratingsSeen } from './ratings-seen.js';
import { shownRating } from './shown-rating.js';

@QueryHandler(LookupRatingsQuery)
export class LookupRatingsHandler implements IQueryHandler<LookupRatingsQuery> {
  constructor(
    private readonly reader: PoolReader,
    private readonly database: PostgresDatabase,
    private readonly algorithms: RatingAlgorithms,
  ) {}

  async execute({ caller, poolId, playerIds }: LookupRatingsQuery): Promise<{ ratings: (ShownRating | null)[] }> {
    const { uid, definition, pending } = await this.reader.pool(poolId, caller.identity);
    const { ratings, nowMs } = await ratingsSeen(this.database, uid, playerIds, readerOf(caller));
    const ratingPool = this.algorithms.poolOf(definition);
    return {
      ratings: playerIds.map((playerId) => {
        const rating = ratings.get(playerId);
        return rating ? shownRating(ratingPool, { pool: poolId, playerId, pending }, rating, nowMs) : null;
      }),
    };
  }
}
