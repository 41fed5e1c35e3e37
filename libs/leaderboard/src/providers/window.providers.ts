import { CloseWindowHandler } from '@laddercast/commands';
import {
  DayKeeper,
  HistoryPruner,
  Lanes,
  OutboxWaker,
  PostgresDatabase,
  PostgresLeases,
  RollingExpirer,
  SettlementFailures,
  StandingsKeeper,
  StandingsPruner,
  WindowCloser,
  WindowSchedule,
} from '@laddercast/ledger';
import { Logger, type Provider } from '@nestjs/common';

/** What ends windows: by hand in processes with the role `api`, by the clock in projectors. */
export const windowProviders: Provider[] = [OutboxWaker, SettlementFailures, WindowCloser];

export const windowApiProviders: Provider[] = [CloseWindowHandler];

/** @param holder names this process among the holders of leases */
export const windowProjectorProviders = (holder: string): Provider[] => [
  {
    provide: WindowSchedule,
    inject: [PostgresDatabase, Lanes, PostgresLeases, WindowCloser, SettlementFailures, OutboxWaker],
    useFactory: (
      database: PostgresDatabase,
      lanes: Lanes,
      leases: PostgresLeases,
      closer: WindowCloser,
      failures: SettlementFailures,
      waker: OutboxWaker,
    ) => {
      const log = new Logger('windows');
      const onFailure = (error: unknown): void =>
        log.warn(`What is due by the clock waits: ${(error as Error).message}`);
      const work = {
        closer,
        keeper: new StandingsKeeper(database, lanes, failures),
        days: new DayKeeper(database),
        expirer: new RollingExpirer(database, lanes, waker),
        pruner: new StandingsPruner(database),
        historyPruner: new HistoryPruner(database),
      };
      return new WindowSchedule(work, leases, { holder, onFailure });
    },
  },
];
