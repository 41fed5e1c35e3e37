import 'reflect-metadata';

// All that a team imports: what stands here is documented in docs/extending.md, and stays from release to release.
export {
  BodyPipe,
  CurrentIdentity,
  defineBoard,
  EARLIER_RUNS_MAX,
  EntryEnricher,
  EXAMINATION_LIMIT_MS,
  FriendGraph,
  IntegrityRule,
  isRetriable,
  KafkaTokens,
  LadderError,
  LeaderboardModule,
  LogSaga,
  Public,
  QueryPipe,
  RequiresScope,
  startApp,
  SubmissionCheck,
  TakesNothing,
  TeamDatabase,
  validationFailed,
  type AppDescription,
  type Board,
  type BoardDefinition,
  type CheckedSubmission,
  type CheckVerdict,
  type DefinedBoard,
  type EntryNews,
  type ExaminedRun,
  type Fault,
  type GameToRate,
  type Identity,
  type IdentifiedRequest,
  type KafkaToken,
  type LeaderboardFeature,
  type LeaderboardOptions,
  type MemberRating,
  type MigrationRunner,
  type ParameterRules,
  type PlayerDecoration,
  type PlayerOrGuild,
  type RatedSide,
  type RatingAlgorithm,
  type RatingState,
  type Role,
  type SagaBatch,
  type SagaEvent,
  type SagaNews,
  type SagaTopic,
  type Severity,
  type SqlRunner,
  type Suspicion,
  type TeamDatabaseOptions,
  type TeamMigration,
} from '@laddercast/leaderboard';
export { ApiModule } from '../../../apps/api/src/api.module.js';
export { answerFrameworkError } from '../../../apps/api/src/http/framework-errors.js';
export { prepareHttp } from '../../../apps/api/src/http/prepare-http.js';
export { startService, type ServiceOptions } from './start-service.js';
export type { RankAccuracy, RankedEntry, RankStyle, RatingPool, SanctionKind, WindowKind } from '@laddercast/domain';
export type { KeyScope } from '@laddercast/ledger';
export type { Environment } from '@laddercast/platform';
export * from './queries.js';
