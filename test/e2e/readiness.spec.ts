// Real: the built service in one process, PostgreSQL with a database of its own, and a Redis that is stopped and started.
import { PostgresDatabase } from '@laddercast/ledger';
import {
  createTestDatabase,
  logsUnderTest,
  newInstallation,
  settingsOfLog,
  startApp,
  type RunningApp,
  type TestDatabase,
} from '@laddercast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Redis } from '../integration/nodes/redis-client.js';
import { startRedis, type RedisProcess } from '../integration/nodes/redis-process.js';
import { RestClient } from './rest-client.js';

interface Component {
  state: string;
  since: string;
  shards?: Component[];
}

const AT = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as string;

describe.each(logsUnderTest())('GET /health/ready, over %s', (log) => {
  let testDatabase: TestDatabase;
  let database: PostgresDatabase;
  let redis: RedisProcess;
  let app: RunningApp;
  let anyone: RestClient;

  const look = async (): Promise<{ status: number; missing: string[]; components: Record<string, Component> }> => {
    const { status, body } = await anyone.get('/health/ready');
    return { ...(body as { missing: string[]; components: Record<string, Component> }), status };
  };

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    redis = await startRedis();
    app = await startApp('standalone', {
      ...newInstallation(testDatabase.url, redis.url),
      settings: settingsOfLog(log),
    });
    anyone = new RestClient(app.url);
    database = new PostgresDatabase({ url: testDatabase.url });
    await database.open({ migrate: false });
  });
  afterAll(async () => {
    await app?.stop();
    await redis?.stop();
    await database?.close();
    await testDatabase?.drop();
  });

  it('names each component, with its state and since when', async () => {
    const ok = { state: 'ok', since: AT };
    const { status, missing, components } = await look();
    expect({ status, missing }).toEqual({ status: 200, missing: [] });
    expect(components).toEqual({
      postgresql: ok,
      redis: { ...ok, shards: [{ ...ok, slots: 'all' }] },
      ranks: ok,
      schema: { ...ok, version: expect.stringMatching(/^\w+\d{13}$/) as string },
      ...(log === 'kafka' && { kafka: ok }),
    });
    // A second look finds nothing new.
    expect((await look()).components).toEqual(components);
  });

  it('says since when Redis is gone, and when it is back', async () => {
    const before = (await look()).components['redis']!.since;
    await redis.stop();
    await expect.poll(async () => (await look()).status).toBe(503);
    const gone = await look();
    expect(gone.missing).toEqual(['redis']);
    expect(gone.components['redis']).toMatchObject({ state: 'missing', shards: [{ state: 'missing', slots: 'all' }] });
    expect(gone.components['redis']!.since > before).toBe(true);
    expect(gone.components['postgresql']!.state).toBe('ok');
    expect((await anyone.get('/health/live')).status).toBe(200);
    redis = await startRedis({ port: redis.port });
    await expect.poll(async () => (await look()).status).toBe(200);
    expect((await look()).components['redis']!.since > gone.components['redis']!.since).toBe(true);
  });

  it('says that Redis refuses it, and what to do, where its password is another one now', async () => {
    await redis.stop();
    redis = await startRedis({ port: redis.port, password: 'changed-meanwhile' });
    const state = async () => (await look()).components['redis'];
    await expect.poll(state).toMatchObject({
      state: 'refused',
      reason: expect.stringMatching(/correct the user and the password of REDIS_URL.*NOAUTH/) as string,
    });
    expect(await look()).toMatchObject({ status: 503, missing: ['redis'] });
    await redis.stop();
    await expect.poll(async () => (await state())!.state).toBe('missing');
    redis = await startRedis({ port: redis.port });
    await expect.poll(async () => (await look()).status).toBe(200);
    expect(await state()).not.toHaveProperty('reason');
  });

  it('says that Redis is a replica now, once in the log, and goes on when it is a master again', async () => {
    const operator = new Redis(redis.port, '127.0.0.1');
    try {
      await operator.replicaof('127.0.0.1', 1);
      const sentence = /REDIS_URL leads to a replica, which takes no writes: it must lead to the master \(READONLY/;
      const state = async () => (await look()).components['redis'];
      await expect.poll(state).toMatchObject({ state: 'refused', reason: expect.stringMatching(sentence) as string });
      for (let looks = 0; looks < 5; looks += 1)
        expect(await look()).toMatchObject({ status: 503, missing: ['redis'] });
      expect(app.output().match(new RegExp(sentence, 'g'))).toHaveLength(1);
      await operator.replicaof('NO', 'ONE');
      await expect.poll(async () => (await look()).status).toBe(200);
    } finally {
      operator.disconnect();
    }
  });

  it('stays ready on a schema of a later release, and says so', async () => {
    await database.query(
      `INSERT INTO ladder_migrations ("timestamp", name) VALUES (9999999999999, 'Later9999999999999')`,
    );
    const { status, components } = await look();
    expect({ status, schema: components['schema'] }).toEqual({
      status: 200,
      schema: { state: 'newer', since: AT, version: 'Later9999999999999' },
    });
    await database.query(`DELETE FROM ladder_migrations WHERE name = 'Later9999999999999'`);
  });
});

describe('a PostgreSQL that answers commits before they are on the disk', () => {
  it('is refused in production, unless that is meant', async () => {
    const testDatabase = await createTestDatabase();
    const redis = await startRedis();
    const name = new URL(testDatabase.url).pathname.slice(1);
    const database = new PostgresDatabase({ url: testDatabase.url });
    await database.open({ migrate: false });
    try {
      await database.query(`ALTER DATABASE ${name} SET synchronous_commit = off`);
      const start = (settings: Record<string, string>): Promise<RunningApp> =>
        startApp('api', { ...newInstallation(testDatabase.url, redis.url), settings });
      const refused = start({ NODE_ENV: 'production', DATABASE_MAY_FORGET: 'false' });
      await expect(refused).rejects.toThrow(/api cannot start: .*synchronous_commit=off.*DATABASE_MAY_FORGET=true/);
      const warned = await start({ DATABASE_MAY_FORGET: 'false' });
      expect(warned.output()).toMatch(/"level":"warn".*synchronous_commit=off/);
      await warned.stop();
      const meant = await start({ NODE_ENV: 'production', DATABASE_MAY_FORGET: 'true' });
      expect(meant.output()).toBe('');
      await meant.stop();
    } finally {
      await database.close();
      await redis.stop();
      await testDatabase.drop();
    }
  });
});
