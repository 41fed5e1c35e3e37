import {
  EntryExpirer,
  LimitStartMarker,
  EntryTrimmer,
  Lanes,
  LimitSchedule,
  OutboxNotifier,
  PostgresDatabase,
  PostgresLeases,
} from '@laddercast/ledger';
import { Environment } from '@laddercast/platform';
import { Logger, type Provider } from '@nestjs/common';

/**
 * What removes the entries that a board's limits say.
 * @param holder names this process among the holders of leases
 */
export const limitProjectorProviders = (holder: string): Provider[] => [
  {
    provide: LimitSchedule,
    inject: [PostgresDatabase, Lanes, PostgresLeases, OutboxNotifier, Environment],
    useFactory: (
      database: PostgresDatabase,
      lanes: Lanes,
      leases: PostgresLeases,
      notifier: OutboxNotifier,
      { OUTBOX_EVENTS_MAX }: Environment,
    ) => {
      const log = new Logger('ledger');
      const onFailure = (error: unknown): void =>
        log.warn(`What limits remove stays for now: ${(error as Error).message}`);
      const work = {
        marker: new LimitStartMarker(database, lanes),
        trimmer: new EntryTrimmer(database, lanes, notifier, { OUTBOX_EVENTS_MAX }),
        expirer: new EntryExpirer(database, lanes, notifier),
      };
      return new LimitSchedule(work, leases, { holder, onFailure });
    },
  },
];
