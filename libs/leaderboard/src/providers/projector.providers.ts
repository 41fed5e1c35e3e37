import { randomUUID } from 'node:crypto';
import { RecordHistoryHandler } from '@laddercast/commands';
import { EventLog, OutboxRelay, PostgresEventLog, PostgresLogGroups } from '@laddercast/event-log';
import {
  BoardCatalog,
  Lanes,
  PostgresDatabase,
  PostgresLeases,
  SubmissionPruner,
  WindowSchedule,
  BoardScopeMigration,
  LimitSchedule,
} from '@laddercast/ledger';
import {
  AnnounceHandler,
  AppliedSessions,
  ApplyEntriesHandler,
  CommittedPositions,
  DropBoardHandler,
  KeepWindowsHandler,
  LayoutSchedule,
  LeaveTraceNotesHandler,
  RestoredLedgerCheck,
  MarkLaneHandler,
  ProjectionRecovery,
  ProjectionWatch,
  RangeSweeper,
  RankProjection,
  RedisConnection,
  WindowLists,
} from '@laddercast/projections';
import {
  LeasedTickSlots,
  publisherProviders,
  RankDeltaPublisher,
  SketchPublisher,
  TickSlots,
} from '@laddercast/realtime';
import { SagaServer } from '@laddercast/sagas';
import { Environment } from '@laddercast/platform';
import { Logger, type Provider } from '@nestjs/common';
import { eventLogProviders } from './event-log.providers.js';
import { writeLogLine } from '../log-options.js';
import { layoutProjectorProviders } from './layout.providers.js';
import { LaneRecoveries, noteRecovery } from '../process/lane-recoveries.js';
import { limitProjectorProviders } from './limit.providers.js';
import { peopleProjectorProviders } from './people.providers.js';
import { recoveryProjectorProviders, RecoverySchedules } from './recovery.providers.js';
import { windowProjectorProviders } from './window.providers.js';
import { ProjectorLifecycle } from '../process/projector.lifecycle.js';

/** Names this process among the holders of leases. */
const HOLDER = randomUUID();

/** What a process with the role `projector` adds: the log, its sagas, the ticks, and the recovery of what Redis lost. */
export const projectorProviders: Provider[] = [
  ...eventLogProviders,
  {
    provide: SagaServer,
    inject: [EventLog, PostgresDatabase],
    useFactory: (eventLog: EventLog, database: PostgresDatabase) =>
      new SagaServer(eventLog, new PostgresLogGroups(database, writeLogLine)),
  },
  AppliedSessions,
  ApplyEntriesHandler,
  LeaveTraceNotesHandler,
  MarkLaneHandler,
  DropBoardHandler,
  KeepWindowsHandler,
  AnnounceHandler,
  RecordHistoryHandler,
  WindowLists,
  PostgresLeases,
  {
    provide: ProjectionRecovery,
    inject: [PostgresDatabase, RankProjection, CommittedPositions, BoardCatalog, RangeSweeper, RestoredLedgerCheck],
    useFactory: (
      database: PostgresDatabase,
      projection: RankProjection,
      committed: CommittedPositions,
      boards: BoardCatalog,
      sweeper: RangeSweeper,
      stamp: RestoredLedgerCheck,
    ) => {
      const log = new Logger('recovery');
      return new ProjectionRecovery({
        database,
        projection,
        committed,
        boards,
        isAhead: () => stamp.isAhead(),
        afterwards: (signal) => sweeper.removeStrays(signal),
        onProgress: (progress) => {
          noteRecovery(progress);
          if (progress.committed > 0) log.log({ msg: `lane ${progress.lane}: ${progress.step}`, ...progress });
        },
        onError: (lane, error) => log.warn(`Lane ${lane} cannot be recovered yet: ${(error as Error).message}`),
      });
    },
  },
  {
    provide: LaneRecoveries,
    inject: [ProjectionRecovery, PostgresLeases, Lanes, RedisConnection, ProjectionWatch],
    useFactory: (
      recovery: ProjectionRecovery,
      leases: PostgresLeases,
      lanes: Lanes,
      redis: RedisConnection,
      watch: ProjectionWatch,
    ) =>
      new LaneRecoveries(recovery, leases, {
        lanes: lanes.all,
        holder: HOLDER,
        wake: (listener) => {
          const ends = [redis.onReady(listener), watch.onLoss(listener)];
          return () => ends.forEach((end) => end());
        },
      }),
  },
  {
    provide: TickSlots,
    inject: [PostgresLeases],
    useFactory: (leases: PostgresLeases) => new LeasedTickSlots(leases, HOLDER),
  },
  {
    provide: SubmissionPruner,
    inject: [PostgresDatabase, PostgresLeases, Environment],
    useFactory: (database: PostgresDatabase, leases: PostgresLeases, { SUBMISSION_ID_DAYS }: Environment) => {
      const log = new Logger('ledger');
      const onFailure = (error: unknown): void =>
        log.warn(`Old submission ids are not pruned now: ${(error as Error).message}`);
      return new SubmissionPruner(database, leases, { holder: HOLDER, rememberedDays: SUBMISSION_ID_DAYS, onFailure });
    },
  },
  {
    provide: RangeSweeper,
    inject: [BoardCatalog, WindowLists, RankProjection, PostgresLeases],
    useFactory: (
      boards: BoardCatalog,
      windowLists: WindowLists,
      projection: RankProjection,
      leases: PostgresLeases,
    ) => {
      const log = new Logger('ranges');
      return new RangeSweeper({
        boards,
        windowLists,
        projection,
        leases,
        holder: HOLDER,
        onFinished: (moves) => log.warn(`${moves} entries had been left between two shards, and are in their place.`),
        onFailure: (error) => log.warn(`Moves between shards are not looked after now: ${(error as Error).message}`),
      });
    },
  },
  ...peopleProjectorProviders(HOLDER),
  ...windowProjectorProviders(HOLDER),
  ...limitProjectorProviders(HOLDER),
  ...layoutProjectorProviders(HOLDER),
  ...recoveryProjectorProviders(HOLDER),
  ...publisherProviders,
  {
    provide: ProjectorLifecycle,
    inject: [
      PostgresDatabase,
      RankProjection,
      Lanes,
      EventLog,
      PostgresEventLog,
      OutboxRelay,
      LaneRecoveries,
      RankDeltaPublisher,
      TickSlots,
      SubmissionPruner,
      WindowSchedule,
      BoardScopeMigration,
      RangeSweeper,
      LimitSchedule,
      SketchPublisher,
      LayoutSchedule,
      RecoverySchedules,
    ],
    useFactory: (
      database: PostgresDatabase,
      projection: RankProjection,
      lanes: Lanes,
      eventLog: EventLog,
      outbox: PostgresEventLog,
      relay: OutboxRelay | null,
      recoveries: LaneRecoveries,
      publisher: RankDeltaPublisher,
      slots: LeasedTickSlots,
      pruner: SubmissionPruner,
      windows: WindowSchedule,
      rescoper: BoardScopeMigration,
      sweeper: RangeSweeper,
      limits: LimitSchedule,
      sketches: SketchPublisher,
      layoutSchedule: LayoutSchedule,
      recoverySchedules: RecoverySchedules,
    ) =>
      new ProjectorLifecycle({
        database,
        projection,
        lanes,
        eventLog,
        outbox,
        relay,
        recoveries,
        publisher,
        slots,
        schedules: [pruner, windows, rescoper, sweeper, limits, sketches, layoutSchedule, recoverySchedules],
      }),
  },
];
