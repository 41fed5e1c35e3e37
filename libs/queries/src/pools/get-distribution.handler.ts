import { toTimestamp } from '@laddercast/platform';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { KeptDistributions } from './kept-distributions.js';
import { GetDistributionQuery, type ShownDistribution } from './pool-queries.js';
import { PoolReader } from './pool-reader.js';

@QueryHandler(GetDistributionQuery)
export class GetDistributionHandler implements IQueryHandler<GetDistributionQuery> {
  constructor(
    private readonly reader: PoolReader,
    private readonly distributions: KeptDistributions,
  ) {}

  async execute({ identity, poolId }: GetDistributionQuery): Promise<ShownDistribution> {
    const pool = await this.reader.pool(poolId, identity);
    const { nowMs, ...distribution } = await this.distributions.of(pool);
    return { pool: poolId, ...distribution, asOf: toTimestamp(nowMs) };
  }
}
