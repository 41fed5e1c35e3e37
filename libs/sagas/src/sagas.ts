import type { Type } from '@nestjs/common';
import { BoardSaga } from './board.saga.js';
import { GuildSaga } from './guild.saga.js';
import { HistorySaga } from './history.saga.js';
import { IntegritySaga } from './integrity.saga.js';
import { PlayerSaga } from './player.saga.js';
import { RatingSaga } from './rating.saga.js';
import { RatingFeedSaga } from './rating-feed.saga.js';
import { ScoreSaga } from './score.saga.js';
import { WindowSaga } from './window.saga.js';

/** The sagas of the service itself; a team adds its own by its module. */
export const sagas: readonly Type<object>[] = [
  ScoreSaga,
  BoardSaga,
  PlayerSaga,
  WindowSaga,
  GuildSaga,
  HistorySaga,
  RatingSaga,
  RatingFeedSaga,
  IntegritySaga,
];
