import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { SubmitScoreCommand, type SubmissionResult } from '../commands.js';
import { ScoreSubmitter, type AcceptedSubmission } from './score-submitter.js';
import { SubmissionRanks, waitUntilMs } from './submission-ranks.js';

@CommandHandler(SubmitScoreCommand)
export class SubmitScoreHandler implements ICommandHandler<SubmitScoreCommand> {
  constructor(
    private readonly submitter: ScoreSubmitter,
    private readonly ranks: SubmissionRanks,
  ) {}

  async execute({ identity, submission, waitSeconds }: SubmitScoreCommand): Promise<SubmissionResult> {
    const accepted = await this.submitter.commit(await this.submitter.prepare(identity, submission));
    return resultOf(accepted, await this.ranks.movementOf(accepted, waitUntilMs(waitSeconds), identity));
  }
}

export function resultOf(
  { board, write, receipt }: AcceptedSubmission,
  rank: SubmissionResult['rank'],
): SubmissionResult {
  const { outcome, score, previousScore, version, windows, entryId, displaced, taxed } = receipt.answer;
  return {
    submissionId: write.submissionId,
    board: board.id,
    playerId: write.playerId,
    outcome,
    replayed: receipt.replayed,
    score,
    previousScore,
    version,
    windows,
    ...(entryId !== undefined && { entryId }),
    ...(displaced !== undefined && { displaced }),
    ...taxed,
    rank,
  };
}
