import { entryOfKey, playerOfKey, type RankStyle, type SortKey } from '@laddercast/domain';
import {
  RankReadings,
  type PageReading,
  type PlayerReading,
  type ProjectedEntry,
  type RankList,
  type Reading,
} from '@laddercast/projections';
import { inOrder } from './entries-in-order.js';
import { RanksOfPlayer } from './ranks-of-player.js';
import type { OwnEntry } from './ranks-with-entries.js';
import type { RunEntryKeys } from './run-entry-keys.js';

/** How often two readings of a list that changes in between are made anew. */
const TRIES_MAX = 3;
/** How many entries one look-up asks for. */
const KEYS_AT_ONCE = 500;

/**
 * A list where each run is an entry, for readers who ask for players: its rows say whose they are and which run, and a player
 * is found by its best entry. Beneath it entries have nothing but keys.
 */
export class RanksOfRuns extends RankReadings {
  /**
   * @param ranks by the keys of entries
   * @param own entries of one player that are in the list for one reader alone, beside those that `keys` finds
   */
  constructor(
    readonly ranks: RankReadings,
    private readonly keys: RunEntryKeys,
    private readonly own: readonly OwnEntry[] = [],
  ) {
    super();
  }

  /** The list as the player reads it who has these entries. */
  ofPlayer(own: readonly OwnEntry[]): RanksOfRuns {
    return new RanksOfRuns(new RanksOfPlayer(this.ranks, own), this.keys, own);
  }

  async page(list: RankList, offset: number, limit: number, style: RankStyle): Promise<PageReading> {
    const { entries, ...reading } = await this.ranks.page(list, offset, limit, style);
    return { ...reading, entries: entries.map(named) };
  }

  async player(
    list: RankList,
    playerId: string,
    above: number,
    below: number,
    style: RankStyle,
  ): Promise<PlayerReading> {
    for (let tries = 1; ; tries += 1) {
      const keys = await this.allKeys(list, [playerId]);
      const found = await this.found(list, keys.get(playerId) ?? [], style);
      const best = found.entries[0];
      if (best === undefined) return { ...(await this.ranks.total(list)), entry: null, neighbours: [] };
      const around = await this.ranks.player(list, best.playerId, above, below, style);
      // It may have changed between the two readings.
      const isSame = around.entry !== null && around.listVersion === found.listVersion;
      if (!isSame && tries < TRIES_MAX) continue;
      if (around.entry === null) return { ...around, neighbours: [] };
      const entries = found.entries.map(named);
      return { ...around, entry: named(around.entry), neighbours: around.neighbours.map(named), entries };
    }
  }

  /** Of each player its best entry. */
  async lookup(
    list: RankList,
    playerIds: readonly string[],
    style: RankStyle,
  ): Promise<Reading & { entries: (ProjectedEntry | null)[] }> {
    const bestKeys = groupedByPlayer(await this.keys.best(list, playerIds));
    for (const { playerId } of this.own) bestKeys.delete(playerOfKey(playerId));
    const ofOwn = groupedByPlayer(this.ownKeys());
    const found = await this.found(list, [...[...bestKeys.values()].flat(), ...[...ofOwn.values()].flat()], style);
    const best = bestByPlayer(found.entries);
    // The newest ones may not be in the list yet, where those are that they pushed down.
    const missing = playerIds.filter((playerId) => bestKeys.has(playerId) && !best.has(playerId));
    if (missing.length > 0 && list.edition === undefined) {
      const others = [...(await this.allKeys(list, missing)).values()].flat();
      for (const [playerId, entry] of bestByPlayer((await this.found(list, others, style)).entries))
        best.set(playerId, entry);
    }
    const { entries: _entries, ...reading } = found;
    const entries = playerIds.map((playerId) => best.get(playerId) ?? null);
    return { ...reading, entries: entries.map((entry) => entry && named(entry)) };
  }

  rankOfKey(list: RankList, key: SortKey, style: RankStyle): Promise<Reading & { rank: number }> {
    return this.ranks.rankOfKey(list, key, style);
  }

  total(list: RankList): Promise<Reading> {
    return this.ranks.total(list);
  }

  private ownKeys(): { playerId: string; key: string }[] {
    return this.own.map(({ playerId: key }) => ({ playerId: playerOfKey(key), key }));
  }

  /** By player. */
  private async allKeys(list: RankList, playerIds: readonly string[]): Promise<Map<string, string[]>> {
    const ofOwn = this.ownKeys().filter(({ playerId }) => playerIds.includes(playerId));
    const stored = await this.keys.all(list, playerIds);
    return groupedByPlayer([...stored.filter(({ key }) => !ofOwn.some((own) => own.key === key)), ...ofOwn]);
  }

  /** Those of the entries that the list has, the best first, by their keys. */
  private async found(
    list: RankList,
    keys: readonly string[],
    style: RankStyle,
  ): Promise<Reading & { entries: ProjectedEntry[] }> {
    if (keys.length === 0) return { ...(await this.ranks.total(list)), entries: [] };
    const parts: (Reading & { entries: (ProjectedEntry | null)[] })[] = [];
    for (let from = 0; from < keys.length; from += KEYS_AT_ONCE) {
      parts.push(await this.ranks.lookup(list, keys.slice(from, from + KEYS_AT_ONCE), style));
    }
    const entries = parts.flatMap((part) => part.entries).filter((entry) => entry !== null);
    const { entries: _entries, ...reading } = parts[0]!;
    return { ...reading, entries: inOrder(list.ordering, entries).map(({ key: _key, ...entry }) => entry) };
  }
}

/** What a reading says of an entry by its key, by its player and its run. */
export const named = <Entry extends ProjectedEntry>(entry: Entry): Entry => ({
  ...entry,
  ...entryOfKey(entry.playerId),
});

function groupedByPlayer(keys: readonly { playerId: string; key: string }[]): Map<string, string[]> {
  const grouped = new Map<string, string[]>();
  for (const { playerId, key } of keys) grouped.set(playerId, [...(grouped.get(playerId) ?? []), key]);
  return grouped;
}

/** @param entries by their keys, the best first */
function bestByPlayer(entries: readonly ProjectedEntry[]): Map<string, ProjectedEntry> {
  const best = new Map<string, ProjectedEntry>();
  for (const entry of entries) {
    const playerId = playerOfKey(entry.playerId);
    if (!best.has(playerId)) best.set(playerId, entry);
  }
  return best;
}
