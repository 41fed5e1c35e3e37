// Real: PostgreSQL, and its plans.
import { PostgresDatabase, prepared, runStatement } from '@laddercast/ledger';
import { createTestDatabase, type TestDatabase } from '@laddercast/testing';
import pg from 'pg';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';

const PLANS_KEPT_MS = 5000;
const FIND = prepared('SELECT name FROM grown WHERE id = $1 LIMIT 1');

let testDatabase: TestDatabase;
let client: pg.Client;
beforeAll(async () => {
  // Time passes when the test says so, however long PostgreSQL takes to fill a table.
  vi.useFakeTimers({ toFake: ['performance'] });
  testDatabase = await createTestDatabase();
  client = new pg.Client({ connectionString: testDatabase.url });
  await client.connect();
});
afterAll(async () => {
  await client?.end();
  await testDatabase?.drop();
  vi.useRealTimers();
});

async function planOf(sql: string): Promise<string> {
  const { rows } = await client.query<{ name: string }>(
    'SELECT name FROM pg_prepared_statements WHERE statement = $1',
    [sql],
  );
  const plan = await client.query<{ 'QUERY PLAN': string }>(`EXPLAIN EXECUTE ${rows[0]!.name} (5)`);
  return plan.rows.map((row) => row['QUERY PLAN']).join('\n');
}

it('plans a statement anew after a while, since the tables that it reads may have grown', async () => {
  await client.query('CREATE TABLE grown (id int PRIMARY KEY, name text) WITH (autovacuum_enabled = off)');
  const grow = 'INSERT INTO grown SELECT id, md5(id::text) FROM generate_series($1::int, $2::int) AS id';
  await client.query(grow, [1, 5]);
  await client.query('VACUUM ANALYZE grown');
  // From the sixth time on PostgreSQL uses one plan for all parameters.
  for (let time = 0; time < 10; time += 1) expect(await runStatement(client, FIND, [5])).toHaveLength(1);
  expect(await planOf(FIND)).toContain('Seq Scan');
  await client.query(grow, [6, 50_000]);
  await runStatement(client, FIND, [5]);
  expect(await planOf(FIND)).toContain('Seq Scan');
  vi.advanceTimersByTime(PLANS_KEPT_MS);
  await runStatement(client, FIND, [5]);
  expect(await planOf(FIND)).toContain('Index Scan');
});

it('has no plan compiled, on whatever connection', async () => {
  const database = new PostgresDatabase({ url: testDatabase.url });
  const ASK = `SELECT current_setting('jit') AS jit`;
  await database.open({ migrate: false });
  try {
    expect(await database.query(ASK)).toEqual([{ jit: 'off' }]);
    expect(await database.longTransaction(1000, (sql) => sql.query(ASK))).toEqual([{ jit: 'off' }]);
    const { signal } = new AbortController();
    for await (const rows of database.chunks(ASK, [], { rows: 1, timeoutMs: 1000, signal })) {
      expect(rows).toEqual([{ jit: 'off' }]);
    }
  } finally {
    await database.close();
  }
});
