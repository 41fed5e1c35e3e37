// Real: nothing outside the process. The readings underneath are those of a sorted array; the conformance suite of all
// readings of ranks compares every answer with an oracle that has the own entries among the others.
import {
  compareSortKeys,
  countedKey,
  ranksFromTop,
  withoutNegativeZero,
  type RankStyle,
  type SortKey,
} from '@laddercast/domain';
import {
  RankReadings,
  type PageReading,
  type PlayerReading,
  type ProjectedEntry,
  type RankList,
  type Reading,
} from '@laddercast/projections';
import { oracleOf, rankReadingsConformance, sortKeyOf, type OracleEntry } from '@laddercast/testing';
import { describe } from 'vitest';
import { RanksWithEntries } from './ranks-with-entries.js';

/** The ranks of a sorted array. */
class ArrayRanks extends RankReadings {
  constructor(private readonly entries: readonly OracleEntry[]) {
    super();
  }

  override async page(list: RankList, offset: number, limit: number, style: RankStyle): Promise<PageReading> {
    return { ...this.reading(), entries: this.rows(list, style).slice(offset, offset + limit) };
  }

  override async player(
    list: RankList,
    playerId: string,
    above: number,
    below: number,
    style: RankStyle,
  ): Promise<PlayerReading> {
    const rows = this.rows(list, style);
    const at = rows.findIndex((row) => row.playerId === playerId);
    if (at < 0) return { ...this.reading(), entry: null, neighbours: [] };
    const entry = { ...rows[at]!, version: this.entries[at]!.version };
    return { ...this.reading(), entry, neighbours: rows.slice(Math.max(0, at - above), at + below + 1) };
  }

  override async lookup(list: RankList, playerIds: readonly string[], style: RankStyle) {
    const rows = new Map(this.rows(list, style).map((row) => [row.playerId, row]));
    return { ...this.reading(), entries: playerIds.map((id) => rows.get(id) ?? null) };
  }

  override async rankOfKey(list: RankList, key: SortKey, style: RankStyle): Promise<Reading & { rank: number }> {
    const counted = countedKey(list.ordering, key, style);
    const better = this.entries.filter((entry) => {
      const own = countedKey(list.ordering, sortKeyOf(list.ordering, entry), style);
      return compareSortKeys(own, counted) < 0;
    });
    const values = new Set(better.map(({ score, columns }) => [score, ...columns].join()));
    return { ...this.reading(), rank: (style === 'dense' ? values.size : better.length) + 1 };
  }

  override async total(): Promise<Reading> {
    return this.reading();
  }

  private reading(): Reading {
    return { total: this.entries.length, listVersion: 1 };
  }

  private rows({ ordering }: RankList, style: RankStyle): ProjectedEntry[] {
    const ranks = ranksFromTop(this.entries, style);
    return this.entries.map(({ version: _, ...entry }, at) => ({
      ...entry,
      rank: ranks[at]!,
      achievedAtMs: ordering.tiebreak === 'none' ? null : entry.achievedAtMs,
    }));
  }
}

/** The ledger knows one zero. */
const asStored = (entry: OracleEntry): OracleEntry => ({
  ...entry,
  score: withoutNegativeZero(entry.score),
  columns: entry.columns.map(withoutNegativeZero),
});

describe.each([[[0]], [[1]], [[2]], [[5]], [[0, 1]], [[1, 2, 4]], [[0, 3, 5, 6]], [[0, 1, 2, 3, 4, 5, 6, 7, 8]]])(
  'a list with entries of one reader in it, those at %j of its places',
  (places) => {
    rankReadingsConformance({
      runs: 30,
      withScenario: async (scenario, check) => {
        const { list } = scenario;
        const oracle = oracleOf(scenario);
        const entries = oracle.entries.map(asStored);
        const own = entries.filter((_, at) => places.some((place) => place % entries.length === at));
        const others = new ArrayRanks(entries.filter((entry) => !own.includes(entry)));
        // In no order.
        await check({ readings: new RanksWithEntries(others, own.toReversed()), list, oracle });
      },
    });
  },
);
