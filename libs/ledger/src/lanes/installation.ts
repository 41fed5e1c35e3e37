import { randomBytes } from 'node:crypto';
import type { SqlRunner } from '../database/postgres-database.js';

/**
 * The row of `installation` that names the ledger's history since it was restored to an earlier state; no row: it never
 * was. What a process remembers of another history is not valid any more.
 */
export const HISTORY = 'history';

/** A value of this installation: the one that the first process gave that asked for it. */
export async function settledValue(database: SqlRunner, name: string, value: string): Promise<string> {
  await database.query('INSERT INTO installation (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING', [
    name,
    value,
  ]);
  const [row] = await database.query<{ value: string }>('SELECT value FROM installation WHERE name = $1', [name]);
  return row!.value;
}

/** The random name of this installation, drawn at its first start. Data outside PostgreSQL carry it. */
export const installationId = (database: SqlRunner): Promise<string> =>
  settledValue(database, 'id', randomBytes(6).toString('hex'));
