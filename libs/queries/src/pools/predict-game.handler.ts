import { momentOf, newcomer, predictionSteps, type Prediction } from '@laddercast/domain';
import { PostgresDatabase, RatingAlgorithms } from '@laddercast/ledger';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { PredictGameQuery } from './pool-queries.js';
import { PoolReader, readerOf } from './pool-reader.js';
import { PredictionTurns } from './prediction-turns.js';
import { ratingsSeen } from './ratings-seen.js';

@QueryHandler(PredictGameQuery)
export class PredictGameHandler implements IQueryHandler<PredictGameQuery> {
  constructor(
    private readonly reader: PoolReader,
    private readonly database: PostgresDatabase,
    private readonly algorithms: RatingAlgorithms,
    private readonly turns: PredictionTurns,
  ) {}

  async execute({ caller, poolId, sides }: PredictGameQuery): Promise<Prediction> {
    const { uid, definition } = await this.reader.pool(poolId, caller.identity);
    const pool = this.algorithms.poolOf(definition);
    const { ratings, nowMs } = await ratingsSeen(this.database, uid, sides.flat(), readerOf(caller));
    const unknown = newcomer(pool);
    const states = sides.map((side) => side.map((playerId) => (ratings.get(playerId) ?? unknown).state));
    return this.turns.run(predictionSteps(pool, states, momentOf(pool, nowMs)));
  }
}
