import { gamesOfPool, PostgresDatabase } from '@laddercast/ledger';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { ListGamesQuery, type GamesOfPool } from './pool-queries.js';
import { PoolReader } from './pool-reader.js';
import { shownGame } from './shown-game.js';
import { cutPage } from '../shared/cut-page.js';

@QueryHandler(ListGamesQuery)
export class ListGamesHandler implements IQueryHandler<ListGamesQuery> {
  constructor(
    private readonly reader: PoolReader,
    private readonly database: PostgresDatabase,
  ) {}

  async execute({ caller, poolId, playerId, page }: ListGamesQuery): Promise<GamesOfPool> {
    const pool = await this.reader.pool(poolId, caller.identity);
    if (playerId !== null && !(await this.reader.isShown(playerId, caller))) {
      return { games: [], next: null };
    }
    const { limit, beforePosition } = page;
    const found = await gamesOfPool(this.database, pool.uid, { playerId, beforePosition, limit: limit + 1 });
    const { page: games, next } = cutPage(found, limit, ({ position }) => String(position));
    return { games: games.map((game) => shownGame(poolId, game)), next };
  }
}
