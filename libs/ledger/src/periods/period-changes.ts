import type { PeriodChange } from '@laddercast/domain';
import type { ChangeOfGame } from '../pools/rating-rows.js';

/** As it is stored, a row for each game: the rating moves with the last of them. Positions follow each other. */
export function changesOf(
  { playerId, engine, before, after, games }: PeriodChange,
  firstPosition: number,
): ChangeOfGame[] {
  return games.map(({ game, outcome, expected, k }, at) => ({
    ...{ playerId, engine, before, outcome, expected, k },
    after: at === games.length - 1 ? after : before,
    position: firstPosition + at,
    gamePosition: game.position,
  }));
}
