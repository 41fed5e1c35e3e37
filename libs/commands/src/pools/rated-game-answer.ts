import type { RecordedGame } from '@laddercast/ledger';
import type { RatedGameAnswer } from './pool-commands.js';

/** What a game did, as it is answered; null while it is not rated. */
export function ratedGameAnswer({
  position,
  unrated,
  isRated,
  changes,
}: Pick<RecordedGame, 'position' | 'unrated' | 'isRated' | 'changes'>): RatedGameAnswer | null {
  if (unrated !== null) return { reason: unrated };
  if (!isRated) return null;
  return {
    position,
    players: changes.map(({ playerId, before, after, expected, k }) => ({
      ...{ playerId, before, after, delta: after - before },
      ...{ expected, k },
    })),
  };
}
