import { compareSortKeys, encodeSortKey, type BoardOrdering, type SortKey } from '@laddercast/domain';
import type { ExportedEntry, ExportedStanding } from '@laddercast/ledger';
import { EntriesPassed, type RankedThere } from '../lists/entries-passed.js';

/**
 * The rows of a list, in their order, with some more at the places of their sort keys; what is behind them stands further.
 * @param chunks without those rows
 */
export async function* withOwnRows(
  chunks: AsyncIterable<ExportedStanding[]>,
  ordering: BoardOrdering,
  own: readonly ExportedEntry[],
): AsyncGenerator<ExportedStanding[]> {
  const rest = own.map((row) => ({ row, key: keyOf(ordering, row) })).sort((a, b) => compareSortKeys(a.key, b.key));
  const passed = new EntriesPassed();
  let last: ExportedStanding | undefined;
  /** Those of the own rows that stand before a row of the list, or behind all. */
  const before = (row: ExportedStanding | undefined): ExportedStanding[] => {
    const placed: ExportedStanding[] = [];
    const key = row && keyOf(ordering, row);
    while (rest[0] !== undefined && (key === undefined || compareSortKeys(rest[0].key, key) < 0)) {
      const next = rest.shift()!.row;
      const place = placeOf(next, passed, last, row);
      passed.pass(next, place.isNew);
      placed.push({ ...next, ...place.ranks });
    }
    return placed;
  };
  for await (const chunk of chunks) {
    const rows: ExportedStanding[] = [];
    for (const row of chunk) {
      rows.push(...before(row), behind(row, passed));
      last = row;
    }
    yield rows;
  }
  if (rest.length > 0) yield before(undefined);
}

type Ranks = Pick<ExportedStanding, 'ordinal' | 'competition' | 'dense'>;

function placeOf(
  row: ExportedEntry,
  passed: EntriesPassed,
  last: ExportedStanding | undefined,
  next: ExportedStanding | undefined,
): { ranks: Ranks; isNew: boolean } {
  const ordinal = last?.ordinal ?? 0;
  const inStyle = (style: keyof Ranks): { rank: number; isNew: boolean } => {
    const ranked = (one: ExportedStanding | undefined): RankedThere | undefined => one && { ...one, rank: one[style] };
    return passed.rankOf(row, style, { ordinal, before: ranked(last), after: ranked(next) });
  };
  const [competition, dense] = [inStyle('competition'), inStyle('dense')];
  const ranks = { ordinal: inStyle('ordinal').rank, competition: competition.rank, dense: dense.rank };
  return { ranks, isNew: dense.isNew };
}

const behind = (row: ExportedStanding, passed: EntriesPassed): ExportedStanding => ({
  ...row,
  ordinal: row.ordinal + passed.shift(row, 'ordinal'),
  competition: row.competition + passed.shift(row, 'competition'),
  dense: row.dense + passed.shift(row, 'dense'),
});

const keyOf = (ordering: BoardOrdering, { score, columns, achieved_at_ms, player_id }: ExportedEntry): SortKey =>
  encodeSortKey(ordering, { score, columns, achievedAtMs: achieved_at_ms }, player_id);
