import { percentileOf, type RankStyle } from '@laddercast/domain';
import type { ResolvedList } from './list-resolver.js';

/**
 * The percentile of a player with that rank in a style. Dense ranks are fewer than entries: there it is that of the
 * competition rank, so that players who share a rank share the percentile, and the best have 100.
 * @throws PROJECTION_UNAVAILABLE
 */
export async function percentileIn(
  { ranks, list }: ResolvedList,
  style: RankStyle,
  { playerId, rank }: { playerId: string; rank: number },
  total: number,
): Promise<number> {
  if (style !== 'dense') return percentileOf(rank, total);
  const { entries, total: entriesNow } = await ranks.lookup(list, [playerId], 'competition');
  return percentileOf(entries[0]?.rank ?? entriesNow, entriesNow);
}
