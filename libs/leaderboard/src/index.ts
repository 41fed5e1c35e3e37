export type { Identity } from '@laddercast/identity';
export {
  LadderError,
  validationFailed,
  type Board,
  type BoardDefinition,
  type Fault,
  type GameToRate,
  type MemberRating,
  type ParameterRules,
  type PeriodGame,
  type PeriodRating,
  type RatedSide,
  type RatingAlgorithm,
  type RatingState,
} from '@laddercast/domain';
export { isRetriable } from '@laddercast/event-log';
export {
  TeamDatabase,
  type MigrationRunner,
  type SqlRunner,
  type TeamDatabaseOptions,
  type TeamMigration,
} from '@laddercast/ledger';
export * from '@laddercast/extension';
export * from './define-board.js';
export * from './leaderboard.module.js';
export type { Role } from './roles.js';
export { namesOf, type RequestNames } from './http/request-scope.js';
export { CurrentIdentity, identityOf, Public, RequiresScope, type IdentifiedRequest } from './http/access.js';
export { BodyPipe, QueryPipe } from './http/query-pipe.js';
export { identifiesCallers, noteControllers } from './http/route-rules.js';
export { FailureLog } from './http/failure-log.js';
export { sendProblem } from './http/problem.filter.js';
export { TakesNothing, takesNothing } from './http/takes-nothing.js';
export { ProcessMetrics } from './metrics/process-metrics.js';
export * from './process/start-app.js';
