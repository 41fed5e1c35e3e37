import { PostgresDatabase } from '@laddercast/ledger';

/** Runs one statement in a database, beside the service. */
export async function sql(url: string, statement: string): Promise<unknown[]> {
  const database = new PostgresDatabase({ url, poolMax: 1 });
  await database.open({ migrate: false });
  try {
    return await database.query(statement);
  } finally {
    await database.close();
  }
}
