import { LadderError } from '@laddercast/domain';
import {
  isDatabaseUnavailable,
  PostgresDatabase,
  rankedRunKeys,
  StandingsReader,
  type KeyOfPlayer,
  type SqlRunner,
} from '@laddercast/ledger';
import type { RankList } from '@laddercast/projections';
import { Inject, Injectable } from '@nestjs/common';

/** Which entries players have in lists where each run is one: only PostgreSQL knows them by their players. */
@Injectable()
export class RunEntryKeys {
  constructor(
    @Inject(PostgresDatabase) private readonly database: SqlRunner,
    private readonly editions: StandingsReader,
  ) {}

  /**
   * The keys of all entries that these players have in a list, in no order; of standings also of some that it does not show.
   * @throws PROJECTION_UNAVAILABLE
   */
  all(list: RankList, playerIds: readonly string[]): Promise<KeyOfPlayer[]> {
    const { edition, scope, ordering } = list;
    if (edition !== undefined) return asked(this.editions.keysOf({ edition, scope, ordering }, playerIds));
    return asked(rankedRunKeys(this.database, list, playerIds, null));
  }

  /** Of each player the key of the best, as PostgreSQL has it; of standings as {@link all}. @throws as it */
  best(list: RankList, playerIds: readonly string[]): Promise<KeyOfPlayer[]> {
    if (list.edition !== undefined) return this.all(list, playerIds);
    return asked(rankedRunKeys(this.database, list, playerIds, list.ordering));
  }
}

async function asked<T>(reading: Promise<T>): Promise<T> {
  try {
    return await reading;
  } catch (error) {
    if (!isDatabaseUnavailable(error)) throw error;
    const detail = 'Which entries players have cannot be read now; try again shortly.';
    throw new LadderError('PROJECTION_UNAVAILABLE', detail, { retryAfterSeconds: 2 }, { cause: error });
  }
}
