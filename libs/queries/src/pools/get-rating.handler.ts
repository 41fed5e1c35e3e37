import { LadderError, newcomer } from '@laddercast/domain';
import { PostgresDatabase, ratingOfPlayer, ratingPoolWith, type Pool } from '@laddercast/ledger';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { GetRatingQuery, type ShownRating } from './pool-queries.js';
import { PoolReader } from './pool-reader.js';
import { shownRating } from './shown-rating.js';

@QueryHandler(GetRatingQuery)
export class GetRatingHandler implements IQueryHandler<GetRatingQuery> {
  constructor(
    private readonly reader: PoolReader,
    private readonly database: PostgresDatabase,
  ) {}

  async execute({ caller, poolId, playerId }: GetRatingQuery): Promise<ShownRating> {
    const pool = await this.reader.pool(poolId, caller.identity);
    const isShown = await this.reader.isShown(playerId, caller.unlistedShown);
    const found = isShown ? await ratingOfPlayer(this.database, pool.uid, playerId) : undefined;
    if (!found) throw ratingNotFound(pool, playerId);
    const { rating, nowMs } = found;
    return shownRating(
      ratingPoolWith(pool.definition),
      { pool: poolId, playerId, pending: pool.pending },
      rating,
      nowMs,
    );
  }
}

function ratingNotFound({ id, definition }: Pool, playerId: string): LadderError {
  const { rating, deviation, volatility } = newcomer(ratingPoolWith(definition)).state;
  const detail = `"${playerId}" has no rated game in pool "${id}"; its first begins with the initial values.`;
  return new LadderError('RATING_NOT_FOUND', detail, { initial: { rating, deviation, volatility } });
}
