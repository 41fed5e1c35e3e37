import { ADVISORY_LOCKS } from '@laddercast/ledger';
import type { LedgerNode } from './ledger-node.js';

/** How many sessions of the node's database wait for a lane. */
export async function lanesWaitedFor({ database }: Pick<LedgerNode, 'database'>): Promise<number> {
  const [row] = await database.query<{ waiting: number }>(
    `SELECT count(*)::int AS waiting FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND classid = $1
       AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    [ADVISORY_LOCKS.lanes],
  );
  return row!.waiting;
}
