import type { Lanes } from './lanes.js';
import type { SqlRunner } from '../database/postgres-database.js';

/** How many events wait in the outbox. Counted by positions: gaps make it an upper bound, which errs on the safe side. */
export async function outboxBacklog(database: SqlRunner, lanes: Lanes): Promise<number> {
  const [row] = await database.query<{ waiting: number | null }>(
    `SELECT (SELECT last_value FROM ladder_position) - min(oldest) AS waiting
     FROM unnest($1::int[]) AS lane
     CROSS JOIN LATERAL (SELECT position AS oldest FROM outbox o WHERE o.lane = lane.lane ORDER BY position LIMIT 1) AS o`,
    [lanes.all],
  );
  return row?.waiting ?? 0;
}
