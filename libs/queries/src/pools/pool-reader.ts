import { assertMayRead, type Identity } from '@laddercast/identity';
import { PlayerRegistry, PoolRegistry, type Pool, type PoolProgress } from '@laddercast/ledger';
import { Injectable } from '@nestjs/common';
import type { UnlistedShown } from '../queries.js';

/** Finds what a caller may see of pools. */
@Injectable()
export class PoolReader {
  constructor(
    private readonly pools: PoolRegistry,
    private readonly players: PlayerRegistry,
  ) {}

  /** @throws POOL_NOT_FOUND, UNAUTHENTICATED, FORBIDDEN */
  async pool(poolId: string, identity: Identity): Promise<Pool & PoolProgress> {
    const pool = await this.pools.get(poolId);
    assertMayRead(identity, pool);
    return pool;
  }

  /** To others, a player who is not listed looks like one who never played. */
  async isShown(playerId: string, unlistedShown: UnlistedShown): Promise<boolean> {
    if (unlistedShown === 'all' || unlistedShown.includes(playerId)) return true;
    return (await this.players.find(playerId))?.listed ?? true;
  }
}
