// For @laddercast/testing of the same version alone: it must have the very classes of this package. Nothing here is promised.
export * from './index.js';
export { checkedSuspicion } from '@laddercast/commands';
export {
  FOLLOWED_MAX,
  foldGames,
  foldPeriod,
  FRIENDS_MAX,
  isFiniteState,
  isSameState,
  newcomer,
  OWN_RULES,
  predictGame,
  RULE_NAME_PATTERN,
} from '@laddercast/domain';
export { EventLog, TOPICS } from '@laddercast/event-log';
export { createApp } from '@laddercast/leaderboard';
export { ADVISORY_LOCKS, PostgresDatabase } from '@laddercast/ledger';
export { loadEnvironment } from '@laddercast/platform';
export { CommittedPositions } from '@laddercast/projections';
export { SnapshotCache } from '@laddercast/queries';
export { assertGroupName, sagas, sourcesOf, TeamSagas } from '@laddercast/sagas';
export { serviceOf } from './start-service.js';
