import { Inject, Injectable } from '@nestjs/common';
import { deleteEdition } from './edition-removal.js';
import { PostgresDatabase, type SqlRunner } from '../database/postgres-database.js';

const EDITIONS_AT_ONCE = 100;
/** No local day is longer, whatever the clocks of its zone do. */
const DAYS_OF_A_DAY = 2;

const NOW = '(SELECT ladder_now())';

/**
 * Editions that are kept no longer: snapshots by their board's `snapshot.keepDays`, final standings by its
 * `retention.standingsDays`. Of one that is null nothing is before; what an earlier release stored lacks them. Those of
 * a day are of use for that day alone, and go when the next is written: what is left is of windows that have none.
 */
const OUTLIVED_EDITIONS = `
  SELECT e.edition_uid FROM editions e JOIN windows w USING (window_uid) JOIN boards b USING (board_uid)
  WHERE e.kind IN ('kept', 'final', 'day') AND e.as_of < ${NOW} - interval '1 day' * (CASE e.kind
    WHEN 'kept' THEN coalesce((b.definition->'snapshot'->>'keepDays')::float8, 30)
    WHEN 'day' THEN ${DAYS_OF_A_DAY}
    ELSE (b.definition->'retention'->>'standingsDays')::float8 END)
  LIMIT ${EDITIONS_AT_ONCE}`;

/** Deletes standings that are kept no longer, a chunk at a time. */
@Injectable()
export class StandingsPruner {
  constructor(@Inject(PostgresDatabase) private readonly database: SqlRunner) {}

  /** @returns how many editions went */
  async prune(signal: AbortSignal): Promise<number> {
    let pruned = 0;
    while (!signal.aborted) {
      const editions = await this.database.query<{ edition_uid: number }>(OUTLIVED_EDITIONS);
      for (const { edition_uid } of editions) {
        if (!(await deleteEdition(this.database, edition_uid, signal))) return pruned;
        pruned += 1;
      }
      if (editions.length < EDITIONS_AT_ONCE) break;
    }
    return pruned;
  }
}
