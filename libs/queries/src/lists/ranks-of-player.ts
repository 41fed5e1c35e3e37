import type { RankStyle, SortKey } from '@laddercast/domain';
import {
  RankReadings,
  type PageReading,
  type PlayerReading,
  type ProjectedEntry,
  type RankList,
  type Reading,
} from '@laddercast/projections';
import { RanksWithEntry, type OwnEntry } from './ranks-with-entry.js';

/** How often it is looked again whether a list has the player, while that changes. */
const LOOKS_MAX = 3;

/**
 * A list as one player reads it, whether the list has the player's entry or not: as it is where it has it, else with the
 * entry at its place. So the player finds itself once, also while the list follows a sanction that was put or lifted.
 */
export class RanksOfPlayer extends RankReadings {
  private readonly merged: RanksWithEntry;

  constructor(
    private readonly ranks: RankReadings,
    private readonly own: OwnEntry,
  ) {
    super();
    this.merged = new RanksWithEntry(ranks, own);
  }

  override page(list: RankList, offset: number, limit: number, style: RankStyle): Promise<PageReading> {
    return this.read(list, (ranks) => ranks.page(list, offset, limit, style));
  }

  override player(
    list: RankList,
    playerId: string,
    above: number,
    below: number,
    style: RankStyle,
  ): Promise<PlayerReading> {
    return this.read(list, (ranks) => ranks.player(list, playerId, above, below, style));
  }

  override lookup(
    list: RankList,
    playerIds: readonly string[],
    style: RankStyle,
  ): Promise<Reading & { entries: (ProjectedEntry | null)[] }> {
    return this.read(list, (ranks) => ranks.lookup(list, playerIds, style));
  }

  override rankOfKey(list: RankList, key: SortKey, style: RankStyle): Promise<Reading & { rank: number }> {
    return this.read(list, (ranks) => ranks.rankOfKey(list, key, style));
  }

  override total(list: RankList): Promise<Reading> {
    return this.read(list, (ranks) => ranks.total(list));
  }

  /** A reading holds if the list had the player, or had not, before it and after it. */
  private async read<Read extends Reading>(list: RankList, of: (ranks: RankReadings) => Promise<Read>): Promise<Read> {
    let before = await this.look(list);
    for (let looks = 1; ; looks += 1) {
      const reading = await of(before.isThere ? this.ranks : this.merged);
      if (reading.listVersion === before.listVersion) return reading;
      const after = await this.look(list);
      if (after.isThere === before.isThere || looks === LOOKS_MAX) return reading;
      before = after;
    }
  }

  private async look(list: RankList): Promise<{ isThere: boolean; listVersion: number }> {
    const { entries, listVersion } = await this.ranks.lookup(list, [this.own.playerId], 'ordinal');
    return { isThere: entries[0] !== null, listVersion };
  }
}
