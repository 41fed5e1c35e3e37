// Real: the built service in one process, PostgreSQL, Redis, HTTP and WebSocket; the ledger's clock is the test's.
import { PostgresDatabase } from '@laddercast/ledger';
import {
  createTestDatabase,
  DatabaseClock,
  emptyTestRedis,
  newInstallation,
  startApp,
  type RunningApp,
  type TestDatabase,
} from '@laddercast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LiveClient } from '../../libs/realtime/test/follower.js';
import { expectProblem, RestClient } from './rest-client.js';

const WITHIN = { timeout: 20_000, interval: 50 };

describe('a pool that rates by periods', () => {
  let testDatabase: TestDatabase;
  let clock: DatabaseClock;
  let app: RunningApp;
  let admin: RestClient;
  let live: LiveClient;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    const database = new PostgresDatabase({ url: testDatabase.url });
    await database.open({ migrate: true });
    await database.close();
    clock = await DatabaseClock.of(testDatabase.url);
    await clock.stopAt(Date.parse('2030-05-05T12:00:00Z'));
    const installation = newInstallation(testDatabase.url, await emptyTestRedis());
    app = await startApp('standalone', installation);
    admin = new RestClient(app.url, installation.adminKey);
    const headers = { authorization: `Bearer ${installation.adminKey}` };
    live = await LiveClient.connect(`${app.url.replace('http', 'ws')}/v1/live`, ['ladder.v1'], { headers });
  });
  afterAll(async () => {
    live?.socket.terminate();
    await app?.stop();
    await clock?.close();
    await testDatabase?.drop();
  });

  const at = (text: string): Promise<void> => clock.stopAt(Date.parse(text));
  const play = (pool: string, gameId: string, places: Record<string, number>, playedAt?: string): Promise<unknown> => {
    const players = Object.entries(places).map(([playerId, place]) => ({ playerId, place }));
    return admin.post('/v1/games', { pool, gameId, players, ...(playedAt && { playedAt }) }, { Prefer: 'wait=2' });
  };

  it('says of its games and players what holds, before its period closes and after', async () => {
    const board = await admin.put('/v1/boards/classic', {
      order: 'desc',
      operator: 'latest',
      windows: ['alltime', 'monthly'],
    });
    expect(board.status, board.text).toBe(201);
    const made = await admin.put('/v1/pools/classic', { algorithm: 'fide', board: 'classic' });
    expect(made.status, made.text).toBe(201);
    expect(made.body).toMatchObject({
      update: 'per-period',
      periods: { every: 'monthly', timeZone: 'UTC', graceSeconds: 86_400 },
    });
    expect((await admin.get('/v1/pools/classic')).body).toMatchObject({
      period: {
        period: 'monthly:2030-05',
        startsAt: '2030-05-01T00:00:00.000Z',
        endsAt: '2030-06-01T00:00:00.000Z',
        closesAt: '2030-06-02T00:00:00.000Z',
      },
    });
    live.send({ type: 'subscribe', id: 'r', channel: 'rating', pool: 'classic', playerId: 'ada' });
    await expect.poll(() => live.frames.map(({ type }) => type), WITHIN).toContain('snapshot');
    expect(await play('classic', 'g1', { ada: 1, bob: 2 })).toMatchObject({ status: 200, body: { rated: null } });
    expect(await play('classic', 'g2', { ada: 1, cy: 1 })).toMatchObject({ status: 200, body: { rated: null } });
    expect((await admin.get('/v1/pools/classic')).body).toMatchObject({ pending: 2, players: 0, games: 2 });
    expectProblem(await admin.get('/v1/pools/classic/players/ada'), 'RATING_NOT_FOUND');

    await at('2030-06-02T00:00:00Z');
    const late = await play('classic', 'g3', { ada: 1, bob: 2 }, '2030-05-31T23:00:00Z');
    expectProblem(late as never, 'PERIOD_CLOSED');
    await expect.poll(async () => (await admin.get('/v1/pools/classic')).body, WITHIN).toMatchObject({ pending: 0 });
    expect((await admin.get('/v1/pools/classic/players/ada')).body).toMatchObject({
      ...{ rating: 1520, deviation: null, games: 2, wins: 1, draws: 1, losses: 0, pending: 0 },
      peak: { rating: 1520, gameId: 'g2' },
    });
    expect((await admin.get('/v1/pools/classic/games/g1')).body).toMatchObject({
      rated: {
        players: [
          { playerId: 'ada', before: 1500, after: 1500, delta: 0, expected: 0.5, k: 40 },
          { playerId: 'bob', before: 1500, after: 1480, delta: -20, expected: 0.5, k: 40 },
        ],
      },
    });
    const { changes } = (await admin.get('/v1/pools/classic/players/ada/history')).body as { changes: object[] };
    expect(changes).toMatchObject([
      { gameId: 'g2', before: 1500, after: 1520, opponents: ['cy'] },
      { gameId: 'g1', before: 1500, after: 1500, opponents: ['bob'] },
    ]);
    const told = (): unknown[] => live.frames.filter(({ type }) => type === 'rating');
    await expect.poll(told, WITHIN).toMatchObject([
      { gameId: 'g1', before: 1500, after: 1500, delta: 0 },
      { gameId: 'g2', before: 1500, after: 1520, delta: 20 },
    ]);
    await expect.poll(top, WITHIN).toEqual(['ada 1520', 'cy 1500', 'bob 1480']);
  });

  it('corrects games whose period is closed: ratings, history and boards are as if it had always been so', async () => {
    const voids = '/v1/pools/classic/voids';
    const dry = await admin.post(`${voids}?dryRun=true`, { gameIds: ['g1'], reason: 'a bot' });
    const moved = [
      { playerId: 'ada', before: 1520, after: 1500, delta: -20 },
      { playerId: 'bob', before: 1480, after: 1500, delta: 20 },
    ];
    expect(dry).toMatchObject({ status: 200, body: { games: 1, players: moved } });
    expect((await admin.get('/v1/pools/classic/players/ada')).body).toMatchObject({ rating: 1520 });
    const made = await admin.post(voids, { gameIds: ['g1'], reason: 'a bot' });
    expect(made).toMatchObject({ status: 200, body: { games: 1, players: moved } });
    expect((await admin.get('/v1/pools/classic/games/g1')).body).toMatchObject({ voided: 'recompute' });
    expectProblem(await admin.get('/v1/pools/classic/players/bob'), 'RATING_NOT_FOUND');
    await expect.poll(top, WITHIN).toEqual(['ada 1500', 'cy 1500']);
    const players = [
      { playerId: 'ada', place: 1 },
      { playerId: 'cy', place: 2 },
    ];
    const result = await admin.put('/v1/pools/classic/games/g2/result', { players, reason: 'typo' });
    expect(result.status, result.text).toBe(200);
    const { changes } = (await admin.get('/v1/pools/classic/players/ada/history')).body as { changes: object[] };
    expect(changes).toMatchObject([{ gameId: 'g2', before: 1500, after: 1520, opponents: ['cy'] }]);
    await expect.poll(top, WITHIN).toEqual(['ada 1520', 'cy 1480']);
  });

  async function top(): Promise<string[]> {
    const { body } = await admin.get('/v1/boards/classic/entries');
    return (body as { entries: { playerId: string; score: number }[] }).entries.map(
      ({ playerId, score }) => `${playerId} ${score}`,
    );
  }

  it('is less sure of who stays idle with each period that closes', async () => {
    await at('2030-07-01T12:00:00Z');
    const periods = { every: 'daily', timeZone: 'Europe/Berlin', graceSeconds: 3600 };
    const body = { algorithm: 'glicko2', update: 'per-period', periods };
    expect((await admin.put('/v1/pools/days', body)).status).toBe(201);
    await play('days', 'g1', { ada: 1, bob: 2 });
    const read = async (time: string): Promise<{ deviation: number; storedDeviation: number; volatility: number }> => {
      await at(time);
      await expect.poll(async () => (await admin.get('/v1/pools/days')).body, WITHIN).toMatchObject({ pending: 0 });
      return (await admin.get('/v1/pools/days/players/ada')).body as never;
    };
    // Midnight in Berlin is 22:00 UTC; an hour of grace.
    const first = await read('2030-07-01T23:00:00Z');
    expect(first.deviation).toBe(first.storedDeviation);
    expect((await read('2030-07-02T22:59:59Z')).deviation).toBe(first.deviation);
    const grown = (count: number): number =>
      Math.sqrt(first.deviation ** 2 + count * (first.volatility * 173.7178) ** 2);
    expect((await read('2030-07-02T23:00:00Z')).deviation).toBeCloseTo(grown(1), 9);
    expect((await read('2030-07-11T23:00:00Z')).deviation).toBeCloseTo(grown(10), 9);
    const { body: said } = await admin.post('/v1/pools/days/predictions', { sides: [['ada'], ['bob']] });
    expect(said).toMatchObject({ draw: null });
  });
});
