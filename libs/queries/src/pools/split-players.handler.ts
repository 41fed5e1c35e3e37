import { momentOf, newcomer, splitSteps, type Split } from '@laddercast/domain';
import { PostgresDatabase, RatingAlgorithms } from '@laddercast/ledger';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { SplitPlayersQuery } from './pool-queries.js';
import { PoolReader, readerOf } from './pool-reader.js';
import { PredictionTurns } from './prediction-turns.js';
import { ratingsSeen } from './ratings-seen.js';

@QueryHandler(SplitPlayersQuery)
export class SplitPlayersHandler implements IQueryHandler<SplitPlayersQuery> {
  constructor(
    private readonly reader: PoolReader,
    private readonly database: PostgresDatabase,
    private readonly algorithms: RatingAlgorithms,
    private readonly turns: PredictionTurns,
  ) {}

  async execute({ caller, poolId, playerIds, sidesOf }: SplitPlayersQuery): Promise<Split> {
    const { uid, definition } = await this.reader.pool(poolId, caller.identity);
    const pool = this.algorithms.poolOf(definition);
    const { ratings, nowMs } = await ratingsSeen(this.database, uid, playerIds, readerOf(caller));
    const unknown = newcomer(pool);
    const players = playerIds.map((playerId) => ({ playerId, state: (ratings.get(playerId) ?? unknown).state }));
    return this.turns.run(splitSteps(pool, players, sidesOf, momentOf(pool, nowMs)));
  }
}
