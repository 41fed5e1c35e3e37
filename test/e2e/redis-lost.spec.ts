// Real: the built service; its Redis is killed and comes back empty while scores are submitted and read.
import { createTestDatabase, newInstallation, startApp, type RunningApp, type TestDatabase } from '@laddercast/testing';
import supertest from 'supertest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startRedis, type RedisProcess } from '../integration/redis-process.js';

const PLAYERS = 400;

describe('a Redis that is killed and comes back empty', () => {
  let database: TestDatabase;
  let redis: RedisProcess;
  let app: RunningApp;
  let admin: { Authorization: string };

  beforeAll(async () => {
    database = await createTestDatabase();
    redis = await startRedis();
    const installation = newInstallation(database.url, redis.url);
    admin = { Authorization: `Bearer ${installation.adminKey}` };
    app = await startApp('standalone', installation);
    const board = { order: 'desc', operator: 'best', sharding: { by: 'hash', count: 2 }, push: { intervalMs: 100 } };
    await supertest(app.url).put('/v1/boards/lost').set(admin).send(board).expect(201);
    const submissions = Array.from({ length: PLAYERS }, (_, i) => ({ board: 'lost', playerId: `p${i}`, score: i }));
    await supertest(app.url).post('/v1/scores').set(admin).set('Prefer', 'wait=10').send({ submissions }).expect(200);
  }, 60_000);
  afterAll(async () => {
    await app?.stop();
    await redis?.stop();
    await database?.drop();
  });

  it('never shows a part of a board, takes scores all the while, and has everything again by itself', async () => {
    const before = await supertest(app.url).get('/v1/boards/lost/entries?limit=500').expect(200);
    await redis.stop();
    redis = await startRedis({ port: redis.port });
    const untilMs = Date.now() + 20_000;
    let submitted = 0;
    let refused = 0;
    let version = before.body.boardVersion as number;
    for (let whole = 0; whole < 20 && Date.now() < untilMs;) {
      const score = { playerId: `new${submitted}`, score: -1 - submitted };
      const { body } = await supertest(app.url).post('/v1/boards/lost/scores').set(admin).send(score).expect(200);
      expect(body.outcome).toBe('created');
      submitted += 1;
      const read = await supertest(app.url).get('/v1/boards/lost/entries?limit=500&offset=0');
      if (read.status === 503) {
        expect(read.headers['retry-after']).toBeDefined();
        refused += 1;
      } else {
        const names = new Set((read.body.entries as { playerId: string }[]).map(({ playerId }) => playerId));
        expect(Array.from({ length: PLAYERS }, (_, i) => `p${i}`).filter((name) => !names.has(name))).toEqual([]);
        expect(read.body.boardVersion).toBeGreaterThanOrEqual(version);
        version = read.body.boardVersion as number;
        if (refused > 0) whole += 1;
      }
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
    expect(refused).toBeGreaterThan(0);
    await expect
      .poll(async () => (await supertest(app.url).get('/v1/boards/lost/entries?limit=1')).body.total, {
        timeout: 15_000,
      })
      .toBe(PLAYERS + submitted);
  }, 60_000);
});
