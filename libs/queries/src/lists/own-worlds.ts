import { GUILDS_SCOPE, holdsOn, isPerRun, valuesIn, type SanctionInForce } from '@laddercast/domain';
import {
  entriesOfPlayers,
  PostgresDatabase,
  type OwnedEntry,
  type OwnEntryAsked,
  type SqlRunner,
} from '@laddercast/ledger';
import type { RankReadings } from '@laddercast/projections';
import { Inject, Injectable } from '@nestjs/common';
import { RanksOfPlayer } from './ranks-of-player.js';
import { RanksOfRuns } from './ranks-of-runs.js';
import type { OwnEntry } from './ranks-with-entries.js';
import type { ResolvedList } from './list-resolver.js';

/** The most players that one statement looks up. */
const ASKED_AT_ONCE = 1000;

/** What is asked of the ledger for the world of a player in a list. */
export type WorldAsked = OwnEntryAsked & { isPerRun: boolean };

/** Lists with the entries of a banned or shadowed player, which nobody else sees in them. */
@Injectable()
export class OwnWorlds {
  constructor(@Inject(PostgresDatabase) private readonly database: SqlRunner) {}

  /** The list with the player's entries at their places, as the ledger has them now. */
  async of(resolved: ResolvedList, playerId: string): Promise<ResolvedList> {
    if (!hasWorlds(resolved)) return worldOf(resolved, playerId, []);
    const [entries] = await this.entries([askedFor(resolved, playerId)]);
    return worldOf(resolved, playerId, entries!);
  }

  /** The players' entries in the order asked, ranked or not. */
  async entries(asked: readonly WorldAsked[]): Promise<OwnedEntry[][]> {
    const entries: OwnedEntry[][] = [];
    for (let start = 0; start < asked.length; start += ASKED_AT_ONCE) {
      entries.push(...(await entriesOfPlayers(this.database, asked.slice(start, start + ASKED_AT_ONCE))));
    }
    return entries;
  }
}

/** Which entries of a reader everybody's list lacks. */
export async function lackedBy(
  { list, ranks }: Pick<ResolvedList, 'list' | 'ranks'>,
  own: readonly OwnEntry[],
): Promise<OwnEntry[]> {
  if (own.length === 0) return [];
  const names = own.map(({ playerId }) => playerId);
  const { entries } = await ranksByKeys(ranks).lookup(list, names, 'ordinal');
  return own.filter((_, at) => entries[at] === null);
}

/** Whether a player is ranked on a board for itself alone. */
export const isShadowedOn = (sanction: SanctionInForce | null, boardId: string): boolean =>
  sanction?.kind === 'shadow' && holdsOn(sanction, boardId);

/** Lists of guilds, and lists as they stood, are the same for everybody. */
export const hasWorlds = ({ list, edition }: ResolvedList): boolean =>
  list.scope !== GUILDS_SCOPE && edition?.kind !== 'kept';

/** What is asked of the ledger for the world of a player in a list. */
export const askedFor = ({ board, list, edition }: ResolvedList, playerId: string): WorldAsked => ({
  windowUid: list.windowUid,
  scope: list.scope,
  playerId,
  isFrozen: edition?.kind === 'frozen',
  isPerRun: isPerRun(board.definition),
});

/** The entries as the list would rank them: on a board with decay under its tax. */
const ownEntriesIn = ({ board, list }: ResolvedList, entries: readonly OwnedEntry[]): OwnEntry[] =>
  entries.flatMap(({ patchRuns, ...entry }) => {
    const values = valuesIn(board.definition, list, entry, patchRuns);
    return values ? [{ ...entry, ...values }] : [];
  });

/** The list as the player reads it who has these entries in the ledger. */
export function worldOf(resolved: ResolvedList, playerId: string, stored: readonly OwnedEntry[]): ResolvedList {
  if (resolved.list.scope === GUILDS_SCOPE) return resolved;
  const { ranks } = resolved;
  // Its row is shown to it also where the list has it still, or keeps it as it stood.
  const own = { ...resolved, ownWorldOf: playerId };
  const entries = ownEntriesIn(resolved, stored);
  if (entries.length === 0 || !hasWorlds(resolved)) return own;
  const ofPlayer = ranks instanceof RanksOfRuns ? ranks.ofPlayer(entries) : new RanksOfPlayer(ranks, entries);
  return { ...own, ownEntries: entries, everybodys: ranks, ranks: ofPlayer };
}

/** The readings of a list whose entries have nothing but keys. */
const ranksByKeys = (ranks: RankReadings): RankReadings => (ranks instanceof RanksOfRuns ? ranks.ranks : ranks);
