import type { Pool, PoolProgress } from '@laddercast/ledger';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { GetPoolQuery } from './pool-queries.js';
import { PoolReader } from './pool-reader.js';

@QueryHandler(GetPoolQuery)
export class GetPoolHandler implements IQueryHandler<GetPoolQuery> {
  constructor(private readonly reader: PoolReader) {}

  execute({ identity, poolId }: GetPoolQuery): Promise<Pool & PoolProgress> {
    return this.reader.pool(poolId, identity);
  }
}
