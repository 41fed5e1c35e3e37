// Real: the built service in one process, with its PostgreSQL and Redis.
import { startStandalone, type RunningStandalone } from '@laddercast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectProblem, RestClient } from './rest-client.js';

const SOON = { timeout: 30_000, interval: 50 };

describe('boards that a rating pool feeds', () => {
  let service: RunningStandalone;
  let admin: RestClient;
  let writer: RestClient;
  let made = 0;

  beforeAll(async () => {
    service = await startStandalone();
    admin = new RestClient(service.url, service.adminKey);
    writer = admin.as(await admin.makeKey('scores:write'));
  }, 90_000);
  afterAll(() => service?.stop());

  const makeFed = async (pool: object = {}, board: object = {}): Promise<{ board: string; pool: string }> => {
    const id = `fed-${(made += 1)}`;
    await admin.makeBoard(id, { order: 'desc', operator: 'latest', ...board });
    const put = await admin.put(`/v1/pools/${id}`, { algorithm: 'elo', board: id, ...pool });
    expect(put.status, put.text).toBe(201);
    return { board: id, pool: id };
  };
  const play = async (pool: string, gameId: string, places: Record<string, number>): Promise<void> => {
    const players = Object.entries(places).map(([playerId, place]) => ({ playerId, place }));
    const response = await writer.post('/v1/games', { pool, gameId, players });
    expect(response.status, response.text).toBe(200);
  };
  const linesOf = async (board: string, query = ''): Promise<string[]> => {
    const { body } = await admin.get(`/v1/boards/${board}/entries${query}`);
    return (body as { entries: { playerId: string; score: number }[] }).entries.map(
      ({ playerId, score }) => `${playerId} ${score}`,
    );
  };

  it('rank the players of its games, in each window, with what is in their columns', async () => {
    const columns = [{ name: 'played', order: 'desc' }];
    const boards = [{ board: 'fed-1', value: 'gain', columns: { played: 'games' } }];
    const given = { board: undefined, boards };
    const { board, pool } = await makeFed(given, { columns, windows: ['alltime', 'daily'] });
    await play(pool, 'g1', { ada: 1, bob: 2 });
    await expect.poll(() => linesOf(board), SOON).toEqual(['ada 16', 'bob -16']);
    await play(pool, 'g2', { cy: 1, bob: 2, ada: 3 });
    await expect.poll(async () => (await linesOf(board, '?window=daily'))[0], SOON).toMatch(/^cy /);
    const played = async (): Promise<unknown> =>
      ((await admin.get(`/v1/boards/${board}/players/bob`)).body as { entry: { columns: object } }).entry.columns;
    await expect.poll(played, SOON).toEqual({ played: 2 });
  });

  it('are refused to submissions and operators, one by one and in a batch', async () => {
    const { board, pool } = await makeFed();
    const refused = await writer.post(`/v1/boards/${board}/scores`, { playerId: 'ada', score: 9 });
    expect(expectProblem(refused, 'BOARD_IS_FED').detail).toContain(`"${pool}"`);
    const batch = await writer.post('/v1/scores', { submissions: [{ board, playerId: 'ada', score: 9 }] });
    expect((batch.body as { results: object[] }).results).toMatchObject([{ problem: { code: 'BOARD_IS_FED' } }]);
    const set = await admin.put(`/v1/boards/${board}/players/ada`, { score: 9, reason: 'why' });
    expectProblem(set, 'BOARD_IS_FED');
    expectProblem(await admin.delete(`/v1/boards/${board}`), 'BOARD_IN_USE');
    const other = await admin.put('/v1/pools/another', { algorithm: 'elo', board });
    expectProblem(other, 'BOARD_IN_USE');
    // Left by its pool it takes submissions.
    expect((await admin.put(`/v1/pools/${pool}`, { algorithm: 'elo' })).status).toBe(200);
    const taken = await writer.post(`/v1/boards/${board}/scores`, { playerId: 'ada', score: 9 });
    expect(taken.status, taken.text).toBe(200);
  });

  it('are filled by those who played before, and again after a reset', async () => {
    const { board, pool } = await makeFed({ board: undefined });
    await play(pool, 'g1', { ada: 1, bob: 2 });
    expect((await admin.put(`/v1/pools/${pool}`, { algorithm: 'elo', board })).status).toBe(200);
    await expect.poll(() => linesOf(board), SOON).toEqual(['ada 1516', 'bob 1484']);
    expect((await admin.post(`/v1/admin/boards/${board}/reset`)).status).toBeLessThan(300);
    await expect.poll(() => linesOf(board), SOON).toEqual(['ada 1516', 'bob 1484']);
  });

  it('let go of who is not rankable any more, at that moment', async () => {
    // About 20 seconds.
    const { board, pool } = await makeFed({ rankable: { inactiveDaysMax: 0.00023 } });
    await play(pool, 'g1', { ada: 1, bob: 2 });
    await expect.poll(() => linesOf(board), SOON).toEqual(['ada 1516', 'bob 1484']);
    await expect.poll(() => linesOf(board), { ...SOON, timeout: 60_000 }).toEqual([]);
    const { body } = await admin.get(`/v1/pools/${pool}/players/ada`);
    expect(body).toMatchObject({ rating: 1516, rankable: false, missing: ['inactiveDaysMax'] });
  }, 120_000);
});
