import {
  IntakeReplay,
  RebuildBoardsHandler,
  ReconcileBoardHandler,
  ReplayDeadLetterHandler,
} from '@laddercast/commands';
import { Authenticator } from '@laddercast/identity';
import { DeadLetterPruner, DeadLetterStore } from '@laddercast/event-log';
import {
  BoardRebuilds,
  BoardRebuildSchedule,
  PostgresLeases,
  StateRepublisher,
  Reconciliations,
} from '@laddercast/ledger';
import { Environment, metrics } from '@laddercast/platform';
import {
  BoardReconciler,
  EntryComparison,
  RestoredLedgerCheck,
  LeftoverSweeper,
  ListInspection,
  ProjectionStore,
  RankInspection,
  ReconcileSchedule,
  RedisConnection,
  RedisLostShards,
  RedisProjectionStore,
  RedisRankInspection,
  RestoreSchedule,
  SampledReconciliation,
  ShardRestorer,
  StoreMaintenance,
} from '@laddercast/projections';
import { Logger, type Provider } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';

/** Whether the ranks are those of this very ledger: in every process. */
export const recoveryProviders: Provider[] = [
  { provide: ProjectionStore, useClass: RedisProjectionStore },
  RestoredLedgerCheck,
  DeadLetterStore,
  BoardRebuilds,
  Reconciliations,
];

/** What operators ask for. */
export const recoveryApiProviders: Provider[] = [
  StateRepublisher,
  {
    provide: IntakeReplay,
    inject: [Authenticator, CommandBus, Environment],
    useFactory: (authenticator: Authenticator, commands: CommandBus, { KAFKA_IN_SCORES_KEY }: Environment) =>
      new IntakeReplay(authenticator, commands, KAFKA_IN_SCORES_KEY),
  },
  ReplayDeadLetterHandler,
  RebuildBoardsHandler,
  ReconcileBoardHandler,
];

/** Everything that a projector does for recovery by itself, beside that of lanes. */
export class RecoverySchedules {
  constructor(private readonly schedules: readonly { start(): void; stop(): Promise<void> }[]) {}

  start(): void {
    for (const schedule of this.schedules) schedule.start();
  }

  async stop(): Promise<void> {
    await Promise.all(this.schedules.map((schedule) => schedule.stop()));
  }
}

/** @param holder names this process among the holders of leases */
export const recoveryProjectorProviders = (holder: string): Provider[] => [
  { provide: RankInspection, useClass: RedisRankInspection },
  EntryComparison,
  ListInspection,
  BoardReconciler,
  SampledReconciliation,
  RedisLostShards,
  ShardRestorer,
  LeftoverSweeper,
  {
    provide: ReconcileSchedule,
    inject: [BoardReconciler, SampledReconciliation, Reconciliations, PostgresLeases, Environment],
    useFactory: (
      reconciler: BoardReconciler,
      samples: SampledReconciliation,
      jobs: Reconciliations,
      leases: PostgresLeases,
      { RECONCILE_EVERY_SECONDS }: Environment,
    ) => {
      const log = new Logger('reconcile');
      return new ReconcileSchedule(reconciler, samples, jobs, leases, {
        holder,
        sampleEveryMs: 1000 * RECONCILE_EVERY_SECONDS,
        onDrift: (report) => log.warn({ msg: 'The ranks differed from PostgreSQL, and were put right.', ...report }),
        onFinished: (boardUid, report) =>
          log.log({ msg: 'A board was compared with PostgreSQL.', boardUid, ...report }),
        onFailure: (error) => log.warn(`The ranks cannot be compared now: ${(error as Error).message}`),
      });
    },
  },
  {
    provide: RestoreSchedule,
    inject: [ShardRestorer, PostgresLeases],
    useFactory: (restorer: ShardRestorer, leases: PostgresLeases) => {
      const log = new Logger('recovery');
      return new RestoreSchedule(restorer, leases, {
        holder,
        onRestored: (shard, entries, ms) => {
          metrics.restoredShards.inc();
          log.warn({ msg: 'A shard had lost a key; it was filled anew from PostgreSQL.', ...shard, entries, ms });
        },
        onFailure: (error) => log.warn(`A shard cannot be brought back now: ${(error as Error).message}`),
      });
    },
  },
  {
    provide: StoreMaintenance,
    inject: [RestoredLedgerCheck, LeftoverSweeper, PostgresLeases, RedisConnection],
    useFactory: (
      stamp: RestoredLedgerCheck,
      leftovers: LeftoverSweeper,
      leases: PostgresLeases,
      redis: RedisConnection,
    ) => {
      const log = new Logger('recovery');
      return new StoreMaintenance(stamp, leftovers, leases, {
        holder,
        wake: (listener) => redis.onReady(listener),
        onEmptied: (keys) =>
          log.error({
            msg: 'Redis was ahead of PostgreSQL, which was restored; it was emptied, and is filled anew.',
            keys,
          }),
        onLeftovers: (keys) => log.warn({ msg: 'Redis held keys of lists that are gone; they were removed.', keys }),
        onFailure: (error) => log.warn(`Redis cannot be looked after now: ${(error as Error).message}`),
      });
    },
  },
  {
    provide: RecoverySchedules,
    inject: [
      StoreMaintenance,
      RestoreSchedule,
      ReconcileSchedule,
      BoardRebuilds,
      DeadLetterStore,
      PostgresLeases,
      Environment,
    ],
    useFactory: (
      store: StoreMaintenance,
      restore: RestoreSchedule,
      reconcile: ReconcileSchedule,
      rebuilds: BoardRebuilds,
      letters: DeadLetterStore,
      leases: PostgresLeases,
      { DEAD_LETTER_DAYS }: Environment,
    ) => {
      const log = new Logger('recovery');
      const failing = (what: string) => (error: unknown) => log.warn(`${what} now: ${(error as Error).message}`);
      const rebuilding = new BoardRebuildSchedule(rebuilds, leases, {
        holder,
        onFailure: failing('Boards cannot be rebuilt'),
      });
      const pruner = new DeadLetterPruner(letters, leases, {
        holder,
        keptDays: DEAD_LETTER_DAYS,
        onFailure: failing('Old dead letters are not removed'),
      });
      return new RecoverySchedules([store, restore, reconcile, rebuilding, pruner]);
    },
  },
];
