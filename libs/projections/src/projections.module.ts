import { EventLogModule } from '@laddercast/event-log';
import { Lanes, LedgerModule, LedgerProjectorModule, PostgresDatabase } from '@laddercast/ledger';
import { Environment, TokenLeases } from '@laddercast/platform';
import { Module, type Provider } from '@nestjs/common';
import { Checkpoints } from './checkpoints/checkpoints.js';
import { RedisCheckpoints } from './checkpoints/redis-checkpoints.js';
import { ShardCounters } from './hash-shards/shard-counters.js';
import { AnnounceHandler } from './handlers/announce.handler.js';
import { ApplyEntriesHandler } from './handlers/apply-entries.handler.js';
import { DropBoardHandler } from './handlers/drop-board.handler.js';
import { KeepWindowsHandler } from './handlers/keep-windows.handler.js';
import { LeaveTraceNotesHandler } from './handlers/leave-trace-notes.handler.js';
import { MarkLaneHandler } from './handlers/mark-lane.handler.js';
import { LayoutBuilder } from './layouts/layout-builder.js';
import { LayoutGrowth } from './layouts/layout-growth.js';
import { LayoutRemover } from './layouts/layout-remover.js';
import { RedisSnapshotStore } from './live/redis-snapshot-store.js';
import { RedisTraceNotes } from './live/redis-trace-notes.js';
import { TraceNotes } from './live/trace-notes.js';
import { RedisRankInspection } from './projection/redis-rank-inspection.js';
import { RedisRankProjection } from './projection/redis-rank-projection.js';
import { RangeSweeper } from './range-shards/range-sweeper.js';
import { AnsweredVersions } from './ranks/answered-versions.js';
import { RankInspection } from './ranks/rank-inspection.js';
import { RankProjection } from './ranks/rank-projection.js';
import { SnapshotStore } from './ranks/snapshot-store.js';
import { WindowLists } from './ranks/window-lists.js';
import { BoardReconciler } from './reconcile/board-reconciler.js';
import { EntryComparison } from './reconcile/entry-comparison.js';
import { ListInspection } from './reconcile/list-inspection.js';
import { ReconcileJobs } from './reconcile/reconcile-jobs.js';
import { SampledReconciliation } from './reconcile/sampled-reconciliation.js';
import { AppliedSessions } from './recovery/applied-sessions.js';
import { CommittedPositions, LedgerCommittedPositions } from './recovery/committed-positions.js';
import { LaneRecoveries } from './recovery/lane-recoveries.js';
import { LeftoverSweeper } from './recovery/leftover-sweeper.js';
import { ProjectionRecovery } from './recovery/projection-recovery.js';
import { ProjectionStore } from './recovery/projection-store.js';
import { ProjectionWatch } from './recovery/read-guard.js';
import { RedisProjectionStore } from './recovery/redis-projection-store.js';
import { RestoredLedgerCheck } from './recovery/restored-ledger-check.js';
import { ShardRestorer } from './recovery/shard-restorer.js';
import { LostShardWatch } from './recovery/lost-shard-watch.js';
import { StoreMaintenance } from './recovery/store-maintenance.js';
import { Announcements } from './redis/announcements.js';
import { connectRedis } from './redis/connect-redis.js';
import { RedisAnnouncements } from './redis/redis-announcements.js';
import { RedisConnection } from './redis/redis-connection.js';
import { RedisLaneMarks } from './redis/redis-lane-marks.js';
import { RedisLostShards } from './redis/redis-lost-shards.js';
import { RedisTokenLeases } from './redis/redis-token-leases.js';
import { replicaOf } from './replica/connect-replica.js';
import { RedisSketchStore } from './sketches/redis-sketch-store.js';
import { ReplicaReads } from './sketches/replica-reads.js';
import { SketchBuilder } from './sketches/sketch-builder.js';
import { SketchCache } from './sketches/sketch-cache.js';
import { SketchStore } from './sketches/sketch-store.js';
import { StandingsRanks } from './standings/standings-ranks.js';

const inEveryProcess: Provider[] = [
  { provide: RedisConnection, inject: [Environment, PostgresDatabase], useFactory: connectRedis },
  {
    provide: CommittedPositions,
    inject: [PostgresDatabase, Environment],
    useFactory: (database: PostgresDatabase, { EVENT_LOG }: Environment) =>
      new LedgerCommittedPositions(database, EVENT_LOG === 'postgres'),
  },
  {
    provide: ProjectionWatch,
    inject: [RedisLaneMarks, CommittedPositions, Lanes, RestoredLedgerCheck],
    useFactory: (marks: RedisLaneMarks, committed: CommittedPositions, lanes: Lanes, check: RestoredLedgerCheck) =>
      new ProjectionWatch(marks, committed, lanes, () => check.isAhead()),
  },
  {
    provide: ReplicaReads,
    inject: [Environment, PostgresDatabase, RedisConnection, ProjectionWatch, Lanes, ShardCounters],
    useFactory: replicaOf,
  },
  { provide: RankProjection, useClass: RedisRankProjection },
  { provide: Checkpoints, useClass: RedisCheckpoints },
  { provide: SnapshotStore, useClass: RedisSnapshotStore },
  { provide: TraceNotes, useClass: RedisTraceNotes },
  { provide: SketchStore, useClass: RedisSketchStore },
  { provide: Announcements, useClass: RedisAnnouncements },
  { provide: ProjectionStore, useClass: RedisProjectionStore },
  { provide: TokenLeases, useClass: RedisTokenLeases },
  ShardCounters,
  RedisLaneMarks,
  RestoredLedgerCheck,
  StandingsRanks,
  SketchBuilder,
  SketchCache,
  AnsweredVersions,
];

/** What every process has of the ranks. */
@Module({ imports: [LedgerModule], providers: inEveryProcess, exports: inEveryProcess })
export class ProjectionsModule {}

const ofProjectors: Provider[] = [
  { provide: RankInspection, useClass: RedisRankInspection },
  WindowLists,
  AppliedSessions,
  ApplyEntriesHandler,
  MarkLaneHandler,
  LeaveTraceNotesHandler,
  KeepWindowsHandler,
  DropBoardHandler,
  AnnounceHandler,
  ProjectionRecovery,
  LaneRecoveries,
  RangeSweeper,
  LayoutBuilder,
  LayoutRemover,
  LayoutGrowth,
  EntryComparison,
  ListInspection,
  BoardReconciler,
  SampledReconciliation,
  ReconcileJobs,
  RedisLostShards,
  ShardRestorer,
  LostShardWatch,
  LeftoverSweeper,
  StoreMaintenance,
];

/** What fills the ranks, and has them whole again. */
@Module({
  imports: [LedgerModule, LedgerProjectorModule, EventLogModule, ProjectionsModule],
  providers: ofProjectors,
  exports: ofProjectors,
})
export class ProjectionsProjectorModule {}
