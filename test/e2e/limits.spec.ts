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

const SOON = { interval: 50 };

interface Answer {
  outcome: string;
  windows: string[];
  previousScore: number | null;
  version: number;
  problem?: { code: string; attemptsMax: number; resetsAt: string | null };
}

describe('limits', () => {
  let testDatabase: TestDatabase;
  let clock: DatabaseClock;
  let app: RunningApp;
  let admin: RestClient;
  let live: LiveClient;
  let nowMs = Date.parse('2030-05-05T12:00:00Z');

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    const database = new PostgresDatabase({ url: testDatabase.url });
    await database.open({ migrate: true });
    await database.close();
    clock = await DatabaseClock.of(testDatabase.url);
    await clock.stopAt(nowMs);
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

  const later = async (ms: number): Promise<void> => clock.stopAt((nowMs += ms));

  async function submit(board: string, playerId: string, score: number, more: object = {}): Promise<Answer> {
    const response = await admin.post(
      `/v1/boards/${board}/scores`,
      { playerId, score, ...more },
      { Prefer: 'wait=10' },
    );
    expect(response.status, response.text).toBe(200);
    return response.body as Answer;
  }

  const rows = async (board: string, query: string): Promise<string[]> => {
    const response = await admin.get(`/v1/boards/${board}/${query}`);
    expect(response.status, response.text).toBe(200);
    const { entries, total } = response.body as { entries: { playerId: string; score: number }[]; total: number };
    expect(total).toBe(entries.length);
    return entries.map(({ playerId, score }) => `${playerId} ${score}`);
  };

  it('of entries take the last out of everything that shows them', async () => {
    const definition = {
      order: 'desc',
      operator: 'best',
      windows: ['alltime', 'daily'],
      scopes: ['global', 'region', 'guild'],
      sharding: { by: 'hash', count: 3 },
      push: { intervalMs: 100 },
    };
    const board = await admin.makeBoard('few', definition);
    for (const player of ['ada', 'bob', 'cy', 'dan']) {
      await admin.put(`/v1/players/${player}`, { displayName: player, region: 'EU' });
    }
    await admin.put('/v1/guilds/red', { displayName: 'Red' });
    for (const player of ['bob', 'dan']) await admin.put(`/v1/guilds/red/members/${player}`);
    for (const [player, score] of [
      ['ada', 40],
      ['bob', 30],
      ['cy', 20],
      ['dan', 10],
    ] as const) {
      await submit(board, player, score);
    }
    await expect.poll(() => rows(board, 'guilds'), SOON).toEqual(['red 40']);
    const channels = {
      top: { channel: 'top' },
      eu: { channel: 'top', scope: 'region:EU' },
      guilds: { channel: 'guilds' },
      near: { channel: 'player', playerId: 'bob', around: 2 },
    };
    for (const [id, channel] of Object.entries(channels)) {
      expect((await live.ask({ type: 'subscribe', id, board, ...channel })).type).toBe('snapshot');
    }
    expect(live.list('top').places()).toEqual(['1 ada', '2 bob', '3 cy', '4 dan']);

    const limited = await admin.put(`/v1/boards/${board}`, { ...definition, limits: { entriesMax: 2 } });
    expect(limited.status, limited.text).toBe(200);
    const best = ['ada 40', 'bob 30'];
    for (const list of [
      'entries',
      `entries?window=daily:${new Date(nowMs).toISOString().slice(0, 10)}`,
      'entries?scope=region:EU',
    ]) {
      await expect.poll(() => rows(board, list), SOON).toEqual(best);
    }
    await expect.poll(() => rows(board, 'entries?scope=guild:red'), SOON).toEqual(['bob 30']);
    await expect.poll(() => rows(board, 'guilds'), SOON).toEqual(['red 30']);
    expectProblem(await admin.get(`/v1/boards/${board}/players/dan`), 'ENTRY_NOT_FOUND');
    expect((await admin.get(`/v1/boards/${board}/rank?score=5`)).body).toMatchObject({ rank: 3, total: 2 });
    const { body } = await admin.post(`/v1/boards/${board}/lookups`, { playerIds: ['cy', 'bob'] });
    expect((body as { entries: unknown[] }).entries).toEqual([null, expect.objectContaining({ rank: 2 })]);
    for (const id of ['top', 'eu', 'near']) {
      await expect.poll(() => live.list(id).places(), SOON).toEqual(['1 ada', '2 bob']);
    }
    await expect.poll(() => live.list('guilds').rows.get('red'), SOON).toMatchObject({ score: 30 });

    // Whoever was removed comes back with any score, in the place of the last.
    const back = await submit(board, 'dan', 35);
    expect(back).toMatchObject({ outcome: 'created', previousScore: null });
    await expect.poll(() => rows(board, 'entries'), SOON).toEqual(['ada 40', 'dan 35']);
    await expect.poll(() => rows(board, 'guilds'), SOON).toEqual(['red 35']);
    await expect.poll(() => live.list('top').places(), SOON).toEqual(['1 ada', '2 dan']);
    for (const id of Object.keys(channels)) expect(live.list(id).gaps, id).toBe(0);
  });

  it('of time take out what nobody renews', async () => {
    const board = await admin.makeBoard('brief', { limits: { entryLifetimeSeconds: 3600 } });
    await submit(board, 'ada', 40);
    await submit(board, 'bob', 30);
    await later(3_000_000);
    expect(await submit(board, 'bob', 20)).toMatchObject({ outcome: 'unchanged' });
    await later(600_000);
    await expect.poll(() => rows(board, 'entries'), SOON).toEqual(['bob 30']);
    expect(await submit(board, 'ada', 1)).toMatchObject({ outcome: 'created', previousScore: null });
    await expect.poll(() => rows(board, 'entries'), SOON).toEqual(['bob 30', 'ada 1']);
  });

  it('of columns refuse what is outside, of whoever sends it, and keep nothing of it', async () => {
    const columns = [
      { name: 'moves', order: 'asc' },
      { name: 'constructor', order: 'asc' },
    ];
    const limits = { columns: { moves: { min: 1, max: 500 } } };
    const board = await admin.makeBoard('moved', { columns, limits });
    expect((await admin.get(`/v1/boards/${board}`)).body).toMatchObject({ limits });
    const run = (moves: number) => ({
      ...{ playerId: 'ada', score: 5, submissionId: 'm' },
      columns: { moves, constructor: -1e9 },
    });
    const scores = `/v1/boards/${board}/scores`;
    for (const moves of [0, 501]) {
      const problem = expectProblem(await admin.post(scores, run(moves)), 'COLUMN_OUT_OF_BOUNDS');
      expect(problem).toMatchObject({ status: 422, column: 'moves', min: 1, max: 500 });
    }
    const set = { score: 5, columns: run(0).columns, reason: 'try' };
    expectProblem(await admin.put(`/v1/boards/${board}/players/ada`, set), 'COLUMN_OUT_OF_BOUNDS');
    expect((await admin.post(scores, run(500))).body).toMatchObject({ outcome: 'created', replayed: false });
    // One bound alone.
    await admin.put(`/v1/boards/${board}`, {
      operator: 'best',
      order: 'desc',
      columns,
      limits: { columns: { moves: { max: 9 } } },
    });
    expectProblem(await admin.post(scores, { ...run(10), submissionId: 'n' }), 'COLUMN_OUT_OF_BOUNDS');
    expect((await admin.post(scores, { ...run(-3), submissionId: 'o' })).body).toMatchObject({ outcome: 'improved' });
  });

  it('of attempts refuse one more, by itself and in a batch', async () => {
    const board = await admin.makeBoard('thrice', { windows: ['daily', 'alltime'], limits: { attemptsMax: 3 } });
    const today = `daily:${new Date(nowMs).toISOString().slice(0, 10)}`;
    const tomorrow = new Date(nowMs + 86_400_000).toISOString().slice(0, 10);
    const first = await submit(board, 'ada', 5, { submissionId: 'one' });
    expect(first.windows).toEqual([today, 'alltime']);
    const submissions = [1, 2, 3, 4].map((score) => ({ board, playerId: 'ada', score, submissionId: `b${score}` }));
    const { body } = await admin.post('/v1/scores', { submissions });
    const { results } = body as { results: Answer[] };
    expect(results.map(({ outcome, problem }) => outcome ?? problem!.code)).toEqual([
      'unchanged',
      'unchanged',
      'ATTEMPTS_EXHAUSTED',
      'ATTEMPTS_EXHAUSTED',
    ]);
    expect(results[3]!.problem).toMatchObject({ attemptsMax: 3, resetsAt: `${tomorrow}T00:00:00.000Z` });
    const scores = `/v1/boards/${board}/scores`;
    const named = await admin.post(scores, { playerId: 'ada', score: 9, window: 'alltime' });
    expect(expectProblem(named, 'ATTEMPTS_EXHAUSTED')).toMatchObject({ attemptsMax: 3, resetsAt: null });
    // A repetition is answered as it was, and costs nothing.
    expect(await submit(board, 'ada', 5, { submissionId: 'one' })).toMatchObject({
      replayed: true,
      windows: first.windows,
      version: first.version,
    });
    expect((await admin.delete(`/v1/boards/${board}/players/ada`)).status).toBe(200);
    expectProblem(await admin.post(scores, { playerId: 'ada', score: 9 }), 'ATTEMPTS_EXHAUSTED');
    await later(86_400_000);
    expect((await submit(board, 'ada', 9)).windows).toEqual([`daily:${tomorrow}`]);
  });
});
