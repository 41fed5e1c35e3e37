import { momentOf, readRating, type PlayerRating, type RatingPool } from '@laddercast/domain';
import { toTimestamp } from '@laddercast/platform';
import type { ShownRating } from './pool-queries.js';

/** No time that can be written lies beyond: 9999-12-31. */
const LAST_MS = 253_402_300_799_999;

/** A player's rating as clients see it at a moment. */
export function shownRating(
  pool: RatingPool,
  about: Pick<ShownRating, 'pool' | 'playerId' | 'pending'>,
  player: PlayerRating,
  nowMs: number,
): ShownRating {
  const reading = readRating(pool, player, momentOf(pool, nowMs));
  const { rating, deviation, storedDeviation, volatility, conservative, interval95 } = reading;
  const { games, wins, draws, losses, peak, lastPlayedAtMs, position } = player;
  const { isProvisional, isRankable, missing, untilMs } = reading;
  return {
    pool: about.pool,
    playerId: about.playerId,
    rating,
    deviation,
    storedDeviation,
    volatility,
    conservative,
    interval95,
    games,
    wins,
    draws,
    losses,
    provisional: isProvisional,
    peak: peak && { rating: peak.rating, at: toTimestamp(peak.atMs), gameId: peak.gameId },
    lastPlayedAt: lastPlayedAtMs === null ? null : toTimestamp(lastPlayedAtMs),
    rankable: isRankable,
    missing,
    rankableUntil: untilMs === null || untilMs > LAST_MS ? null : toTimestamp(untilMs),
    position,
    pending: about.pending,
    asOf: toTimestamp(nowMs),
  };
}
