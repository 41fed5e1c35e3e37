import { Module } from '@nestjs/common';
import { APP_FILTER, APP_GUARD } from '@nestjs/core';
import { AdminController } from './admin.controller.js';
import { AuditController } from './audit.controller.js';
import { BoardsController } from './boards.controller.js';
import { CircleBoardsController } from './circle-boards.controller.js';
import { CirclesController } from './circles.controller.js';
import { GuildBoardsController } from './guild-boards.controller.js';
import { GuildsController } from './guilds.controller.js';
import { HistoryController } from './history.controller.js';
import { FailureLog } from './http/failure-log.js';
import { Callers, CostGuard } from './http/identity.guard.js';
import { ProblemFilter } from './http/problem.filter.js';
import { RequestMeter } from './http/request-meter.js';
import { RouteTable } from './http/route-table.js';
import { LayoutsController } from './layouts.controller.js';
import { PlayersController } from './players.controller.js';
import { RanksController } from './ranks.controller.js';
import { RecoveryController } from './recovery.controller.js';
import { ScoresController } from './scores.controller.js';
import { SettlementsController } from './settlements.controller.js';
import { StandingsController } from './standings.controller.js';
import { WindowsController } from './windows.controller.js';

/** REST: needs a LeaderboardModule with the role `api` beside it. */
@Module({
  controllers: [
    ScoresController,
    BoardsController,
    RanksController,
    HistoryController,
    AdminController,
    AuditController,
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
  ],
  providers: [
    RouteTable,
    FailureLog,
    RequestMeter,
    Callers,
    { provide: APP_GUARD, useClass: CostGuard },
    { provide: APP_FILTER, useClass: ProblemFilter },
  ],
  exports: [RouteTable, RequestMeter, Callers],
})
export class ApiModule {}
