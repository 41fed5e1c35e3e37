import type { RankStyle, SortKey } from '@laddercast/domain';
import {
  RankReadings,
  type PageReading,
  type PlayerReading,
  type ProjectedEntry,
  type RankList,
  type Reading,
} from '@laddercast/projections';
import { RanksWithEntries, type OwnEntry } from './ranks-with-entries.js';

/** How often it is looked again which of the entries a list has, while that changes. */
const LOOKS_MAX = 3;

/**
 * A list as one player reads it, whether the list has the player's entries or not: as it is, with those that it lacks at their
 * places. So the player finds each once, also while the list follows a sanction that was put or lifted.
 */
export class RanksOfPlayer extends RankReadings {
  /** @param own at most `entriesPerPlayerMax`, by what the list calls them */
  constructor(
    private readonly ranks: RankReadings,
    private readonly own: readonly OwnEntry[],
  ) {
    super();
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

  /** A reading holds if the list lacked the same entries before it and after it. */
  private async read<Read extends Reading>(list: RankList, of: (ranks: RankReadings) => Promise<Read>): Promise<Read> {
    let before = await this.look(list);
    for (let looks = 1; ; looks += 1) {
      const { lacking } = before;
      const reading = await of(lacking.length === 0 ? this.ranks : new RanksWithEntries(this.ranks, lacking));
      if (reading.listVersion === before.listVersion) return reading;
      const after = await this.look(list);
      const isSame = lacking.length === after.lacking.length && lacking.every((one) => after.lacking.includes(one));
      if (isSame || looks === LOOKS_MAX) return reading;
      before = after;
    }
  }

  private async look(list: RankList): Promise<{ lacking: OwnEntry[]; listVersion: number }> {
    const names = this.own.map(({ playerId }) => playerId);
    const { entries, listVersion } = await this.ranks.lookup(list, names, 'ordinal');
    return { lacking: this.own.filter((_, at) => entries[at] === null), listVersion };
  }
}
