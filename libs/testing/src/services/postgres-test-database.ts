import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { requiredService } from './services.js';

/** An empty database of its own on the test server. */
export interface TestDatabase {
  url: string;
  /** Copies it as it is; nobody may be connected. */
  backUp(): Promise<void>;
  /** Has it be what it was at the back-up, which is gone then. */
  restore(): Promise<void>;
  drop(): Promise<void>;
}

export async function createTestDatabase(): Promise<TestDatabase> {
  const serverUrl = requiredService('TEST_DATABASE_URL');
  const name = `ladder_test_${randomBytes(6).toString('hex')}`;
  await administer(serverUrl, `CREATE DATABASE ${name}`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  const backup = `${name}_backup`;
  return {
    url: url.href,
    backUp: () => administer(serverUrl, `CREATE DATABASE ${backup} TEMPLATE ${name}`),
    restore: async () => {
      await administer(serverUrl, `DROP DATABASE ${name} WITH (FORCE)`);
      await administer(serverUrl, `ALTER DATABASE ${backup} RENAME TO ${name}`);
    },
    drop: async () => {
      await administer(serverUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      await administer(serverUrl, `DROP DATABASE IF EXISTS ${backup} WITH (FORCE)`);
    },
  };
}

async function administer(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
