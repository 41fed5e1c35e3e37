import { LadderError } from '@laddercast/domain';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { problemOfItem } from '../problem-of-item.js';
import { SubmitScoresCommand, type SubmissionResult } from '../commands.js';
import type { Identity } from '@laddercast/identity';
import { ScoreSubmitter, type AcceptedSubmission } from './score-submitter.js';
import { SubmissionRanks, waitUntilMs } from './submission-ranks.js';
import { resultOf } from './submit-score.handler.js';

const RANKS_AT_ONCE = 64;

@CommandHandler(SubmitScoresCommand)
export class SubmitScoresHandler implements ICommandHandler<SubmitScoresCommand> {
  constructor(
    private readonly submitter: ScoreSubmitter,
    private readonly ranks: SubmissionRanks,
  ) {}

  async execute({
    identity,
    submissions,
    waitSeconds,
  }: SubmitScoresCommand): Promise<(SubmissionResult | LadderError)[]> {
    // Checks may finish in any order; what they accept enters the ledger in the order of the array.
    const prepared = await Promise.all(
      submissions.map((one) =>
        one instanceof LadderError ? one : this.submitter.prepare(identity, one).catch(asProblem),
      ),
    );
    const accepted = await Promise.all(
      prepared.map((one) => (one instanceof LadderError ? one : this.submitter.commit(one).catch(asProblem))),
    );
    if (waitSeconds === null) {
      return accepted.map((one) => (one instanceof LadderError ? one : resultOf(one, null)));
    }
    return this.withRanks(accepted, waitUntilMs(waitSeconds), identity);
  }

  /** A few at a time, within one wait, so that a large batch does not crowd out the reads. */
  private async withRanks(
    accepted: (AcceptedSubmission | LadderError)[],
    untilMs: number | null,
    identity: Identity,
  ): Promise<(SubmissionResult | LadderError)[]> {
    const results: (SubmissionResult | LadderError)[] = [];
    for (let from = 0; from < accepted.length; from += RANKS_AT_ONCE) {
      const some = accepted.slice(from, from + RANKS_AT_ONCE);
      results.push(
        ...(await Promise.all(
          some.map(async (one) =>
            one instanceof LadderError ? one : resultOf(one, await this.ranks.movementOf(one, untilMs, identity)),
          ),
        )),
      );
    }
    return results;
  }
}

const asProblem = (error: unknown): LadderError => problemOfItem(error, 'with the same submissionId');
