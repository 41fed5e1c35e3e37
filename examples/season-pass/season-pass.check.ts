import { SubmissionCheck, type Board, type CheckedSubmission, type CheckVerdict } from '@laddercast/leaderboard';
import { Injectable } from '@nestjs/common';
import { PassRegistry } from './pass-registry.js';

export const SEASON_BOARD = 'season-7';

/** Only holders of a season pass may enter the season's board. */
@Injectable()
export class SeasonPassCheck extends SubmissionCheck {
  readonly boards = [SEASON_BOARD];

  constructor(private readonly passes: PassRegistry) {
    super();
  }

  async check(board: Board, { playerId }: CheckedSubmission): Promise<CheckVerdict> {
    if (await this.passes.holderOf(playerId)) return { verdict: 'accept' };
    return { verdict: 'reject', reason: `"${playerId}" holds no pass for "${board.id}"; passes are sold in the shop.` };
  }
}
