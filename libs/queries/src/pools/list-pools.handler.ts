import { mayReadPrivateBoards } from '@laddercast/identity';
import { PoolRegistry } from '@laddercast/ledger';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { ListPoolsQuery, type PoolsPage } from './pool-queries.js';
import { cutPage } from '../shared/cut-page.js';

@QueryHandler(ListPoolsQuery)
export class ListPoolsHandler implements IQueryHandler<ListPoolsQuery> {
  constructor(private readonly pools: PoolRegistry) {}

  async execute({ identity, limit, after }: ListPoolsQuery): Promise<PoolsPage> {
    const found = await this.pools.list(after, limit + 1, { withPrivate: mayReadPrivateBoards(identity) });
    const { page: pools, next } = cutPage(found, limit, ({ id }) => id);
    return { pools, next };
  }
}
