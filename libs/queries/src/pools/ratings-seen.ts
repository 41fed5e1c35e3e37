import type { PlayerRating } from '@laddercast/domain';
import { ratingsOfPlayers, type SqlRunner } from '@laddercast/ledger';
import type { PlayerReader } from '../shared/shown-player.js';

/** The ratings of those of the players who have one and whom the caller sees, as of `nowMs`. */
export async function ratingsSeen(
  sql: SqlRunner,
  poolUid: number,
  playerIds: readonly string[],
  { unlistedShown, moderates }: PlayerReader,
): Promise<{ ratings: ReadonlyMap<string, PlayerRating>; nowMs: number }> {
  const { ratings, nowMs } = await ratingsOfPlayers(sql, poolUid, playerIds);
  const seen = ratings.filter(({ playerId, isListed, isWithheld }) => {
    if (moderates || (unlistedShown !== 'all' && unlistedShown.includes(playerId))) return true;
    return !isWithheld && (isListed || unlistedShown === 'all');
  });
  return { ratings: new Map(seen.map(({ playerId, rating }) => [playerId, rating])), nowMs };
}
