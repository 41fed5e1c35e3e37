import { Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { AdminController } from './controllers/admin.controller.js';
import { AuditController } from './controllers/audit.controller.js';
import { BoardTemplatesController } from './controllers/board-templates.controller.js';
import { BoardsController } from './controllers/boards.controller.js';
import { CircleBoardsController } from './controllers/circle-boards.controller.js';
import { CirclesController } from './controllers/circles.controller.js';
import { CorrectionsController } from './controllers/corrections.controller.js';
import { FlagsController } from './controllers/flags.controller.js';
import { GamesController } from './controllers/games.controller.js';
import { GuildBoardsController } from './controllers/guild-boards.controller.js';
import { GuildsController } from './controllers/guilds.controller.js';
import { HistoryController } from './controllers/history.controller.js';
import { Callers, CostGuard } from './http/identity.guard.js';
import { RequestMeter } from './http/request-meter.js';
import { LanesController } from './controllers/lanes.controller.js';
import { LayoutsController } from './controllers/layouts.controller.js';
import { PlayersController } from './controllers/players.controller.js';
import { PatchesController } from './controllers/patches.controller.js';
import { PoolsController } from './controllers/pools.controller.js';
import { RanksController } from './controllers/ranks.controller.js';
import { RatingsController } from './controllers/ratings.controller.js';
import { RecoveryController } from './controllers/recovery.controller.js';
import { RunsController } from './controllers/runs.controller.js';
import { SanctionsController } from './controllers/sanctions.controller.js';
import { ScoresController } from './controllers/scores.controller.js';
import { SettlementsController } from './controllers/settlements.controller.js';
import { StandingsController } from './controllers/standings.controller.js';
import { WindowsController } from './controllers/windows.controller.js';

/** REST: needs a LeaderboardModule with the role `api` beside it. */
@Module({
  controllers: [
    ScoresController,
    RunsController,
    BoardsController,
    BoardTemplatesController,
    RanksController,
    HistoryController,
    AdminController,
    AuditController,
    SanctionsController,
    FlagsController,
    LanesController,
    LayoutsController,
    RecoveryController,
    SettlementsController,
    CirclesController,
    CircleBoardsController,
    PlayersController,
    GuildsController,
    GuildBoardsController,
    WindowsController,
    StandingsController,
    PatchesController,
    PoolsController,
    CorrectionsController,
    RatingsController,
    GamesController,
  ],
  providers: [RequestMeter, Callers, { provide: APP_GUARD, useClass: CostGuard }],
  exports: [RequestMeter, Callers],
})
export class ApiModule {}
