// Real: PostgreSQL, a database whose settings are none that the service could work with.
import { PostgresDatabase } from '@laddercast/ledger';
import { createTestDatabase, type TestDatabase } from '@laddercast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { setForDatabase } from '../nodes/database-settings.js';

const SETTINGS = `SELECT current_setting('transaction_isolation') AS isolation,
  current_setting('extra_float_digits') AS digits, current_setting('jit') AS jit`;
const OURS = { isolation: 'read committed', digits: '1', jit: 'off' };

describe('a session of the service', () => {
  let testDatabase: TestDatabase;
  let database: PostgresDatabase;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    const settings = [`default_transaction_isolation = 'repeatable read'`, 'extra_float_digits = -3', 'jit = on'];
    await setForDatabase(testDatabase.url, settings);
    database = new PostgresDatabase({ url: testDatabase.url });
    await database.open({ migrate: false });
  });
  afterAll(async () => {
    await database.close();
    await testDatabase.drop();
  });

  it('reads what others commit while it waits, and doubles to their last bit, whatever the database is set to', async () => {
    const wait = new AbortController();
    expect(await database.query(SETTINGS)).toEqual([OURS]);
    expect(await database.transaction((transaction) => transaction.query(SETTINGS))).toEqual([OURS]);
    expect(await database.longTransaction(1000, (transaction) => transaction.query(SETTINGS))).toEqual([OURS]);
    for await (const rows of database.chunks(SETTINGS, [], { rows: 1, timeoutMs: 1000, signal: wait.signal })) {
      expect(rows).toEqual([OURS]);
    }
    const [{ sum }] = (await database.query<{ sum: number }>('SELECT 0.1::float8 + 0.2::float8 AS sum')) as [
      { sum: number },
    ];
    expect(sum).toBe(0.1 + 0.2);
  });
});
