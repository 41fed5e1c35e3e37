// Real: PostgreSQL, several processes' connections, each through a proxy that can be cut.
import { setTimeout as delay } from 'node:timers/promises';
import { PostgresEventLog } from '@laddercast/event-log';
import { PostgresDatabase } from '@laddercast/ledger';
import {
  createTestDatabase,
  eventLogConformance,
  openTcpProxy,
  OutboxWriter,
  type EventLogHarness,
  type TestDatabase,
} from '@laddercast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

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

  describe('the outbox', () => {
    const BOARD = 1;
    const rowsOf = async (lane: number): Promise<number> => {
      const [row] = await database.query<{ count: number }>(
        'SELECT count(*)::int AS count FROM outbox WHERE lane = $1',
        [lane],
      );
      return row!.count;
    };
    const newLog = (everyMs: number, keepMs: number, groupKeptMs = 60_000): PostgresEventLog =>
      new PostgresEventLog(database, { lanes: LANES, log: () => undefined, trim: { everyMs, keepMs, groupKeptMs } });

    it('is trimmed up to the slowest group, and not sooner than rows are old enough', async () => {
      const log = newLog(50, 0);
      let slowGoesOn = (): void => undefined;
      const slow = new Promise<void>((resolve) => (slowGoesOn = resolve));
      await log.consume('trim-slow', ['entry-changed'], () => slow);
      await log.consume('trim-fast', ['entry-changed'], async () => undefined);
      const positions = await new OutboxWriter(database).write(0, BOARD, ['a', 'b', 'c']);
      await expect.poll(() => log.committed('trim-fast', 0)).toBe(positions[2]);
      await delay(500);
      expect(await rowsOf(0)).toBe(3);
      slowGoesOn();
      await expect.poll(() => rowsOf(0)).toBe(0);
      await log.close();

      const patient = newLog(50, 60_000);
      await patient.consume('trim-slow', ['entry-changed'], async () => undefined);
      await patient.consume('trim-fast', ['entry-changed'], async () => undefined);
      const [kept] = await new OutboxWriter(database).write(0, BOARD, ['d']);
      await expect.poll(() => patient.committed('trim-slow', 0)).toBe(kept);
      await delay(500);
      expect(await rowsOf(0)).toBe(1);
      await patient.close();
    });

    it('keeps no more of what is handled than it may, however young', async () => {
      const trim = { everyMs: 50, keepMs: 60_000, keptMax: 1, groupKeptMs: 60_000 };
      const log = new PostgresEventLog(database, { lanes: LANES, log: () => undefined, trim });
      await log.consume('trim-slow', ['entry-changed'], async () => undefined);
      await log.consume('trim-fast', ['entry-changed'], async () => undefined);
      await new OutboxWriter(database).write(0, BOARD, ['e', 'f', 'g']);
      await expect.poll(() => rowsOf(0)).toBe(1);
      await log.close();
    });

    it('does not wait for a group that nobody has consumed for long', async () => {
      const log = newLog(50, 0, 300);
      const gone = await log.consume('trim-gone', ['entry-changed'], async () => undefined);
      await gone.stop();
      await log.consume('trim-fast', ['entry-changed'], async () => undefined);
      await new OutboxWriter(database).write(0, BOARD, ['e', 'f']);
      await expect.poll(() => rowsOf(0)).toBe(0);
      await log.close();
    });
  });

  eventLogConformance({ harness: () => harness, takeoverMs: 30_000, bulkMs: 60_000 });
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
