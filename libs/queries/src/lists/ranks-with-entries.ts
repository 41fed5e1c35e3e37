import {
  compareSortKeys,
  countedKey,
  sharesRank,
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
import { inOrder, sortKeyOf } from './entries-in-order.js';
import { EntriesPassed } from './entries-passed.js';

/** How often readings of a list that changes in between are made anew. */
const TRIES_MAX = 3;

/** An entry that is ranked in a list beside those that the list has. */
export interface OwnEntry extends SortValues {
  /** Or the key of a run's entry. */
  playerId: string;
  version: number;
  /** Whether the ledger ranks it for nobody. */
  unranked?: boolean;
}

type KeyedEntry = OwnEntry & { key: SortKey };

/**
 * A list as one player sees it whose entries are ranked for nobody else: each stands at the place of its sort key, and what
 * is behind it stands one further. Exact, by the same counting as for anybody: a page is one reading.
 */
export class RanksWithEntries extends RankReadings {
  /** @param own at most `entriesPerPlayerMax`: so many rows more are read for each page */
  constructor(
    private readonly ranks: RankReadings,
    private readonly own: readonly OwnEntry[],
  ) {
    super();
  }

  /** A page out of one reading: the entries before it say which of the own ones stand before the page. */
  async page(list: RankList, offset: number, limit: number, style: RankStyle): Promise<PageReading> {
    const { ordering } = list;
    const own = inOrder(ordering, this.own);
    const from = Math.max(0, offset - own.length);
    const { entries, ...reading } = await this.ranks.page(list, from, limit + offset - from, style);
    const first = from > 0 ? entries[0] : undefined;
    // The list ends before the page.
    if (from > 0 && first === undefined) return { ...this.withOwn(reading), entries: [] };
    const isBefore = ({ key }: KeyedEntry): boolean => first !== undefined && isBetter(key, sortKeyOf(ordering, first));
    const before = own.filter(isBefore);
    const passed = await this.passing(list, before, style);
    const shown: Omit<ProjectedEntry, 'version'>[] = [];
    const rest = own.slice(before.length);
    for (const [at, entry] of [...entries, undefined].entries()) {
      while (rest[0] !== undefined && (entry === undefined || isBetter(rest[0].key, sortKeyOf(ordering, entry)))) {
        const next = rest.shift()!;
        const beside = { ordinal: from + at, before: entries[at - 1], after: entry };
        const { rank, isNew } = passed.rankOf(next, style, beside);
        passed.pass(next, isNew);
        shown.push({ rank, ...rowOf(list, next) });
      }
      if (entry !== undefined) shown.push({ ...entry, rank: entry.rank + passed.shift(entry, style) });
    }
    const start = offset - from - before.length;
    return { ...this.withOwn(reading), entries: shown.slice(start, start + limit) };
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
      if (found.index === null) return { ...this.withOwn(found.reading), entry: null, neighbours: [] };
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
    const { ordering } = list;
    const own = inOrder(ordering, this.own);
    for (let tries = 1; ; tries += 1) {
      const reading = await this.ranks.lookup(list, playerIds, style);
      const asked = own.filter(({ playerId }) => playerIds.includes(playerId));
      const [values, places] = await Promise.all([
        style === 'dense' ? this.newValues(list, own) : [],
        Promise.all(asked.map(({ key }) => this.ranks.rankOfKey(list, key, style))),
      ]);
      const isOfOne = [...values, ...places].every(({ listVersion }) => listVersion === reading.listVersion);
      if (!isOfOne && tries < TRIES_MAX) continue;
      const newOnes = new Set(own.filter((_, at) => values[at]?.isNew));
      const shift = (entry: Omit<ProjectedEntry, 'rank'>, key: SortKey): number =>
        passingAll(
          own.filter((one) => isBetter(one.key, key)),
          newOnes,
        ).shift(entry, style);
      const rows = new Map<string, ProjectedEntry>();
      for (const [at, entry] of asked.entries())
        rows.set(entry.playerId, { ...rowOf(list, entry), rank: places[at]!.rank + shift(entry, entry.key) });
      const entries = reading.entries.map(
        (entry, at) =>
          rows.get(playerIds[at]!) ??
          (entry && { ...entry, rank: entry.rank + shift(entry, sortKeyOf(ordering, entry)) }),
      );
      return { ...this.withOwn(reading), entries };
    }
  }

  async rankOfKey(list: RankList, key: SortKey, style: RankStyle): Promise<Reading & { rank: number }> {
    const reading = await this.ranks.rankOfKey(list, key, style);
    const counted = (one: SortKey): SortKey => countedKey(list.ordering, one, style);
    const better = inOrder(list.ordering, this.own).filter((own) => isBetter(counted(own.key), counted(key)));
    const passed = await this.passing(list, better, style);
    return { ...this.withOwn(reading), rank: reading.rank + passed.shift(null, style) };
  }

  async total(list: RankList): Promise<Reading> {
    return this.withOwn(await this.ranks.total(list));
  }

  /** Those that stand before a page, or before a key. */
  private async passing(list: RankList, before: readonly KeyedEntry[], style: RankStyle): Promise<EntriesPassed> {
    return passingAll(before, new Set(style === 'dense' ? await this.newOnes(list, before) : []));
  }

  private async newOnes(list: RankList, own: readonly KeyedEntry[]): Promise<KeyedEntry[]> {
    const values = await this.newValues(list, own);
    return own.filter((_, at) => values[at]!.isNew);
  }

  /** Whether the list has no entry with the score and columns of an own one, for each of them: what dense ranks count. */
  private newValues(list: RankList, own: readonly KeyedEntry[]): Promise<{ isNew: boolean; listVersion: number }[]> {
    return Promise.all(
      own.map(async (entry) => {
        const { rank } = await this.ranks.rankOfKey(list, entry.key, 'ordinal');
        // Those of its value stand in one stretch, which its place is in, or beside.
        const from = Math.max(0, rank - 2);
        const { entries, listVersion } = await this.ranks.page(list, from, rank - from, 'ordinal');
        return { isNew: !entries.some((one) => sharesRank(one, entry)), listVersion };
      }),
    );
  }

  /** The 0-based place of an entry among all; null: there is none. */
  private async placeOf(
    list: RankList,
    playerId: string,
  ): Promise<{ index: number | null; version: number; reading: Reading }> {
    const own = inOrder(list.ordering, this.own);
    const at = own.findIndex((one) => one.playerId === playerId);
    if (at >= 0) {
      const { rank, ...reading } = await this.ranks.rankOfKey(list, own[at]!.key, 'ordinal');
      return { index: rank - 1 + at, version: own[at]!.version, reading };
    }
    const { entry, ...reading } = await this.ranks.player(list, playerId, 0, 0, 'ordinal');
    if (entry === null) return { index: null, version: 0, reading };
    const better = own.filter(({ key }) => isBetter(key, sortKeyOf(list.ordering, entry)));
    return { index: entry.rank - 1 + better.length, version: entry.version, reading };
  }

  private withOwn<Read extends Reading>(reading: Read): Read {
    return { ...reading, total: reading.total + this.own.length };
  }
}

function passingAll(own: readonly KeyedEntry[], newOnes: ReadonlySet<KeyedEntry>): EntriesPassed {
  const passed = new EntriesPassed();
  for (const one of own) passed.pass(one, newOnes.has(one));
  return passed;
}

const isBetter = (key: SortKey, than: SortKey): boolean => compareSortKeys(key, than) < 0;

const rowOf = ({ ordering }: RankList, { playerId, score, columns, achievedAtMs, taxedFrom }: OwnEntry) => ({
  ...{ playerId, score, columns },
  achievedAtMs: ordering.tiebreak === 'none' ? null : achievedAtMs,
  ...(taxedFrom && { taxedFrom }),
});
