import { LadderError } from '@laddercast/domain';
import { gamesById, PostgresDatabase } from '@laddercast/ledger';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { GetGameQuery, type ShownGame } from './pool-queries.js';
import { PoolReader } from './pool-reader.js';
import { shownGame } from './shown-game.js';

@QueryHandler(GetGameQuery)
export class GetGameHandler implements IQueryHandler<GetGameQuery> {
  constructor(
    private readonly reader: PoolReader,
    private readonly database: PostgresDatabase,
  ) {}

  async execute({ identity, poolId, gameId }: GetGameQuery): Promise<ShownGame> {
    const pool = await this.reader.pool(poolId, identity);
    const [game] = await gamesById(this.database, pool.uid, [gameId]);
    if (!game) throw new LadderError('GAME_NOT_FOUND', `Pool "${poolId}" has no game "${gameId}".`);
    return shownGame(poolId, game);
  }
}
