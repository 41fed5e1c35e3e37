import {
  DeleteGuildHandler,
  JoinGuildHandler,
  LeaveGuildHandler,
  PutGuildHandler,
  PutPlayerHandler,
  RecomputeGuildTotalsHandler,
} from '@laddercast/commands';
import {
  BoardScopeMigration,
  EntryReemission,
  GuildRegistry,
  GuildTotals,
  Lanes,
  LaneQueue,
  PlayerRegistry,
  PostgresDatabase,
  PostgresLeases,
} from '@laddercast/ledger';
import { GetGuildHandler, GetGuildMembersHandler, GetPlayerProfileHandler } from '@laddercast/queries';
import { Logger, type Provider } from '@nestjs/common';

/** What becomes of entries whose players change; in every process. */
export const peopleProviders: Provider[] = [LaneQueue, EntryReemission, GuildTotals];

/** Profiles and guilds over REST. */
export const peopleApiProviders: Provider[] = [
  PlayerRegistry,
  GuildRegistry,
  PutPlayerHandler,
  PutGuildHandler,
  DeleteGuildHandler,
  JoinGuildHandler,
  LeaveGuildHandler,
  GetPlayerProfileHandler,
  GetGuildHandler,
  GetGuildMembersHandler,
];

/**
 * Guilds' totals, and boards whose scopes changed: behind the log.
 * @param holder names this process among the holders of leases
 */
export const peopleProjectorProviders = (holder: string): Provider[] => [
  RecomputeGuildTotalsHandler,
  {
    provide: BoardScopeMigration,
    inject: [PostgresDatabase, Lanes, PostgresLeases, EntryReemission, GuildTotals],
    useFactory: (
      database: PostgresDatabase,
      lanes: Lanes,
      leases: PostgresLeases,
      reemission: EntryReemission,
      totals: GuildTotals,
    ) => {
      const log = new Logger('ledger');
      const onFailure = (error: unknown): void =>
        log.warn(`A board's entries cannot be given their new scopes now: ${(error as Error).message}`);
      return new BoardScopeMigration({ database, lanes, leases, reemission, totals }, { holder, onFailure });
    },
  },
];
