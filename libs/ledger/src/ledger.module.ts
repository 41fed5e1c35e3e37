import { Environment } from '@laddercast/platform';
import { Module, type Provider } from '@nestjs/common';
import { BoardLayouts } from './boards/board-layouts.js';
import { BoardRegistry } from './boards/board-registry.js';
import { BoardScopeMigration } from './boards/board-scope-migration.js';
import { BoardCatalog } from './catalogs/board-catalog.js';
import { BoardsWithMetadata } from './catalogs/boards-with-metadata.js';
import { EditionCatalog } from './catalogs/edition-catalog.js';
import { ScopeCatalog } from './catalogs/scope-catalog.js';
import { WindowCatalog } from './catalogs/window-catalog.js';
import { LedgerClock } from './database/ledger-clock.js';
import { openDatabase, openLanes } from './open-database.js';
import { PositionPartitions } from './database/position-partitions.js';
import { PostgresDatabase } from './database/postgres-database.js';
import { DayStartRecorder } from './history/day-start-recorder.js';
import { EntryHistory } from './history/entry-history.js';
import { HistoryPruner } from './history/history-pruner.js';
import { DecisionActs } from './integrity/decision-acts.js';
import { FlagDecisions } from './integrity/flag-decisions.js';
import { Flags } from './integrity/flags.js';
import { RuleExaminations } from './integrity/rule-examinations.js';
import { RunExaminer } from './integrity/run-examiner.js';
import { AllLanes } from './lanes/all-lanes.js';
import { LaneRaiser } from './lanes/lane-raiser.js';
import { LaneQueue } from './lanes/lane-queue.js';
import { Lanes } from './lanes/lanes.js';
import { OutboxNotifier } from './lanes/outbox-notifier.js';
import { LaneInbox } from './writes/lane-inbox.js';
import { LaneLink } from './writes/lane-link.js';
import { LaneOwners } from './writes/lane-owners.js';
import { LaneRoutes } from './writes/lane-routes.js';
import { PostgresLeases } from './leases/postgres-leases.js';
import { EntryExpirer } from './limits/entry-expirer.js';
import { EntryTrimmer } from './limits/entry-trimmer.js';
import { LimitStartMarker } from './limits/limit-start-marker.js';
import { ApiKeyStore } from './operators/api-key-store.js';
import { AuditLog } from './operators/audit-log.js';
import { Circles } from './people/circles.js';
import { Follows } from './people/follows.js';
import { Friendships } from './people/friendships.js';
import { GuildRegistry } from './people/guild-registry.js';
import { GuildTotals } from './people/guild-totals.js';
import { PlayerRegistry } from './people/player-registry.js';
import { PostgresFriendGraph } from './people/postgres-friend-graph.js';
import { BoardFeeder } from './feeds/board-feeder.js';
import { BoardFiller, RulesChangedFold } from './feeds/board-filler.js';
import { GameWriter } from './pools/game-writer.js';
import { POOL_EVENT_FOLDS, type PoolEventFold } from './pools/pool-events.js';
import { PeriodClosedFold } from './periods/period-closed-fold.js';
import { PeriodCloser } from './periods/period-closer.js';
import { CorrectionFold } from './corrections/correction-fold.js';
import { PoolCorrections } from './corrections/pool-corrections.js';
import { PoolFolds } from './pools/pool-folds.js';
import { PoolRater } from './pools/pool-rater.js';
import { PoolRegistry } from './pools/pool-registry.js';
import { PatchRegistry } from './patches/patch-registry.js';
import { RatingAlgorithms } from './pools/rating-algorithms.js';
import { EntriesEndedFold, EntryEnder } from './feeds/entry-ends.js';
import { LastFeedFold, LastFeeds } from './feeds/last-feeds.js';
import { HistoryPrunedFold } from './rating-history/history-pruned-fold.js';
import { RatingHistoryPruner } from './rating-history/rating-history-pruner.js';
import { BoardRebuilds } from './recovery/board-rebuilds.js';
import { Reconciliations } from './recovery/reconciliations.js';
import { RatingRepublisher } from './recovery/rating-republisher.js';
import { StateRepublisher } from './recovery/state-republisher.js';
import { SanctionClock } from './sanctions/sanction-clock.js';
import { Sanctions } from './sanctions/sanctions.js';
import { EntryReemission } from './reemission/entry-reemission.js';
import { RestatedEntries } from './restatements/restated-entries.js';
import { Restatements } from './restatements/restatements.js';
import { WindowRestater } from './restatements/window-restater.js';
import { EditionReviser } from './revisions/edition-reviser.js';
import { RevisionLag } from './standings/revision-notes.js';
import { StandingsReader } from './revisions/standings-reader.js';
import { EntryRefold } from './runs/entry-refold.js';
import { EndedRuns } from './runs/ended-runs.js';
import { RunActs } from './runs/run-acts.js';
import { RunList } from './runs/run-list.js';
import { ModerationActs } from './sanctions/moderation-acts.js';
import { RunPruner } from './runs/run-pruner.js';
import { SettlementFailures } from './standings/settlement-failures.js';
import { StandingsPruner } from './standings/standings-pruner.js';
import { StandingsRecorder } from './standings/standings-recorder.js';
import { LaneWriters } from './submissions/lane-writers.js';
import { Ledger } from './writes/ledger.js';
import { BoardTemplates } from './templates/board-templates.js';
import { TemplateBoards } from './templates/template-boards.js';
import { SubmissionPruner } from './submissions/submission-pruner.js';
import { RollingExpirer } from './windows/rolling-expirer.js';
import { WindowCloseLag } from './windows/close-lag.js';
import { WindowCloser } from './windows/window-closer.js';

const inEveryProcess: Provider[] = [
  { provide: PostgresDatabase, inject: [Environment], useFactory: openDatabase },
  { provide: Lanes, inject: [PostgresDatabase], useFactory: openLanes },
  { provide: LedgerClock, inject: [BoardCatalog], useFactory: (boards: BoardCatalog) => boards.clock },
  AllLanes,
  LaneRaiser,
  LaneQueue,
  OutboxNotifier,
  PostgresLeases,
  LaneOwners,
  LaneLink,
  LaneInbox,
  LaneRoutes,
  LaneWriters,
  Ledger,
  BoardCatalog,
  ScopeCatalog,
  WindowCatalog,
  EditionCatalog,
  StandingsReader,
  BoardsWithMetadata,
  BoardRegistry,
  TemplateBoards,
  BoardTemplates,
  BoardLayouts,
  BoardRebuilds,
  Reconciliations,
  WindowCloseLag,
  WindowCloser,
  SettlementFailures,
  RevisionLag,
  EntryHistory,
  EntryReemission,
  EntryRefold,
  RunActs,
  GuildTotals,
  Circles,
  Friendships,
  Follows,
  PostgresFriendGraph,
  RatingAlgorithms,
  PoolRegistry,
  PatchRegistry,
  Sanctions,
  ApiKeyStore,
  AuditLog,
  Flags,
  FlagDecisions,
  { provide: DecisionActs, useClass: ModerationActs },
  RuleExaminations,
];

/** What every process has of the ledger. */
@Module({ providers: inEveryProcess, exports: inEveryProcess })
export class LedgerModule {}

const ofApis: Provider[] = [
  GameWriter,
  PoolCorrections,
  PlayerRegistry,
  GuildRegistry,
  RatingRepublisher,
  StateRepublisher,
  RunList,
  Restatements,
];

/** What writes for clients: submissions, profiles, guilds. */
@Module({ imports: [LedgerModule], providers: ofApis, exports: ofApis })
export class LedgerApiModule {}

const ofProjectors: Provider[] = [
  StandingsRecorder,
  EditionReviser,
  DayStartRecorder,
  RollingExpirer,
  StandingsPruner,
  HistoryPruner,
  LimitStartMarker,
  EntryTrimmer,
  EntryExpirer,
  SanctionClock,
  SubmissionPruner,
  RunPruner,
  EndedRuns,
  BoardScopeMigration,
  CorrectionFold,
  PeriodClosedFold,
  EntriesEndedFold,
  LastFeedFold,
  RulesChangedFold,
  HistoryPrunedFold,
  {
    provide: POOL_EVENT_FOLDS,
    inject: [CorrectionFold, PeriodClosedFold, EntriesEndedFold, LastFeedFold, RulesChangedFold, HistoryPrunedFold],
    useFactory: (...folds: PoolEventFold[]) => folds,
  },
  PoolFolds,
  PoolRater,
  BoardFeeder,
  BoardFiller,
  EntryEnder,
  LastFeeds,
  RestatedEntries,
  WindowRestater,
  RatingHistoryPruner,
  PeriodCloser,
  PositionPartitions,
  RunExaminer,
];

/** What projectors do in the ledger by the clock. */
@Module({ imports: [LedgerModule], providers: ofProjectors, exports: ofProjectors })
export class LedgerProjectorModule {}
