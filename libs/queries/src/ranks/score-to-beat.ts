import { isWindowOpen } from '@laddercast/domain';
import { columnsByName } from '../rows/entry-details.js';
import type { ResolvedList } from '../lists/list-resolver.js';
import type { ListEnvelope } from '../queries.js';

/** The entry that a newcomer has to beat, to stand above somebody and to be kept. */
export interface ScoreToBeat {
  rank: number;
  score: number;
  columns: Record<string, number>;
}

/**
 * The last entry; of a list that holds as many as the board keeps, the last that it keeps. null where there is none, and
 * where nobody can enter any more.
 */
export async function scoreToBeat(
  { ranks, list, board, window, edition, atMs }: ResolvedList,
  { total, rankStyle }: ListEnvelope,
): Promise<ScoreToBeat | null> {
  const isOpen = edition?.kind !== 'kept' && isWindowOpen(window, board.definition.graceSeconds, atMs);
  if (!isOpen || total === 0) return null;
  const kept = Math.min(total, board.definition.limits.entriesMax ?? total);
  const [last] = (await ranks.page(list, kept - 1, 1, rankStyle)).entries;
  return last ? { rank: last.rank, score: last.score, columns: columnsByName(list.ordering, last.columns) } : null;
}
