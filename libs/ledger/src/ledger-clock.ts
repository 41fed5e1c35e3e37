import type { SqlRunner } from './postgres-database.js';

/** The ledger's own time, Unix ms: what is decided under a lane's lock is decided by the time that it is then. */
export async function ledgerNowMs(sql: SqlRunner): Promise<number> {
  const [row] = await sql.query<{ now_ms: number }>(
    'SELECT floor(extract(epoch FROM ladder_now()) * 1000)::bigint AS now_ms',
  );
  return row!.now_ms;
}
