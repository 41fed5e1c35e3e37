import { assertMayRead, type Identity } from '@laddercast/identity';
import { PlayerRegistry, PoolRegistry, type Pool, type PoolProgress } from '@laddercast/ledger';
import { Injectable } from '@nestjs/common';
import type { UnlistedShown } from '../queries.js';
import { isPlayerShown } from '../shared/shown-player.js';

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

  /** See {@link isPlayerShown}. */
  isShown(playerId: string, unlistedShown: UnlistedShown): Promise<boolean> {
    return isPlayerShown(this.players, playerId, unlistedShown);
  }
}
