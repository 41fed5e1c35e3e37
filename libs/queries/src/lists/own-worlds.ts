import { GUILDS_SCOPE } from '@laddercast/domain';
import { PostgresDatabase, unrankedEntry, type SqlRunner } from '@laddercast/ledger';
import { Inject, Injectable } from '@nestjs/common';
import { RanksWithEntry } from './ranks-with-entry.js';
import type { ResolvedList } from './list-resolver.js';

/** Lists with the entry of a banned or shadowed player, which nobody else sees in them. */
@Injectable()
export class OwnWorlds {
  constructor(@Inject(PostgresDatabase) private readonly database: SqlRunner) {}

  /**
   * The list with the player's entry at its place; as it is where the player has none that is unranked, and where the list
   * is of guilds, or as it stood.
   */
  async of(resolved: ResolvedList, playerId: string): Promise<ResolvedList> {
    const { list, ranks, edition } = resolved;
    if (list.scope === GUILDS_SCOPE || edition?.kind === 'kept') return resolved;
    const entry = await unrankedEntry(this.database, list, playerId);
    if (!entry) return resolved;
    // Standings from before the sanction still have it, and so have ranks that are a moment behind.
    const { entries } = await ranks.lookup(list, [playerId], 'ordinal');
    if (entries[0]) return resolved;
    return { ...resolved, ranks: new RanksWithEntry(ranks, { ...entry, playerId }), ownWorldOf: playerId };
  }
}
