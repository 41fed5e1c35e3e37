// Real: PostgreSQL, several processes' connections, each through a proxy that can be cut.
import { PostgresEventLog } from '@laddercast/event-log';
import { PostgresDatabase } from '@laddercast/ledger';
import {
  createTestDatabase,
  eventLogConformance,
  openTcpProxy,
  type EventLogHarness,
  type TestDatabase,
} from '@laddercast/testing';
import { afterAll, beforeAll, describe } from 'vitest';

const LANES = 2;

describe('PostgresEventLog', () => {
  let testDatabase: TestDatabase;
  let database: PostgresDatabase;
  let harness: EventLogHarness;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    database = new PostgresDatabase({ url: testDatabase.url });
    await database.open({ migrate: true });
    harness = { lanes: LANES, database, openProcess: () => openPostgresProcess(testDatabase.url) };
  });

  afterAll(async () => {
    await database?.close();
    await testDatabase?.drop();
  });

  eventLogConformance({ harness: () => harness, takeoverMs: 8000, bulkMs: 10_000 });
});

async function openPostgresProcess(url: string): ReturnType<EventLogHarness['openProcess']> {
  const through = new URL(url);
  const proxy = await openTcpProxy(through.hostname, Number(through.port || 5432));
  through.host = `127.0.0.1:${proxy.port}`;
  const database = new PostgresDatabase({ url: through.href });
  await database.open({ migrate: false });
  const log = new PostgresEventLog(database, { lanes: LANES, log: () => undefined });
  return {
    log,
    cut: () => proxy.cut(),
    mend: () => proxy.mend(),
    close: async () => {
      await log.close();
      await database.close();
      await proxy.close();
    },
  };
}
