import { randomUUID } from 'node:crypto';
import { HISTORY } from '../lanes/installation.js';
import { DRAWN_SQL } from '../lanes/lane-events.js';
import type { SqlRunner } from '../database/postgres-database.js';

/** How far the ledger is: its stamp, a growing number that the store of the ranks gets after it, and its last position. */
export interface LedgerReach {
  stamp: number;
  position: number;
}

export async function ledgerReach(database: SqlRunner): Promise<LedgerReach> {
  const [reach] = await database.query<LedgerReach>(
    `SELECT coalesce((SELECT value::bigint FROM installation WHERE name = 'stamp'), 0) AS stamp,
       drawn.position FROM (${DRAWN_SQL}) AS drawn`,
  );
  return reach!;
}

/** Raises the ledger's stamp by one. @returns the new one */
export async function raiseStamp(database: SqlRunner): Promise<number> {
  const [row] = await database.query<{ stamp: string }>(
    `INSERT INTO installation AS known (name, value) VALUES ('stamp', '1')
     ON CONFLICT (name) DO UPDATE SET value = (known.value::bigint + 1)::text RETURNING value AS stamp`,
  );
  return Number(row!.stamp);
}

/**
 * Begins another history of the ledger, with at least this stamp; processes that know the one before end themselves.
 * One statement: when the store is not ahead any more, every process that remembers what is gone is on its way out, and no
 * position is recorded that was not drawn (of a consumer that outlived the ledger).
 */
export async function beginHistory(database: SqlRunner, stamp: number): Promise<void> {
  await database.query(
    `WITH drawn AS MATERIALIZED (${DRAWN_SQL}), lowered AS (
       UPDATE projected_positions AS known SET position = drawn.position FROM drawn
       WHERE known.position > drawn.position)
     INSERT INTO installation AS known (name, value) VALUES ('stamp', $1), ('${HISTORY}', $2)
     ON CONFLICT (name) DO UPDATE SET value = CASE known.name
       WHEN 'stamp' THEN greatest(known.value::bigint, excluded.value::bigint)::text ELSE excluded.value END`,
    [String(stamp), randomUUID()],
  );
}
