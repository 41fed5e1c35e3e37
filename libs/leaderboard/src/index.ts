export type { Identity } from '@laddercast/identity';
export {
  LadderError,
  validationFailed,
  type Board,
  type BoardChanged,
  type BoardDefinition,
  type EntryChanged,
  type FlagRaised,
  type Fault,
  type GameToRate,
  type LadderEvent,
  type MemberRating,
  type ParameterRules,
  type PlayerChanged,
  type RatedSide,
  type RatingAlgorithm,
  type RatingState,
  type RunRecorded,
  type WindowClosed,
} from '@laddercast/domain';
export { isRetriable, type LogBatch, type LogGroup, type LogRecord, type Topic } from '@laddercast/event-log';
export * from '@laddercast/extension';
export { ConsumesLog, SagaFailureFilter } from '@laddercast/sagas';
export * from './define-board.js';
export * from './leaderboard.module.js';
export type { Role } from './roles.js';
export { namesOf, type RequestNames } from './process/request-scope.js';
export { CurrentIdentity, identityOf, Public, RequiresScope, type IdentifiedRequest } from './http/access.js';
export { BodyPipe, QueryPipe } from './http/query-pipe.js';
export { identifiesCallers, noteControllers } from './http/route-rules.js';
export { TakesNothing, takesNothing } from './http/takes-nothing.js';
export { ProcessMetrics } from './metrics/process-metrics.js';
export * from './process/start-app.js';
