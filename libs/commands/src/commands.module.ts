import { EventLogModule } from '@laddercast/event-log';
import { IdentityModule } from '@laddercast/identity';
import { LedgerApiModule, LedgerModule, LedgerProjectorModule } from '@laddercast/ledger';
import { ProjectionsModule } from '@laddercast/projections';
import { Module, type Provider } from '@nestjs/common';
import { CloseWindowHandler } from './boards/close-window.handler.js';
import { DeleteBoardHandler } from './boards/delete-board.handler.js';
import { PutBoardHandler } from './boards/put-board.handler.js';
import { ResetBoardHandler } from './boards/reset-board.handler.js';
import { RecordHistoryHandler } from './history/record-history.handler.js';
import { DecideFlagHandler } from './integrity/decide-flag.handler.js';
import { ExamineRunsHandler } from './integrity/examine-runs.handler.js';
import { RuleExaminer } from './integrity/rule-examiner.js';
import { CreateApiKeyHandler } from './operators/create-api-key.handler.js';
import { RevokeApiKeyHandler } from './operators/revoke-api-key.handler.js';
import { RaiseLanesHandler } from './operators/raise-lanes.handler.js';
import { RotateApiKeyHandler } from './operators/rotate-api-key.handler.js';
import { LiftSanctionHandler } from './moderation/lift-sanction.handler.js';
import { PutSanctionHandler } from './moderation/put-sanction.handler.js';
import { SanctionNews } from './moderation/sanction-news.js';
import { AddCircleMemberHandler } from './people/add-circle-member.handler.js';
import { AddFriendHandler } from './people/add-friend.handler.js';
import { ChangeFollowHandler } from './people/change-follow.handler.js';
import { DeleteGuildHandler } from './people/delete-guild.handler.js';
import { FriendGraphOwner } from './people/friend-graph-owner.js';
import { JoinGuildHandler } from './people/join-guild.handler.js';
import { LeaveGuildHandler } from './people/leave-guild.handler.js';
import { PutGuildHandler } from './people/put-guild.handler.js';
import { PutPlayerHandler } from './people/put-player.handler.js';
import { RecomputeGuildTotalsHandler } from './people/recompute-guild-totals.handler.js';
import { RemoveCircleMemberHandler } from './people/remove-circle-member.handler.js';
import { RemoveFriendHandler } from './people/remove-friend.handler.js';
import { CorrectGamesHandler } from './pools/correct-games.handler.js';
import { DeletePatchHandler } from './patches/delete-patch.handler.js';
import { PutPatchHandler } from './patches/put-patch.handler.js';
import { DeletePoolHandler } from './pools/delete-pool.handler.js';
import { FeedBoardsHandler } from './pools/feed-boards.handler.js';
import { PutPoolHandler } from './pools/put-pool.handler.js';
import { RatePoolsHandler } from './pools/rate-pools.handler.js';
import { RatingWaits } from './pools/rating-waits.js';
import { RestateWindowHandler } from './pools/restate-window.handler.js';
import { RecordGamesHandler } from './pools/record-games.handler.js';
import { RebuildBoardHandler } from './recovery/rebuild-board.handler.js';
import { RebuildBoardsHandler } from './recovery/rebuild-boards.handler.js';
import { ReconcileBoardHandler } from './recovery/reconcile-board.handler.js';
import { ReplayDeadLetterHandler } from './recovery/replay-dead-letter.handler.js';
import { IntakeReplay } from './intake/intake-replay.js';
import { ActOnRunHandler } from './runs/act-on-run.handler.js';
import { OverrideEntryHandler } from './scores/override-entry.handler.js';
import { ScoreSubmitter } from './scores/score-submitter.js';
import { GameRanks } from './pools/game-ranks.js';
import { SubmissionRanks } from './scores/submission-ranks.js';
import { DeleteBoardTemplateHandler } from './templates/delete-board-template.handler.js';
import { PutBoardTemplateHandler } from './templates/put-board-template.handler.js';
import { SubmitScoreHandler } from './scores/submit-score.handler.js';
import { SubmitScoresHandler } from './scores/submit-scores.handler.js';

/** The friend graph, in every process. */
@Module({ imports: [LedgerModule], providers: [FriendGraphOwner], exports: [FriendGraphOwner] })
export class FriendsModule {}

const ofApis: Provider[] = [
  SubmitScoreHandler,
  SubmitScoresHandler,
  OverrideEntryHandler,
  ActOnRunHandler,
  ScoreSubmitter,
  SubmissionRanks,
  GameRanks,
  PutBoardHandler,
  DeleteBoardHandler,
  ResetBoardHandler,
  PutBoardTemplateHandler,
  DeleteBoardTemplateHandler,
  CloseWindowHandler,
  PutPatchHandler,
  DeletePatchHandler,
  PutPoolHandler,
  DeletePoolHandler,
  RecordGamesHandler,
  RestateWindowHandler,
  CorrectGamesHandler,
  RatingWaits,
  PutPlayerHandler,
  PutGuildHandler,
  DeleteGuildHandler,
  JoinGuildHandler,
  LeaveGuildHandler,
  AddFriendHandler,
  RemoveFriendHandler,
  ChangeFollowHandler,
  AddCircleMemberHandler,
  RemoveCircleMemberHandler,
  SanctionNews,
  PutSanctionHandler,
  LiftSanctionHandler,
  CreateApiKeyHandler,
  RotateApiKeyHandler,
  RaiseLanesHandler,
  RevokeApiKeyHandler,
  RebuildBoardHandler,
  RebuildBoardsHandler,
  ReconcileBoardHandler,
  ReplayDeadLetterHandler,
  DecideFlagHandler,
  IntakeReplay,
];

/** The writes of clients and operators. */
@Module({
  imports: [FriendsModule, IdentityModule, LedgerModule, LedgerApiModule, EventLogModule, ProjectionsModule],
  providers: ofApis,
  exports: ofApis,
})
export class CommandsApiModule {}

const ofProjectors: Provider[] = [
  RecordHistoryHandler,
  RecomputeGuildTotalsHandler,
  RatePoolsHandler,
  FeedBoardsHandler,
  ExamineRunsHandler,
  RuleExaminer,
];

/** The writes of sagas. */
@Module({
  imports: [LedgerModule, LedgerProjectorModule, ProjectionsModule],
  providers: ofProjectors,
  exports: ofProjectors,
})
export class CommandsProjectorModule {}
