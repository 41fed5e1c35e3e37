import { LadderError } from '@laddercast/domain';
import type { SubmitWrite } from '@laddercast/ledger';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { SubmitScoresCommand, type SubmissionResult } from './commands.js';
import { ScoreSubmitter } from './score-submitter.js';
import { SubmissionRanks } from './submission-ranks.js';
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
    // Checks may take their time in any order; what they let through enters the ledger in the order of the array.
    const prepared = await Promise.all(
      submissions.map((one) =>
        one instanceof LadderError ? one : this.submitter.prepare(identity, one).catch(asProblem),
      ),
    );
    return Promise.all(
      prepared.map((one) => (one instanceof LadderError ? one : this.count(one, waitSeconds).catch(asProblem))),
    );
  }

  private async count(write: SubmitWrite, waitSeconds: number): Promise<SubmissionResult> {
    const accepted = await this.submitter.commit(write);
    return resultOf(accepted, await this.ranks.movementOf(accepted, waitSeconds));
  }
}

/** One bad item never fails its batch. */
function asProblem(error: unknown): LadderError {
  if (error instanceof LadderError) return error;
  return new LadderError(
    'INTERNAL',
    'This submission failed on our side; send it again, with the same submissionId.',
    {},
    { cause: error },
  );
}
