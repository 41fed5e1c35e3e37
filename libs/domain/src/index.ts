export * from './boards/board.js';
export * from './ranks/circle.js';
export * from './boards/decay.js';
export * from './boards/given-options.js';
export * from './boards/patch-order.js';
export * from './ranks/patch-runs.js';
export { faultOfCron } from './time/cron.js';
export * from './ranks/entry.js';
export * from './boards/entry-key.js';
export * from './errors.js';
export * from './events.js';
export * from './ids.js';
export * from './integrity/cluster.js';
export * from './integrity/integrity-options.js';
export * from './integrity/jump.js';
export * from './integrity/rate.js';
export * from './boards/layout.js';
export * from './boards/list-version.js';
export * from './boards/hash-placement.js';
export * from './ranks/rank-delta.js';
export * from './ranks/rank-sketch.js';
export * from './ranks/rank-sketch-code.js';
export * from './ranks/ranking.js';
export * from './ranks/run-entries.js';
export * from './ranks/run-fold.js';
export * from './player-face.js';
export * from './sanction.js';
export * from './ratings/rating-algorithm.js';
export * from './ratings/rating-algorithms.js';
export { checkedParameters, type ParameterRule, type ParameterRules } from './ratings/parameters.js';
export * from './ratings/pool.js';
export * from './ratings/board-feed.js';
export * from './ratings/game.js';
export * from './ratings/in-turns.js';
export * from './ratings/player-rating.js';
export {
  foldGames,
  rateGame,
  type FoldedGames,
  type RatedGame,
  type RatingChange,
  type UnratedReason,
} from './ratings/fold.js';
export * from './ratings/period.js';
export * from './ratings/period-calendar.js';
export * from './ratings/prediction.js';
export * from './ratings/rating-reading.js';
export {
  recompute,
  type Corrections,
  type RatedHistory,
  type Recomputation,
  type RecomputedGame,
} from './ratings/recompute.js';
export * from './ratings/recompute-periods.js';
export { withPoints, type DifferingStates, type RecomputedRefund, type Refund } from './ratings/refund.js';
export * from './boards/sort-key.js';
export { faultOfTimeZone } from './time/time-zone.js';
export * from './time/window.js';
export * from './boards/scope.js';
