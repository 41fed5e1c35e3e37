import { decodeSortKey, valueKeyOf, type RankStyle, type SortKey } from '@laddercast/domain';
import type { ProjectedEntry, RankList } from '../ranks/rank-projection.js';

/**
 * Rows that follow each other from a 0-based index, with ranks in a style.
 * @param countBefore what stands before the first row in that style: its index may say less; null for ordinal
 */
export function rankRows(
  list: RankList,
  rows: readonly SortKey[],
  index: number,
  style: RankStyle,
  countBefore: number | null,
): ProjectedEntry[] {
  let rank = (countBefore ?? index) + 1;
  return rows.map((row, at) => {
    const above = rows[at - 1];
    if (above !== undefined && (style === 'ordinal' || !isTied(list, above, row))) {
      rank = style === 'dense' ? rank + 1 : index + at + 1;
    }
    return { rank, ...decodeSortKey(list.ordering, row) };
  });
}

/** Tells sort keys apart in maps. */
export const nameOf = (key: SortKey): string => `${key.score} ${key.member.toString('latin1')}`;

/** Whether two entries share a rank in the styles that have shared ones. */
export const isTied = ({ ordering }: RankList, a: SortKey, b: SortKey): boolean =>
  a.score === b.score && valueKeyOf(ordering, a).member.equals(valueKeyOf(ordering, b).member);
