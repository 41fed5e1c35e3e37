import { LadderError, newcomer, type RatingPool } from '@laddercast/domain';
import { PostgresDatabase, RatingAlgorithms, ratingOfPlayer } from '@laddercast/ledger';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { GetRatingQuery, type ShownRating } from './pool-queries.js';
import { PoolReader } from './pool-reader.js';
import { shownRating } from './shown-rating.js';

@QueryHandler(GetRatingQuery)
export class GetRatingHandler implements IQueryHandler<GetRatingQuery> {
  constructor(
    private readonly reader: PoolReader,
    private readonly database: PostgresDatabase,
    private readonly algorithms: RatingAlgorithms,
  ) {}

  async execute({ caller, poolId, playerId }: GetRatingQuery): Promise<ShownRating> {
    const pool = await this.reader.pool(poolId, caller.identity);
    const ratingPool = this.algorithms.poolOf(pool.definition);
    const isShown = await this.reader.isShown(playerId, caller);
    const found = isShown ? await ratingOfPlayer(this.database, pool.uid, playerId) : undefined;
    if (!found) throw ratingNotFound(ratingPool, poolId, playerId);
    const { rating, nowMs } = found;
    return shownRating(ratingPool, { pool: poolId, playerId, pending: pool.pending }, rating, nowMs);
  }
}

function ratingNotFound(pool: RatingPool, poolId: string, playerId: string): LadderError {
  const { rating, deviation, volatility } = newcomer(pool).state;
  const detail = `"${playerId}" has no rated game in pool "${poolId}"; its first begins with the initial values.`;
  return new LadderError('RATING_NOT_FOUND', detail, { initial: { rating, deviation, volatility } });
}
