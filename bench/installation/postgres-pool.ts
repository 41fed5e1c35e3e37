import pg from 'pg';

export type { Pool } from 'pg';

/** A pool of one connection. */
export function poolOf(connectionString: string, options: string): pg.Pool {
  const pool = new pg.Pool({ connectionString, max: 1, options });
  // When something fails, PostgreSQL is stopped under it.
  pool.on('error', () => {});
  return pool;
}
