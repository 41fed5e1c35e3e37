import { defineBoard, LeaderboardModule } from '@laddercast/leaderboard';
import { Module } from '@nestjs/common';
import { CaptainNames } from './captain-names.js';
import { EntrantsSaga } from './entrants.saga.js';
import { PassesController } from './passes.controller.js';
import { PassModule } from './pass.module.js';
import { SEASON_BOARD, SeasonPassCheck } from './season-pass.check.js';

/** A board for holders of a season pass: everything that this team adds to the service. */
@Module({
  imports: [
    LeaderboardModule.forFeature({
      boards: [
        defineBoard({
          id: SEASON_BOARD,
          title: 'Season 7',
          order: 'desc',
          operator: 'best',
          windows: ['alltime', 'weekly'],
          limits: { scoreMin: 0 },
        }),
      ],
      extensions: [SeasonPassCheck, CaptainNames, EntrantsSaga],
      imports: [PassModule],
    }),
    PassModule,
  ],
  controllers: [PassesController],
})
export class SeasonPassModule {}
