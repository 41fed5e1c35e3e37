import {
  compareSortKeys,
  encodeSortKey,
  sharesRank,
  valueKeyOf,
  type BoardOrdering,
  type RankStyle,
  type SortKey,
  type SortValues,
} from '@laddercast/domain';
import {
  RankReadings,
  type PageReading,
  type PlayerReading,
  type ProjectedEntry,
  type RankList,
  type Reading,
} from '@laddercast/projections';

/** How often two readings of a list that changes in between are made anew. */
const TRIES_MAX = 3;

/** The one entry that is ranked in a list beside those that the list has. */
export interface OwnEntry extends SortValues {
  playerId: string;
  version: number;
  /** Whether the ledger ranks it for nobody. */
  unranked?: boolean;
}

/** Where the own entry stands, and whether nobody else has its score and columns. */
interface OwnPlace {
  rank: number;
  isNewValue: boolean;
}

/**
 * A list as one player sees it whose entry is ranked for nobody else: the entry stands at the place of its sort key, and what
 * is behind it stands one further. Exact, by the same counting as for anybody: a page is one reading.
 */
export class RanksWithEntry extends RankReadings {
  constructor(
    private readonly ranks: RankReadings,
    private readonly own: OwnEntry,
  ) {
    super();
  }

  async page(list: RankList, offset: number, limit: number, style: RankStyle): Promise<PageReading> {
    const { page } = await this.merged(list, offset, limit, style);
    return page;
  }

  async player(
    list: RankList,
    playerId: string,
    above: number,
    below: number,
    style: RankStyle,
  ): Promise<PlayerReading> {
    for (let tries = 1; ; tries += 1) {
      const found = await this.placeOf(list, playerId);
      if (found.index === null) return { ...withOne(found.reading), entry: null, neighbours: [] };
      const from = Math.max(0, found.index - above);
      const page = await this.page(list, from, found.index - from + 1 + below, style);
      const at = page.entries.findIndex((one) => one.playerId === playerId);
      // It may have moved between the two readings.
      if ((at < 0 || from + at !== found.index) && tries < TRIES_MAX) continue;
      const { entries, ...reading } = page;
      const entry = at < 0 ? null : { ...entries[at]!, version: found.version };
      return { ...reading, entry, neighbours: entries };
    }
  }

  async lookup(
    list: RankList,
    playerIds: readonly string[],
    style: RankStyle,
  ): Promise<Reading & { entries: (ProjectedEntry | null)[] }> {
    for (let tries = 1; ; tries += 1) {
      const reading = await this.ranks.lookup(list, playerIds, style);
      const beside = await this.beside(list, style);
      if (beside.listVersion !== reading.listVersion && tries < TRIES_MAX) continue;
      const own = { rank: beside.rank, ...this.row(list) };
      const entries = reading.entries.map((entry, at) => {
        if (playerIds[at] === this.own.playerId) return own;
        return entry && this.shifted(list, entry, style, beside.isNewValue);
      });
      return { ...withOne(reading), entries };
    }
  }

  async rankOfKey(list: RankList, key: SortKey, style: RankStyle): Promise<Reading & { rank: number }> {
    const reading = await this.ranks.rankOfKey(list, key, style);
    const ownKey = this.keyOf(list.ordering, this.own);
    const [mine, asked] =
      style === 'ordinal' ? [ownKey, key] : [valueKeyOf(list.ordering, ownKey), valueKeyOf(list.ordering, key)];
    if (compareSortKeys(mine, asked) >= 0) return withOne(reading);
    const counts = style !== 'dense' || (await this.beside(list, style)).isNewValue;
    return { ...withOne(reading), rank: reading.rank + (counts ? 1 : 0) };
  }

  async total(list: RankList): Promise<Reading> {
    return withOne(await this.ranks.total(list));
  }

  /**
   * A page out of one reading: the entry before it says whether the own one stands before the page; `own`: null where the
   * page does not show it.
   */
  private async merged(
    list: RankList,
    offset: number,
    limit: number,
    style: RankStyle,
  ): Promise<{ page: PageReading; own: OwnPlace | null }> {
    const from = Math.max(0, offset - 1);
    const { entries, ...reading } = await this.ranks.page(list, from, limit + offset - from, style);
    const ownKey = this.keyOf(list.ordering, this.own);
    const found = entries.findIndex((entry) => compareSortKeys(ownKey, this.keyOf(list.ordering, entry)) < 0);
    const at = found < 0 ? entries.length : found;
    if (at === 0 && from > 0) {
      const isNewValue = style === 'dense' ? (await this.beside(list, style)).isNewValue : true;
      const shifted = entries.slice(0, limit).map((entry) => this.shifted(list, entry, style, isNewValue));
      return { page: { ...withOne(reading), entries: shifted }, own: null };
    }
    const [before, after] = [entries[at - 1], entries[at]];
    const tied = [before, after].find((one) => one !== undefined && sharesRank(one, this.own));
    const place = from + at + 1;
    const rankBefore = before?.rank ?? 0;
    const rank = style === 'ordinal' ? place : (tied?.rank ?? (style === 'dense' ? rankBefore + 1 : place));
    const behind = entries.slice(at).map((entry) => this.shifted(list, entry, style, tied === undefined));
    const all = [...entries.slice(0, at), { rank, ...this.row(list) }, ...behind];
    const shown = all.slice(offset - from, offset - from + limit);
    const own = shown.some(({ playerId }) => playerId === this.own.playerId);
    return {
      page: { ...withOne(reading), entries: shown },
      own: own ? { rank, isNewValue: tied === undefined } : null,
    };
  }

  /** How the own entry stands in the list. */
  private async beside(list: RankList, style: RankStyle): Promise<Reading & OwnPlace> {
    for (let tries = 1; ; tries += 1) {
      const { rank: place } = await this.ranks.rankOfKey(list, this.keyOf(list.ordering, this.own), 'ordinal');
      const { page, own } = await this.merged(list, place - 1, 1, style);
      // Others may have moved between the two readings.
      if (own !== null || tries === TRIES_MAX) return { ...page, ...(own ?? { rank: place, isNewValue: true }) };
    }
  }

  /** The 0-based place of a player among all; null: it has no entry. */
  private async placeOf(
    list: RankList,
    playerId: string,
  ): Promise<{ index: number | null; version: number; reading: Reading }> {
    const ownKey = this.keyOf(list.ordering, this.own);
    if (playerId === this.own.playerId) {
      const { rank, ...reading } = await this.ranks.rankOfKey(list, ownKey, 'ordinal');
      return { index: rank - 1, version: this.own.version, reading };
    }
    const { entry, ...reading } = await this.ranks.player(list, playerId, 0, 0, 'ordinal');
    if (entry === null) return { index: null, version: 0, reading };
    const isBehind = compareSortKeys(ownKey, this.keyOf(list.ordering, entry)) < 0;
    return { index: entry.rank - (isBehind ? 0 : 1), version: entry.version, reading };
  }

  /** An entry of the list with its rank beside the own one. */
  private shifted(list: RankList, entry: ProjectedEntry, style: RankStyle, isNewValue: boolean): ProjectedEntry {
    const { ordering } = list;
    const isBehind = compareSortKeys(this.keyOf(ordering, this.own), this.keyOf(ordering, entry)) < 0;
    const isCounted = style === 'ordinal' || (!sharesRank(entry, this.own) && (style !== 'dense' || isNewValue));
    return isBehind && isCounted ? { ...entry, rank: entry.rank + 1 } : entry;
  }

  private row({ ordering }: RankList): Omit<ProjectedEntry, 'rank'> {
    const { playerId, score, columns, achievedAtMs, taxedFrom } = this.own;
    const time = ordering.tiebreak === 'none' ? null : achievedAtMs;
    return { playerId, score, columns, achievedAtMs: time, ...(taxedFrom && { taxedFrom }) };
  }

  private keyOf(
    ordering: BoardOrdering,
    entry: Pick<ProjectedEntry, 'playerId' | 'score' | 'columns' | 'achievedAtMs'>,
  ): SortKey {
    return encodeSortKey(ordering, { ...entry, achievedAtMs: entry.achievedAtMs ?? 0 }, entry.playerId);
  }
}

const withOne = <Read extends Reading>(reading: Read): Read => ({ ...reading, total: reading.total + 1 });
