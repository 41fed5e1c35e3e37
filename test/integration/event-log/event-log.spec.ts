// Real: PostgreSQL, several processes' connections, each through a proxy that can be cut.
import { setTimeout as delay } from 'node:timers/promises';
import { PostgresEventLog } from '@laddercast/event-log';
import { Lanes, PostgresDatabase } from '@laddercast/ledger';
import {
  createTestDatabase,
  eventLogConformance,
  laneRaiseConformance,
  openTcpProxy,
  OutboxWriter,
  type EventLogHarness,
  type LaneRaiseHarness,
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
    const offsetsOf = async (group: string): Promise<number> => {
      const [row] = await database.query<{ count: number }>(
        'SELECT count(*)::int AS count FROM log_offsets WHERE consumer_group = $1',
        [group],
      );
      return row!.count;
    };
    const newLog = (
      everyMs: number,
      keepMs: number,
      groupKeptMs = 60_000,
      lanes = new Lanes(LANES),
    ): PostgresEventLog =>
      new PostgresEventLog(database, { lanes, log: () => undefined, trim: { everyMs, keepMs, groupKeptMs } });

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
      const log = new PostgresEventLog(database, { lanes: new Lanes(LANES), log: () => undefined, trim });
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

    it('keeps what is in a lane that was added for a group that has not begun with it', async () => {
      const maps = [
        { number: 0, count: LANES, since: 0 },
        { number: 1, count: 2 * LANES, since: 1_000_000 },
      ];
      const [known, behind] = [new Lanes(maps), new Lanes(LANES)];
      // Those of other tests are waited for, too.
      await database.query('DELETE FROM log_offsets');
      const log = newLog(50, 0, 60_000, known);
      // On a loaded machine it may be the one that trims.
      const other = newLog(50, 0, 60_000, behind);
      await log.consume('trim-fast', ['entry-changed'], async () => undefined);
      await other.consume('trim-behind', ['entry-changed'], async () => undefined);
      await expect.poll(() => offsetsOf('trim-behind')).toBe(LANES);
      const positions = await new OutboxWriter(database).write(LANES, BOARD, ['a', 'b']);
      await expect.poll(() => log.committed('trim-fast', LANES)).toBe(positions[1]);
      await delay(500);
      expect(await rowsOf(LANES)).toBe(2);
      behind.adopt(maps);
      await expect.poll(() => rowsOf(LANES)).toBe(0);
      await log.close();
      await other.close();
    });
  });

  laneRaiseConformance(openRaised);

  eventLogConformance({ harness: () => harness, takeoverMs: 30_000, bulkMs: 60_000 });
});

async function openRaised(): Promise<LaneRaiseHarness> {
  const testDatabase = await createTestDatabase();
  const database = new PostgresDatabase({ url: testDatabase.url });
  await database.open({ migrate: true });
  return {
    database,
    relayLanes: null,
    openProcess: async () => {
      const lanes = new Lanes(LANES);
      return { ...(await openPostgresProcess(testDatabase.url, lanes)), lanes };
    },
    close: async () => {
      await database.close();
      await testDatabase.drop();
    },
  };
}

async function openPostgresProcess(url: string, lanes = new Lanes(LANES)): ReturnType<EventLogHarness['openProcess']> {
  const through = new URL(url);
  const proxy = await openTcpProxy(through.hostname, Number(through.port || 5432));
  through.host = `127.0.0.1:${proxy.port}`;
  const database = new PostgresDatabase({ url: through.href });
  await database.open({ migrate: false });
  const log = new PostgresEventLog(database, { lanes, log: () => undefined });
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
