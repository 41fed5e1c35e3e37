import { LadderError } from '@laddercast/domain';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { problemOfItem } from '../problem-of-item.js';
import { SubmitScoresCommand, type SubmissionResult } from '../commands.js';
import { inParts } from '@laddercast/platform';
import { ScoreSubmitter, type PreparedSubmission } from './score-submitter.js';
import { RANKS_AT_ONCE, SubmissionRanks, waitUntilMs } from './submission-ranks.js';
import { resultOf } from './submit-score.handler.js';

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
    const isPrepared = (one: PreparedSubmission | LadderError): one is PreparedSubmission =>
      !(one instanceof LadderError);
    const committed = (await this.submitter.commitAll(prepared.filter(isPrepared))).values();
    const accepted = prepared.map((one) => {
      if (one instanceof LadderError) return one;
      const settled = committed.next().value!;
      return settled.status === 'fulfilled' ? settled.value : asProblem(settled.reason);
    });
    if (waitSeconds === null) {
      return accepted.map((one) => (one instanceof LadderError ? one : resultOf(one, null)));
    }
    const untilMs = waitUntilMs(waitSeconds);
    return inParts(accepted, RANKS_AT_ONCE, async (one) =>
      one instanceof LadderError ? one : resultOf(one, await this.ranks.movementOf(one, untilMs, identity)),
    );
  }
}

const asProblem = (error: unknown): LadderError => problemOfItem(error, 'with the same submissionId');
