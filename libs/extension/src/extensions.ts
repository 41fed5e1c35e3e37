import type { RatingAlgorithm } from '@laddercast/domain';
import type { EntryEnricher } from './entry-enricher.js';
import type { FriendGraph } from './friend-graph.js';
import type { IntegrityRule } from './integrity-rule.js';
import type { KafkaTokens } from './kafka-tokens.js';
import type { LogSaga } from './log-saga.js';
import type { SubmissionCheck } from './submission-check.js';

/** What stands behind the seams. It is looked at when it is needed: modules may bring theirs after it is first asked for. */
export abstract class Extensions {
  abstract readonly checks: readonly SubmissionCheck[];
  abstract readonly enricher: EntryEnricher | null;
  /** null: the service's own. */
  abstract readonly friendGraph: FriendGraph | null;
  /** Their names are unique. */
  abstract readonly integrityRules: readonly IntegrityRule[];
  abstract readonly kafkaTokens: KafkaTokens | null;
  abstract readonly logSagas: readonly LogSaga[];
  /** Beside the service's own; their names are unique. */
  abstract readonly ratingAlgorithms: readonly RatingAlgorithm[];
}

/** Nobody brought any. */
export const NO_EXTENSIONS: Extensions = {
  checks: [],
  enricher: null,
  friendGraph: null,
  integrityRules: [],
  kafkaTokens: null,
  logSagas: [],
  ratingAlgorithms: [],
};
