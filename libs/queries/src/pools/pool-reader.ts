import { assertMayRead, holdsScope, type Identity } from '@laddercast/identity';
import { PlayerRegistry, PoolRegistry, type Pool, type PoolProgress } from '@laddercast/ledger';
import { Injectable } from '@nestjs/common';
import { isPlayerShown, type PlayerReader } from '../shared/shown-player.js';
import type { PoolCaller } from './pool-queries.js';

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
  isShown(playerId: string, caller: PoolCaller): Promise<boolean> {
    return isPlayerShown(this.players, playerId, readerOf(caller), null);
  }
}

/** Whom of the players a caller of a pool sees. */
export const readerOf = ({ identity, unlistedShown }: PoolCaller): PlayerReader => ({
  unlistedShown,
  moderates: holdsScope(identity, 'moderate'),
});
