import { ratedGameAnswer } from '@laddercast/commands';
import type { RecordedGame } from '@laddercast/ledger';
import { toTimestamp } from '@laddercast/platform';
import type { ShownGame } from './pool-queries.js';

/** A game as clients see it. */
export function shownGame(pool: string, game: RecordedGame): ShownGame {
  const { gameId, position, playedAtMs, recordedAtMs, weight, players, metadata, voided } = game;
  return {
    gameId,
    pool,
    position,
    playedAt: toTimestamp(playedAtMs),
    recordedAt: toTimestamp(recordedAtMs),
    weight,
    players: players.map(({ playerId, place, team, isHome, status, score }) => ({
      playerId,
      place,
      team,
      home: isHome,
      status,
      score,
    })),
    metadata: metadata === null ? null : (JSON.parse(metadata) as object),
    voided,
    rated: ratedGameAnswer(game),
  };
}
