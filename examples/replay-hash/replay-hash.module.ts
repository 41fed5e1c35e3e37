import { defineBoard, LeaderboardModule } from '@laddercast/leaderboard';
import { Module } from '@nestjs/common';
import { ReplayHashRule } from './replay-hash.rule.js';

export const REPLAY_BOARD = 'time-trial';

/** A board whose runs are looked at by a rule of the team. */
@Module({
  imports: [
    LeaderboardModule.forFeature({
      boards: [
        defineBoard({
          id: REPLAY_BOARD,
          order: 'asc',
          operator: 'best',
          runs: { keepDays: 90 },
          integrity: { jump: {}, rules: ['replay-hash'] },
        }),
      ],
      extensions: [ReplayHashRule],
    }),
  ],
})
export class ReplayHashModule {}
