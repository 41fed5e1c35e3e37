import { CloseWindowHandler } from '@laddercast/commands';
import {
  DayStartRecorder,
  HistoryPruner,
  Lanes,
  OutboxNotifier,
  PostgresDatabase,
  PostgresLeases,
  RollingExpirer,
  SettlementFailures,
  StandingsRecorder,
  StandingsPruner,
  WindowCloser,
  WindowSchedule,
} from '@laddercast/ledger';
import { Logger, type Provider } from '@nestjs/common';

/** What ends windows: by hand in processes with the role `api`, by the clock in projectors. */
export const windowProviders: Provider[] = [OutboxNotifier, SettlementFailures, WindowCloser];

export const windowApiProviders: Provider[] = [CloseWindowHandler];

/** @param holder names this process among the holders of leases */
export const windowProjectorProviders = (holder: string): Provider[] => [
  {
    provide: WindowSchedule,
    inject: [PostgresDatabase, Lanes, PostgresLeases, WindowCloser, SettlementFailures, OutboxNotifier],
    useFactory: (
      database: PostgresDatabase,
      lanes: Lanes,
      leases: PostgresLeases,
      closer: WindowCloser,
      failures: SettlementFailures,
      notifier: OutboxNotifier,
    ) => {
      const log = new Logger('windows');
      const onFailure = (error: unknown): void =>
        log.warn(`What is due by the clock waits: ${(error as Error).message}`);
      const work = {
        closer,
        keeper: new StandingsRecorder(database, lanes, failures),
        days: new DayStartRecorder(database),
        expirer: new RollingExpirer(database, lanes, notifier),
        pruner: new StandingsPruner(database),
        historyPruner: new HistoryPruner(database),
      };
      return new WindowSchedule(work, leases, { holder, onFailure });
    },
  },
];
