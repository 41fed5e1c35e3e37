import { EntryExpirer, EntryTrimmer, LimitSchedule, LimitStartMarker, PostgresLeases } from '@laddercast/ledger';
import { Logger, type Provider } from '@nestjs/common';

/**
 * What removes the entries that a board's limits say.
 * @param holder names this process among the holders of leases
 */
export const limitProjectorProviders = (holder: string): Provider[] => [
  LimitStartMarker,
  EntryTrimmer,
  EntryExpirer,
  {
    provide: LimitSchedule,
    inject: [LimitStartMarker, EntryTrimmer, EntryExpirer, PostgresLeases],
    useFactory: (marker: LimitStartMarker, trimmer: EntryTrimmer, expirer: EntryExpirer, leases: PostgresLeases) => {
      const log = new Logger('ledger');
      const onFailure = (error: unknown): void =>
        log.warn(`What limits remove stays for now: ${(error as Error).message}`);
      return new LimitSchedule({ marker, trimmer, expirer }, leases, { holder, onFailure });
    },
  },
];
