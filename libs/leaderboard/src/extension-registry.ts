import { assertRulesKnown } from '@laddercast/commands';
import { OWN_RULES, RATING_ALGORITHMS, RULE_NAME_PATTERN, type RatingAlgorithm } from '@laddercast/domain';
import {
  EARLIER_RUNS_MAX,
  EntryEnricher,
  Extensions,
  FriendGraph,
  IntegrityRule,
  KafkaTokens,
  LogSaga,
  SubmissionCheck,
} from '@laddercast/extension';
import { Injectable } from '@nestjs/common';
import type { DefinedBoard } from './define-board.js';

/** The seams of this release, by the name a team knows them under. */
const SEAMS = { SubmissionCheck, EntryEnricher, FriendGraph, IntegrityRule, KafkaTokens, LogSaga };

const ALGORITHM_NAME = /^[a-z0-9._-]{1,64}$/;

/** What the teams' modules brought along: their boards, their algorithms, and their classes behind the seams. */
@Injectable()
export class ExtensionRegistry extends Extensions {
  readonly boards: DefinedBoard[] = [];
  readonly checks: SubmissionCheck[] = [];
  enricher: EntryEnricher | null = null;
  friendGraph: FriendGraph | null = null;
  readonly integrityRules: IntegrityRule[] = [];
  kafkaTokens: KafkaTokens | null = null;
  readonly logSagas: LogSaga[] = [];
  readonly ratingAlgorithms: RatingAlgorithm[] = [];
  private readonly schemas = new Set<string>();

  /** @throws when an extension fits no seam, or two claim the same place */
  add(
    { boards, ratingAlgorithms }: { boards: readonly DefinedBoard[]; ratingAlgorithms: readonly RatingAlgorithm[] },
    extensions: readonly object[],
  ): void {
    for (const board of boards) {
      if (this.boards.some(({ id }) => id === board.id)) throw new Error(`Two modules define the board "${board.id}".`);
      this.boards.push(board);
    }
    for (const algorithm of ratingAlgorithms) this.addAlgorithm(algorithm);
    for (const extension of extensions) this.place(extension);
  }

  /** @throws when two modules want to keep their tables in it */
  addSchema(schema: string): void {
    if (this.schemas.has(schema)) throw new Error(`Two modules keep their tables in the schema "${schema}".`);
    this.schemas.add(schema);
  }

  private addAlgorithm(algorithm: RatingAlgorithm): void {
    const { name } = algorithm;
    if (!ALGORITHM_NAME.test(name)) {
      throw new Error(`"${name}" is no name of a rating algorithm: 1-64 of a-z, 0-9, ".", "_", "-".`);
    }
    if ([...RATING_ALGORITHMS, ...this.ratingAlgorithms].some((known) => known.name === name)) {
      throw new Error(`There are two rating algorithms "${name}".`);
    }
    if (!algorithm.rate && !algorithm.ratePeriod) {
      throw new Error(`The rating algorithm "${name}" has neither rate() nor ratePeriod().`);
    }
    this.ratingAlgorithms.push(algorithm);
  }

  private place(extension: object): void {
    const { name } = extension.constructor;
    if (extension instanceof SubmissionCheck) {
      if (this.checks.some((check) => check.constructor.name === name))
        throw new Error(`Two submission checks are called ${name}.`);
      this.checks.push(extension);
    } else if (extension instanceof EntryEnricher) {
      assertFree('EntryEnricher', this.enricher, name);
      this.enricher = extension;
    } else if (extension instanceof FriendGraph) {
      assertFree('FriendGraph', this.friendGraph, name);
      this.friendGraph = extension;
    } else if (extension instanceof IntegrityRule) {
      this.addRule(extension);
    } else if (extension instanceof KafkaTokens) {
      assertFree('KafkaTokens', this.kafkaTokens, name);
      this.kafkaTokens = extension;
    } else if (extension instanceof LogSaga) {
      this.logSagas.push(extension);
    } else {
      throw new Error(`${name} extends none of the seams: ${Object.keys(SEAMS).join(', ')}.`);
    }
  }

  private addRule(rule: IntegrityRule): void {
    const { name, earlierRuns } = rule;
    if (!new RegExp(RULE_NAME_PATTERN).test(name)) {
      throw new Error(`"${name}" is no name of an integrity rule: 1-32 of a-z, 0-9, "-", beginning with no "-".`);
    }
    if ((OWN_RULES as readonly string[]).includes(name) || this.integrityRules.some((known) => known.name === name)) {
      throw new Error(`There are two integrity rules "${name}".`);
    }
    if (!Number.isInteger(earlierRuns) || earlierRuns < 0 || earlierRuns > EARLIER_RUNS_MAX) {
      throw new Error(
        `The integrity rule "${name}" wants ${earlierRuns} earlier runs: 0-${EARLIER_RUNS_MAX} are shown.`,
      );
    }
    this.integrityRules.push(rule);
  }

  /** @throws RULE_UNKNOWN when a board of a module names a rule that no module brings */
  assertRulesExist(): void {
    for (const { definition } of this.boards) assertRulesKnown(this, definition);
  }

  /** @throws when a check names a board that no module defines and that does not exist */
  assertBoardsExist(known: (boardId: string) => boolean): void {
    for (const check of this.checks) {
      const unknown = check.boards?.find((boardId) => !known(boardId));
      if (unknown) {
        const defined = this.boards.map(({ id }) => id).join(', ') || 'none';
        throw new Error(
          `${check.constructor.name} is for the board "${unknown}", which does not exist; modules define: ${defined}.`,
        );
      }
    }
  }
}

function assertFree(seam: string, holder: object | null, name: string): void {
  if (holder) throw new Error(`${name} and ${holder.constructor.name} both want to be the ${seam}; there is one.`);
}
