// Real: the built service, killed with SIGKILL while it trims and started again on the same PostgreSQL and Redis.
import { PostgresDatabase } from '@laddercast/ledger';
import {
  createTestDatabase,
  emptyTestRedis,
  newInstallation,
  startApp,
  type Installation,
  type RunningApp,
  type TestDatabase,
} from '@laddercast/testing';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RestClient } from './rest-client.js';

const ENTRIES = 12_000;
const KEPT = 400;
const KILLS = 3;

describe('a trim', () => {
  let testDatabase: TestDatabase;
  let database: PostgresDatabase;
  let installation: Installation;
  let app: RunningApp;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    database = new PostgresDatabase({ url: testDatabase.url });
    installation = newInstallation(testDatabase.url, await emptyTestRedis());
    app = await startApp('standalone', installation);
    await database.open({ migrate: false });
  });

  afterAll(async () => {
    await app?.stop();
    await database?.close();
    await testDatabase?.drop();
  });

  const client = (): RestClient => new RestClient(app.url, installation.adminKey);
  const count = async (removed: boolean): Promise<number> => {
    const [row] = await database.query<{ entries: number }>(
      'SELECT count(*)::int AS entries FROM entries WHERE removed = $1',
      [removed],
    );
    return row!.entries;
  };

  it('that is killed again and again removes in the end what it should, once', async () => {
    const definition = { order: 'desc', operator: 'best', sharding: { by: 'hash', count: 2 } };
    const board = await client().makeBoard('cut', definition);
    for (let from = 0; from < ENTRIES; from += 1000) {
      const submissions = Array.from({ length: 1000 }, (_, index) => {
        const n = from + index;
        return { board, playerId: `p${n}`, score: (n * 7919) % 5000 };
      });
      const response = await client().post('/v1/scores', { submissions });
      expect(response.status).toBe(200);
    }
    // Some seconds in all: whoever looks sees it under way.
    await database.query(
      `CREATE FUNCTION slowly() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(0.1); RETURN NULL; END'`,
    );
    await database.query(
      'CREATE TRIGGER slowly AFTER INSERT OR UPDATE ON entries FOR EACH STATEMENT EXECUTE FUNCTION slowly()',
    );
    const limited = await client().put(`/v1/boards/${board}`, { ...definition, limits: { entriesMax: KEPT } });
    expect(limited.status, limited.text).toBe(200);

    const interrupted: number[] = [];
    for (let kill = 0; kill < KILLS; kill += 1) {
      const before = await count(true);
      // Some part of it: then it is under way.
      for (let tries = 0; (await count(true)) < before + 500 && tries < 1500; tries += 1) await sleep(10);
      app.process.kill('SIGKILL');
      await once(app.process, 'exit');
      interrupted.push(await count(true));
      app = await startApp('standalone', installation);
    }
    expect(interrupted[0]).toBeLessThan(ENTRIES - KEPT);
    await database.query('DROP TRIGGER slowly ON entries');
    await expect.poll(() => count(false), { timeout: 60_000, interval: 100 }).toBe(KEPT);
    await sleep(1500);
    expect([await count(false), await count(true)]).toEqual([KEPT, ENTRIES - KEPT]);

    const [wrong] = await database.query<{ wrong: number }>(
      `SELECT count(*)::int AS wrong FROM (
         SELECT removed, row_number() OVER (ORDER BY score DESC, achieved_at_ms, player_id COLLATE "C") AS place
         FROM entries) AS ranked WHERE removed <> (place > $1)`,
      [KEPT],
    );
    expect(wrong!.wrong).toBe(0);
    const kept = await database.query<{ player: string }>(
      `SELECT player_id AS player FROM entries WHERE NOT removed
       ORDER BY score DESC, achieved_at_ms, player_id COLLATE "C"`,
    );
    await expect
      .poll(
        async () => {
          const response = await client().get(`/v1/boards/${board}/entries?limit=500`);
          return (response.body as { entries?: { playerId: string }[] }).entries?.map(({ playerId }) => playerId);
        },
        { timeout: 60_000, interval: 200 },
      )
      .toEqual(kept.map(({ player }) => player));
  });
});
