import { decodeSortKey, memberColumnBytes, type RankStyle, type SortKey } from '@laddercast/domain';
import type { ProjectedEntry, RankList } from './rank-projection.js';

/** Rows that follow each other from a 0-based index, with ranks; in competition style when `strictlyBetter` is given. */
export function rankRows(
  list: RankList,
  rows: readonly SortKey[],
  index: number,
  strictlyBetter: number | null,
): ProjectedEntry[] {
  const columnBytes = memberColumnBytes(list.ordering);
  let current = strictlyBetter === null ? index : strictlyBetter;
  return rows.map((row, at) => {
    const tied = at > 0 && nameOf(strictKey(row, columnBytes)) === nameOf(strictKey(rows[at - 1]!, columnBytes));
    if (at > 0 && (strictlyBetter === null || !tied)) current = index + at;
    return { rank: current + 1, ...decodeSortKey(list.ordering, row) };
  });
}

/** The beginning that all entries with this score and these columns share: what stands before it is strictly better. */
export function strictKey(key: SortKey, columnBytes: number): SortKey {
  return { score: key.score, member: key.member.subarray(0, columnBytes) };
}

/** How many bytes of a member the style looks at beside the score; null when it looks at the whole key. */
export const columnBytesFor = (list: RankList, style: RankStyle): number | null =>
  style === 'competition' ? memberColumnBytes(list.ordering) : null;

/** Tells sort keys apart in maps. */
export const nameOf = (key: SortKey): string => `${key.score} ${key.member.toString('latin1')}`;
