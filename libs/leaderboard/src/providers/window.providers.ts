import { CloseWindowHandler } from '@laddercast/commands';
import {
  DayStartRecorder,
  HistoryPruner,
  OutboxNotifier,
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
  StandingsRecorder,
  DayStartRecorder,
  RollingExpirer,
  StandingsPruner,
  HistoryPruner,
  {
    provide: WindowSchedule,
    inject: [
      WindowCloser,
      StandingsRecorder,
      DayStartRecorder,
      RollingExpirer,
      StandingsPruner,
      HistoryPruner,
      PostgresLeases,
    ],
    useFactory: (
      closer: WindowCloser,
      keeper: StandingsRecorder,
      days: DayStartRecorder,
      expirer: RollingExpirer,
      pruner: StandingsPruner,
      historyPruner: HistoryPruner,
      leases: PostgresLeases,
    ) => {
      const log = new Logger('windows');
      const onFailure = (error: unknown): void =>
        log.warn(`What is due by the clock waits: ${(error as Error).message}`);
      const work = { closer, keeper, days, expirer, pruner, historyPruner };
      return new WindowSchedule(work, leases, { holder, onFailure });
    },
  },
];
