import { GUILDS_SCOPE, holdsOn, valuesIn, type SanctionInForce } from '@laddercast/domain';
import {
  ownEntries,
  PostgresDatabase,
  unrankedRuns,
  type LedgerEntry,
  type OwnEntryAsked,
  type SqlRunner,
} from '@laddercast/ledger';
import { Inject, Injectable } from '@nestjs/common';
import type { OwnEntry } from './ranks-with-entry.js';
import { RanksOfPlayer } from './ranks-of-player.js';
import { RanksOfRuns } from './ranks-of-runs.js';
import type { ResolvedList } from './list-resolver.js';

/** The most entries that one statement looks up. */
const ASKED_AT_ONCE = 1000;

/** Lists with the entry of a banned or shadowed player, which nobody else sees in them. */
@Injectable()
export class OwnWorlds {
  constructor(@Inject(PostgresDatabase) private readonly database: SqlRunner) {}

  /** The list with the player's entry at its place, as the ledger has it now. */
  async of(resolved: ResolvedList, playerId: string): Promise<ResolvedList> {
    const { ranks } = resolved;
    if (ranks instanceof RanksOfRuns) return this.withRuns(resolved, ranks, playerId);
    if (!hasWorlds(resolved)) return worldOf(resolved, playerId, undefined);
    const [entry] = await this.entries([askedFor(resolved, playerId)]);
    return worldOf(resolved, playerId, entry);
  }

  /** The players' entries in the order asked, ranked or not; undefined where there is none. */
  async entries(asked: readonly OwnEntryAsked[]): Promise<(LedgerEntry | undefined)[]> {
    const entries: (LedgerEntry | undefined)[] = [];
    for (let start = 0; start < asked.length; start += ASKED_AT_ONCE) {
      entries.push(...(await ownEntries(this.database, asked.slice(start, start + ASKED_AT_ONCE))));
    }
    return entries;
  }

  /** Where each run is an entry: with all of the player's; frozen standings are as everybody sees them. */
  private async withRuns(resolved: ResolvedList, ranks: RanksOfRuns, playerId: string): Promise<ResolvedList> {
    const own = { ...resolved, ownWorldOf: playerId };
    if (!hasWorlds(resolved) || resolved.edition?.kind === 'frozen') return own;
    const runs = await unrankedRuns(this.database, resolved.list, playerId);
    // Standings from before the sanction still have them, and so have ranks that are a moment behind.
    const { entries } = await ranks.lookup(resolved.list, [playerId], 'ordinal');
    if (runs.length === 0 || entries[0]) return own;
    return { ...own, ranks: ranks.withEntries(runs.map(({ key, ...entry }) => ({ ...entry, playerId: key }))) };
  }
}

/** Whether a player is ranked on a board for itself alone. */
export const isShadowedOn = (sanction: SanctionInForce | null, boardId: string): boolean =>
  sanction?.kind === 'shadow' && holdsOn(sanction, boardId);

/** Lists of guilds, and lists as they stood, are the same for everybody. */
export const hasWorlds = ({ list, edition }: ResolvedList): boolean =>
  list.scope !== GUILDS_SCOPE && edition?.kind !== 'kept';

/** What is asked of the ledger for the world of a player in a list. */
export const askedFor = ({ list, edition }: ResolvedList, playerId: string): OwnEntryAsked => ({
  windowUid: list.windowUid,
  scope: list.scope,
  playerId,
  isFrozen: edition?.kind === 'frozen',
});

/** The entry as the list would rank it: on a board with decay under its tax. */
function ownEntryIn(
  { board: { definition }, list }: ResolvedList,
  playerId: string,
  { patchRuns, ...entry }: LedgerEntry,
): OwnEntry | undefined {
  const values = valuesIn(definition, list, entry, patchRuns);
  return values ? { ...entry, ...values, playerId } : undefined;
}

/** The list as the player reads it whose entry the ledger has so; undefined: it has none. */
export function worldOf(resolved: ResolvedList, playerId: string, entry: LedgerEntry | undefined): ResolvedList {
  if (resolved.list.scope === GUILDS_SCOPE) return resolved;
  // Its row is shown to it also where the list has it still, or keeps it as it stood.
  const own = { ...resolved, ownWorldOf: playerId };
  if (!entry || !hasWorlds(resolved)) return own;
  const ownEntry = ownEntryIn(resolved, playerId, entry);
  if (!ownEntry) return own;
  return { ...own, ownEntry, everybodys: resolved.ranks, ranks: new RanksOfPlayer(resolved.ranks, ownEntry) };
}
