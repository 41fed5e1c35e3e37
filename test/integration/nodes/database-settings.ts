import { PostgresDatabase } from '@laddercast/ledger';

/** Gives a test's database settings of its own, each as `name = value`: for the sessions that begin from then on. */
export async function setForDatabase(url: string, settings: readonly string[]): Promise<void> {
  const database = new PostgresDatabase({ url });
  await database.open({ migrate: false });
  for (const setting of settings) {
    await database.query(`ALTER DATABASE "${new URL(url).pathname.slice(1)}" SET ${setting}`);
  }
  await database.close();
}
