import { FriendsModule } from '@laddercast/commands';
import { LedgerApiModule, LedgerModule } from '@laddercast/ledger';
import { ProjectionsModule } from '@laddercast/projections';
import { Module, type Provider } from '@nestjs/common';
import { CircleMembers } from './people/circle-members.js';
import { GetCircleMembersHandler } from './people/get-circle-members.handler.js';
import { GetCircleHandler } from './people/get-circle.handler.js';
import { GetFollowsHandler } from './people/get-follows.handler.js';
import { GetFriendsHandler } from './people/get-friends.handler.js';
import { GetGuildMembersHandler } from './people/get-guild-members.handler.js';
import { GetGuildHandler } from './people/get-guild.handler.js';
import { GetPlayerProfileHandler } from './people/get-player-profile.handler.js';
import { ExportRows } from './export/export-rows.js';
import { ExportWindowHandler } from './export/export-window.handler.js';
import { GetEditionsHandler } from './history/get-editions.handler.js';
import { GetHistoryHandler } from './history/get-history.handler.js';
import { ListRunsHandler } from './history/list-runs.handler.js';
import { GetStandingsHandler } from './history/get-standings.handler.js';
import { GetWindowsHandler } from './history/get-windows.handler.js';
import { ListResolver } from './lists/list-resolver.js';
import { OwnWorlds } from './lists/own-worlds.js';
import { RankEstimates } from './lists/rank-estimates.js';
import { RetaxProgress } from './lists/retax-progress.js';
import { RunEntryKeys } from './lists/run-entry-keys.js';
import { EntriesPlaces } from './pages/entries-places.js';
import { GetEntriesAroundHandler } from './pages/get-entries-around.handler.js';
import { GetEntriesHandler } from './pages/get-entries.handler.js';
import { OpenEntriesHandler } from './pages/open-entries.handler.js';
import { ProposeBoundariesHandler } from './pages/propose-boundaries.handler.js';
import { ReadCursorHandler } from './pages/read-cursor.handler.js';
import { StablePages } from './pages/stable-pages.js';
import { StableWorlds } from './pages/stable-worlds.js';
import { GetDistributionHandler } from './pools/get-distribution.handler.js';
import { GetGameHandler } from './pools/get-game.handler.js';
import { GetPatchHandler } from './patches/get-patch.handler.js';
import { ListPatchesHandler } from './patches/list-patches.handler.js';
import { GetPoolHandler } from './pools/get-pool.handler.js';
import { GetRatingHistoryHandler } from './pools/get-rating-history.handler.js';
import { GetRatingHandler } from './pools/get-rating.handler.js';
import { ListGamesHandler } from './pools/list-games.handler.js';
import { ListPoolsHandler } from './pools/list-pools.handler.js';
import { KeptDistributions } from './pools/kept-distributions.js';
import { LookupRatingsHandler } from './pools/lookup-ratings.handler.js';
import { PoolReader } from './pools/pool-reader.js';
import { PredictGameHandler } from './pools/predict-game.handler.js';
import { PredictionTurns } from './pools/prediction-turns.js';
import { SplitPlayersHandler } from './pools/split-players.handler.js';
import { GetPercentilesHandler } from './ranks/get-percentiles.handler.js';
import { GetPlayerHandler } from './ranks/get-player.handler.js';
import { GetRankOfScoreHandler } from './ranks/get-rank-of-score.handler.js';
import { LookupPlayersHandler } from './ranks/lookup-players.handler.js';
import { PlayerCounts } from './lists/player-counts.js';
import { EntryDetails } from './rows/entry-details.js';
import { GetBoardTemplateHandler } from './templates/get-board-template.handler.js';
import { ListBoardTemplatesHandler } from './templates/list-board-templates.handler.js';
import { ListReader } from './rows/list-reader.js';
import { SnapshotCache } from './snapshots/snapshot-cache.js';

const inEveryProcess: Provider[] = [
  ListResolver,
  RetaxProgress,
  RunEntryKeys,
  EntryDetails,
  RankEstimates,
  CircleMembers,
  OwnWorlds,
];

/** What finds lists, and completes their rows: in every process. */
@Module({
  imports: [FriendsModule, LedgerModule, ProjectionsModule],
  providers: inEveryProcess,
  exports: inEveryProcess,
})
export class QueriesModule {}

const ofApis: Provider[] = [
  SnapshotCache,
  PlayerCounts,
  ListReader,
  EntriesPlaces,
  StablePages,
  StableWorlds,
  ExportRows,
  GetEntriesHandler,
  GetEntriesAroundHandler,
  OpenEntriesHandler,
  ReadCursorHandler,
  ProposeBoundariesHandler,
  GetPlayerHandler,
  GetRankOfScoreHandler,
  GetPercentilesHandler,
  LookupPlayersHandler,
  GetHistoryHandler,
  ListRunsHandler,
  GetWindowsHandler,
  GetEditionsHandler,
  GetStandingsHandler,
  ExportWindowHandler,
  GetFriendsHandler,
  GetFollowsHandler,
  GetCircleHandler,
  GetCircleMembersHandler,
  GetPlayerProfileHandler,
  GetGuildHandler,
  GetGuildMembersHandler,
  GetPatchHandler,
  ListPatchesHandler,
  PoolReader,
  GetPoolHandler,
  ListPoolsHandler,
  GetGameHandler,
  ListGamesHandler,
  GetRatingHandler,
  GetRatingHistoryHandler,
  LookupRatingsHandler,
  PredictionTurns,
  PredictGameHandler,
  SplitPlayersHandler,
  KeptDistributions,
  GetDistributionHandler,
  GetBoardTemplateHandler,
  ListBoardTemplatesHandler,
];

/** What answers clients. */
@Module({
  imports: [QueriesModule, FriendsModule, LedgerModule, LedgerApiModule, ProjectionsModule],
  providers: ofApis,
  exports: ofApis,
})
export class QueriesApiModule {}
