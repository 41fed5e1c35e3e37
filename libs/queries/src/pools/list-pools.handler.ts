import { assertMayListBoards } from '@laddercast/identity';
import { PoolRegistry } from '@laddercast/ledger';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { ListPoolsQuery, type PoolsPage } from './pool-queries.js';

@QueryHandler(ListPoolsQuery)
export class ListPoolsHandler implements IQueryHandler<ListPoolsQuery> {
  constructor(private readonly pools: PoolRegistry) {}

  async execute({ identity, limit, after }: ListPoolsQuery): Promise<PoolsPage> {
    assertMayListBoards(identity);
    const found = await this.pools.list(after, limit + 1);
    const pools = found.slice(0, limit);
    return { pools, next: found.length > limit ? pools.at(-1)!.id : null };
  }
}
