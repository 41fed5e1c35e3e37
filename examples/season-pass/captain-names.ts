import { EntryEnricher, type PlayerDecoration } from '@laddercast/leaderboard';
import { Injectable } from '@nestjs/common';
import { PassRegistry } from './pass-registry.js';

/** Shows each player under the name of the captain. */
@Injectable()
export class CaptainNames extends EntryEnricher {
  constructor(private readonly passes: PassRegistry) {
    super();
  }

  async decorate(playerIds: readonly string[]): Promise<ReadonlyMap<string, PlayerDecoration>> {
    const holders = await Promise.all(playerIds.map((playerId) => this.passes.holderOf(playerId)));
    return new Map(
      holders.flatMap((holder) => (holder ? [[holder.playerId, { displayName: holder.captain }] as const] : [])),
    );
  }
}
