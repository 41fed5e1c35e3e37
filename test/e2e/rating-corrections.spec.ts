// Real: the built service in one process, with its PostgreSQL and Redis.
import { startStandalone, type RunningStandalone } from '@laddercast/testing';
import type { Response } from 'supertest';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { expectProblem, RestClient } from './rest-client.js';

const GAMES_MAX = 5;

interface Correction {
  games: number;
  players: { playerId: string; before: number; after: number; delta: number }[];
}

describe('corrections of games', () => {
  let service: RunningStandalone;
  let anonymous: RestClient;
  let admin: RestClient;
  let writer: RestClient;
  let pool: string;
  let made = 0;

  beforeAll(async () => {
    service = await startStandalone({ RECOMPUTE_GAMES_MAX: String(GAMES_MAX) });
    anonymous = new RestClient(service.url);
    admin = anonymous.as(service.adminKey);
    writer = anonymous.as(await admin.makeKey('scores:write'));
  }, 90_000);
  afterAll(() => service?.stop());

  beforeEach(async () => {
    pool = `pool-${(made += 1)}`;
    expect((await admin.put(`/v1/pools/${pool}`, { algorithm: 'elo' })).status).toBe(201);
    await play('g1', { ada: 1, bob: 2 });
    await play('g2', { bob: 1, cy: 2 });
    await play('g3', { ada: 1, bob: 1 });
  });

  const byPlace = (places: Record<string, number>): object[] =>
    Object.entries(places).map(([playerId, place]) => ({ playerId, place }));
  const play = async (gameId: string, places: Record<string, number>): Promise<Response> => {
    const response = await writer.post('/v1/games', { pool, gameId, players: byPlace(places) }, { Prefer: 'wait=10' });
    expect(response.status, response.text).toBe(200);
    return response;
  };
  const voidGame = (gameId: string, body: object = { reason: 'cheated' }, query = ''): Promise<Response> =>
    admin.send('DELETE', `/v1/pools/${pool}/games/${gameId}${query}`, body);
  const ratings = async (...players: string[]): Promise<string[]> =>
    Promise.all(
      players.map(async (player) => {
        const { body } = await anonymous.get(`/v1/pools/${pool}/players/${player}`);
        return (body as { rating: number }).rating.toFixed(6);
      }),
    );
  const done = ({ status, body, text }: Response): Correction => {
    expect(status, text).toBe(200);
    return body as Correction;
  };

  it('leave the ratings that would be had the game never been; a dry run says so before', async () => {
    const before = await ratings('ada', 'bob', 'cy');
    expect(before).toEqual(['1515.297533', '1501.438774', '1483.263693']);
    const dry = done(await voidGame('g1', { reason: 'cheated' }, '?dryRun'));
    expect(await ratings('ada', 'bob', 'cy')).toEqual(before);
    expect(dry.players.map(({ playerId, after }) => [playerId, after.toFixed(6)])).toEqual([
      ['ada', '1500.736307'],
      ['bob', '1515.263693'],
      ['cy', '1484.000000'],
    ]);
    for (const { before: from, after, delta } of dry.players) expect(delta).toBe(after - from);
    expect(done(await voidGame('g1'))).toEqual(dry);
    expect(await ratings('ada', 'bob', 'cy')).toEqual(['1500.736307', '1515.263693', '1484.000000']);
    expect((await anonymous.get(`/v1/pools/${pool}/games/g1`)).body).toMatchObject({
      voided: 'recompute',
      rated: { reason: 'VOID' },
    });
    const { changes } = (await anonymous.get(`/v1/pools/${pool}/players/ada/history`)).body as { changes: object[] };
    expect(changes).toMatchObject([{ kind: 'recomputed', gameId: 'g3' }]);
    const { acts } = (await admin.get('/v1/admin/audit?action=pool.void')).body as { acts: object[] };
    expect(acts[0]).toMatchObject({ subject: pool, details: { reason: 'cheated', gameIds: ['g1'], games: 1 } });
  });

  it('keep the id of a void game: the same body is a replay, and a second void is refused', async () => {
    await voidGame('g1');
    expect((await play('g1', { ada: 1, bob: 2 })).body).toMatchObject({ replayed: true });
    expectProblem(await voidGame('g1'), 'GAME_VOIDED');
    const players = byPlace({ ada: 1, bob: 2 });
    const result = await admin.put(`/v1/pools/${pool}/games/g1/result`, { players, reason: 'late' });
    expectProblem(result, 'GAME_VOIDED');
    expectProblem(await voidGame('g9'), 'GAME_NOT_FOUND');
  });

  it('can give opponents back what they lost; the points are new, and said', async () => {
    const board = { order: 'desc', operator: 'latest', windows: ['alltime'] };
    expect((await admin.put(`/v1/boards/${pool}`, board)).status).toBe(201);
    const definition = { algorithm: 'elo', onVoid: 'refund', board: pool };
    expect((await admin.put(`/v1/pools/${pool}`, definition)).body).toMatchObject({ onVoid: 'refund' });
    const dry = done(await voidGame('g1', { reason: 'cheated', mode: 'refund' }, '?dryRun'));
    expect(dry.players.map(({ playerId, after }) => [playerId, after.toFixed(6)])).toEqual([['bob', '1517.438774']]);
    expect((await anonymous.get(`/v1/pools/${pool}`)).body).toMatchObject({ refunded: 0 });
    expect(done(await voidGame('g1'))).toEqual(dry);
    expect(await ratings('ada', 'bob')).toEqual(['1515.297533', '1517.438774']);
    expect((await anonymous.get(`/v1/pools/${pool}`)).body).toMatchObject({ refunded: 16, games: 3 });
    const { body } = await anonymous.get(`/v1/pools/${pool}/players/bob/history`);
    const [refund, ...games] = (body as { changes: object[] }).changes;
    expect(refund).toMatchObject({
      ...{ kind: 'refund', gameId: 'g1', opponents: ['ada'], expected: null, k: null, outcome: null },
      ...{ before: 1501.4387739660467, after: 1517.4387739660467, delta: 16, recomputedBy: null },
    });
    expect(games).toMatchObject([{ gameId: 'g3' }, { gameId: 'g2' }, { gameId: 'g1', delta: -16 }]);
    const top = async (): Promise<unknown> => (await anonymous.get(`/v1/boards/${pool}/entries`)).body;
    const entries = [{ playerId: 'bob' }, { playerId: 'ada' }, { playerId: 'cy' }];
    await expect.poll(top, { timeout: 20_000 }).toMatchObject({ entries });
    expect((await anonymous.get(`/v1/pools/${pool}/games/g1`)).body).toMatchObject({
      voided: 'refund',
      rated: {
        players: [
          { playerId: 'ada', delta: 16 },
          { playerId: 'bob', delta: -16 },
        ],
      },
    });
  });

  it('can be of all games of a player, or only a mark', async () => {
    const marked = done(await voidGame('g3', { reason: 'not counted', mode: 'keep' }));
    expect(marked).toEqual({ games: 1, players: [] });
    expect(await ratings('ada')).toEqual(['1515.297533']);
    const of = (query = ''): Promise<Response> =>
      admin.post(`/v1/pools/${pool}/voids${query}`, { playerId: 'bob', reason: 'a bot' });
    const dry = done(await of('?dryRun=true'));
    expect(dry.games).toBe(2);
    expect(done(await of())).toEqual(dry);
    // What was only marked still counts.
    expect((await anonymous.get(`/v1/pools/${pool}`)).body).toMatchObject({ players: 2, pending: 0, games: 3 });
    expect(await ratings('ada', 'bob')).toEqual(['1500.000000', '1500.000000']);
    expectProblem(await anonymous.get(`/v1/pools/${pool}/players/cy`), 'RATING_NOT_FOUND');
  });

  it('give a game its real result, in its old place', async () => {
    const players = byPlace({ ada: 2, bob: 1 });
    const response = await admin.put(`/v1/pools/${pool}/games/g1/result`, { players, reason: 'swapped' });
    expect(done(response).games).toBe(1);
    const { body } = await anonymous.get(`/v1/pools/${pool}/games/g1`);
    expect(body).toMatchObject({
      voided: null,
      players: [
        { playerId: 'ada', place: 2 },
        { playerId: 'bob', place: 1 },
      ],
      rated: {
        players: [
          { playerId: 'ada', after: 1484 },
          { playerId: 'bob', after: 1516 },
        ],
      },
    });
    const tooMany = byPlace({ ada: 1 });
    const refused = await admin.put(`/v1/pools/${pool}/games/g1/result`, { players: tooMany, reason: 'x' });
    expectProblem(refused, 'VALIDATION_FAILED');
  });

  it('are refused whole where too much would be computed again, and change nothing', async () => {
    for (let game = 4; game <= 4 + GAMES_MAX; game += 1) await play(`g${game}`, { ada: 1, bob: 2 });
    const before = await ratings('ada', 'bob', 'cy');
    for (const query of ['?dryRun', '']) {
      const problem = expectProblem(await voidGame('g1', { reason: 'cheated' }, query), 'RECOMPUTE_TOO_LARGE');
      expect(problem).toMatchObject({ gamesMax: GAMES_MAX });
    }
    expect(await ratings('ada', 'bob', 'cy')).toEqual(before);
    expect((await anonymous.get(`/v1/pools/${pool}/games/g1`)).body).toMatchObject({ voided: null });
  });

  it('say what is wrong with what is asked', async () => {
    const voids = `/v1/pools/${pool}/voids`;
    expectProblem(await admin.post(voids, { reason: 'all of them' }), 'VALIDATION_FAILED');
    expectProblem(await admin.post(voids, { playerId: 'ada' }), 'VALIDATION_FAILED');
    expectProblem(await admin.post(voids, { from: 'yesterday', reason: 'x' }), 'VALIDATION_FAILED');
    expectProblem(await admin.post(voids, { playerId: 'ada', mode: 'undo', reason: 'x' }), 'VALIDATION_FAILED');
    expectProblem(await voidGame('g1', {}), 'VALIDATION_FAILED');
    const players = byPlace({ ada: 1, bob: 2 });
    for (const gameId of ['%00', '%0A', 'x'.repeat(129)]) {
      expectProblem(await voidGame(gameId), 'VALIDATION_FAILED');
      const result = `/v1/pools/${pool}/games/${gameId}/result`;
      expectProblem(await admin.put(result, { players, reason: 'x' }), 'VALIDATION_FAILED');
    }
    expectProblem(await admin.post('/v1/pools/none/voids', { playerId: 'ada', reason: 'x' }), 'POOL_NOT_FOUND');
    expectProblem(await writer.send('DELETE', `/v1/pools/${pool}/games/g1`, { reason: 'x' }), 'FORBIDDEN');
    expect(await ratings('ada')).toEqual(['1515.297533']);
  });
});
