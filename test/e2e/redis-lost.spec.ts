// Real: the built service; its Redis is killed and comes back empty, or is emptied while the connection lives, while scores
// are submitted and read.
import { createTestDatabase, newInstallation, startApp, type RunningApp, type TestDatabase } from '@laddercast/testing';
import supertest from 'supertest';
import { WebSocket } from 'ws';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Redis } from '../integration/nodes/redis-client.js';
import { startRedis, type RedisProcess } from '../integration/nodes/redis-process.js';

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
  });
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
      .poll(async () => (await supertest(app.url).get('/v1/boards/lost/entries?limit=1')).body.total)
      .toBe(PLAYERS + submitted);
  });

  it('never shows a part of a board either when it is emptied on a living connection', async () => {
    const all = (body: { total: number }): void => expect(body.total).toBeGreaterThanOrEqual(PLAYERS);
    const reads: [path: string, check: (body: never) => void][] = [
      ['entries?limit=10', all],
      ['entries?limit=50&offset=300', all],
      ['players/p7?around=2', (body: { entry: { rank: number } }) => expect(body.entry.rank).toBe(PLAYERS - 7)],
      ['players/p7?accuracy=estimated', (body: { entry: { score: number } }) => expect(body.entry.score).toBe(7)],
      ['rank?score=100.5', (body: { rank: number }) => expect(body.rank).toBe(PLAYERS - 100)],
      ['percentiles?at=50&accuracy=exact', all],
    ];
    const isRead = async ([path]: (typeof reads)[number]): Promise<boolean> =>
      (await supertest(app.url).get(`/v1/boards/lost/${path}`)).status === 200;
    const areAllRead = async (): Promise<boolean> => (await Promise.all(reads.map(isRead))).every(Boolean);
    // Whoever lived through the test before has scores below all of these players.
    await expect.poll(areAllRead).toBe(true);
    const socket = new WebSocket(`${app.url.replace('http', 'ws')}/v1/live`, ['ladder.v1']);
    const frames: { type: string; total?: number }[] = [];
    socket.on('message', (data: Buffer) => frames.push(JSON.parse(String(data)) as (typeof frames)[number]));
    await new Promise((resolve) => socket.once('open', resolve));
    const channels = [
      { channel: 'top', limit: 10 },
      { channel: 'player', playerId: 'p7', around: 1 },
    ];
    for (const [id, one] of channels.entries()) {
      socket.send(JSON.stringify({ type: 'subscribe', id: String(id), board: 'lost', ...one }));
    }
    await expect.poll(() => frames.filter(({ type }) => type === 'snapshot').length).toBe(2);

    const direct = new Redis(redis.url);
    let refused = 0;
    for (let round = 0; round < 3; round += 1) {
      await direct.flushall();
      for (const untilMs = Date.now() + 2500; Date.now() < untilMs;) {
        const score = { playerId: `late${round}`, score: -Date.now() };
        await supertest(app.url).post('/v1/boards/lost/scores').set(admin).send(score).expect(200);
        const answers = await Promise.all(reads.map(([path]) => supertest(app.url).get(`/v1/boards/lost/${path}`)));
        for (const [at, { status, body }] of answers.entries()) {
          if (status === 503) refused += 1;
          else {
            expect(status, reads[at]![0]).toBe(200);
            reads[at]![1](body as never);
          }
        }
      }
    }
    direct.disconnect();
    expect(refused).toBeGreaterThan(0);
    await expect.poll(areAllRead).toBe(true);
    for (const { total } of frames) if (total !== undefined) expect(total).toBeGreaterThanOrEqual(PLAYERS);
    socket.close();
  });

  it('has pings go on while it is away, which do not say that lists are known as of then', async () => {
    const socket = new WebSocket(`${app.url.replace('http', 'ws')}/v1/live`, ['ladder.v1']);
    const asOfMs: number[] = [];
    let snapshots = 0;
    socket.on('message', (data: Buffer) => {
      const frame = JSON.parse(String(data)) as { type: string; asOf: string };
      if (frame.type === 'snapshot') snapshots += 1;
      if (frame.type === 'ping') asOfMs.push(Date.parse(frame.asOf));
    });
    await new Promise((resolve) => socket.once('open', resolve));
    await expect.poll(async () => (await supertest(app.url).get('/v1/boards/lost/entries')).status).toBe(200);
    socket.send(JSON.stringify({ type: 'subscribe', id: '1', board: 'lost', channel: 'top', limit: 10 }));
    await expect.poll(() => snapshots).toBe(1);
    await expect.poll(() => asOfMs.length, { timeout: 20_000 }).toBeGreaterThan(1);
    await redis.stop();
    const awayAtMs = Date.now();
    const heard = asOfMs.length;
    await expect.poll(() => asOfMs.length, { timeout: 20_000 }).toBeGreaterThan(heard + 2);
    expect(asOfMs.at(-1)).toBeLessThanOrEqual(awayAtMs);
    redis = await startRedis({ port: redis.port });
    await expect.poll(() => asOfMs.at(-1), { timeout: 60_000 }).toBeGreaterThan(awayAtMs);
    socket.close();
  });
});
