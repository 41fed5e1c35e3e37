// What a team tests its modules with; docs/extending.md says how.
export {
  friendGraphConformance,
  integrityRuleConformance,
  logSagaConformance,
  ratingAlgorithmConformance,
  type ExaminedCase,
  type FriendGraphConformanceOptions,
  type IntegrityRuleConformanceOptions,
  type LogSagaConformanceOptions,
} from '@laddercast/testing';
export { startTestService, type TestAnswer, type TestService, type TestServiceOptions } from './start-test-service.js';
