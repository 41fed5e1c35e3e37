import type { Pool } from '../installation/postgres-pool.js';

/** A statement, how often it was called, and what all of its calls took. */
export interface Statement {
  text: string;
  calls: number;
  planMs: number;
  runMs: number;
}

/** Settings of a PostgreSQL that counts its statements. */
export const countingStatements = {
  shared_preload_libraries: 'pg_stat_statements',
  'pg_stat_statements.track_planning': 'on',
};

const readSql = `
  SELECT regexp_replace(query, '\\s+', ' ', 'g') AS text, calls::float8, total_plan_time AS "planMs", total_exec_time AS "runMs"
  FROM pg_stat_statements ORDER BY total_plan_time + total_exec_time DESC LIMIT $1`;

/** Forgets what was counted so far. */
export async function forgetStatements(pool: Pool): Promise<void> {
  await pool.query('CREATE EXTENSION IF NOT EXISTS pg_stat_statements');
  await pool.query('SELECT pg_stat_statements_reset()');
}

/** The statements that took most time since `forgetStatements`, most first. */
export const topStatements = async (pool: Pool, count: number): Promise<Statement[]> =>
  (await pool.query<Statement>(readSql, [count])).rows;
