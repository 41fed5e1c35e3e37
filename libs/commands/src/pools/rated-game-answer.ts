import type { RecordedGame } from '@laddercast/ledger';
import type { RatedGameAnswer } from './pool-commands.js';

/** What a game did, as it is answered; null while it is not rated. */
export function ratedGameAnswer({
  position,
  unrated,
  isRated,
  isGone,
  changes,
}: Pick<RecordedGame, 'position' | 'unrated' | 'isRated' | 'isGone' | 'changes'>): RatedGameAnswer | null {
  if (unrated !== null) return { reason: unrated };
  if (!isRated) return null;
  // Some of the rows may still be there.
  if (isGone) return { position, players: [], gone: true };
  return {
    position,
    players: changes.map(({ playerId, before, after, expected, k }) => ({
      playerId,
      before,
      after,
      delta: after - before,
      expected,
      k,
    })),
  };
}
