// Real: the built service in one process, with its PostgreSQL and Redis.
import { startStandalone, type RunningStandalone } from '@laddercast/testing';
import type { Response } from 'supertest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectProblem, playerToken, RestClient } from './rest-client.js';

const WAIT = { Prefer: 'wait=10' };

interface RatedPlayer {
  playerId: string;
  before: number;
  after: number;
  delta: number;
  expected: number;
  k: number;
}
interface GameAnswer {
  gameId: string;
  replayed: boolean;
  position: number;
  rated: { position: number; players: RatedPlayer[] } | null;
}

describe('rating pools', () => {
  let service: RunningStandalone;
  let anonymous: RestClient;
  let admin: RestClient;
  let writer: RestClient;
  let reader: RestClient;
  let made = 0;

  beforeAll(async () => {
    service = await startStandalone();
    anonymous = new RestClient(service.url);
    admin = anonymous.as(service.adminKey);
    writer = anonymous.as(await admin.makeKey('scores:write'));
    reader = anonymous.as(await admin.makeKey('read'));
  }, 90_000);
  afterAll(() => service?.stop());

  const makePool = async (definition: object = {}): Promise<string> => {
    const id = `pool-${(made += 1)}`;
    const response = await admin.put(`/v1/pools/${id}`, { algorithm: 'elo', ...definition });
    expect(response.status, response.text).toBe(201);
    return id;
  };
  const byPlace = (places: Record<string, number>): object[] =>
    Object.entries(places).map(([playerId, place]) => ({ playerId, place }));
  const play = async (pool: string, gameId: string, places: Record<string, number>): Promise<GameAnswer> => {
    const response = await writer.post('/v1/games', { pool, gameId, players: byPlace(places) }, WAIT);
    expect(response.status, response.text).toBe(200);
    return response.body as GameAnswer;
  };
  const ratings = async (pool: string, ...players: string[]): Promise<string[]> =>
    Promise.all(
      players.map(async (player) => {
        const { body } = await anonymous.get(`/v1/pools/${pool}/players/${player}`);
        return (body as { rating: number }).rating.toFixed(6);
      }),
    );

  it('rate two players, and say what a game did', async () => {
    const pool = await makePool();
    const { rated, ...answer } = await play(pool, 'g-77', { ada: 1, bob: 2 });
    expect(answer).toEqual({
      ...{ gameId: 'g-77', pool, outcome: 'recorded', replayed: false },
      position: expect.any(Number) as number,
    });
    expect(rated).toEqual({
      position: answer.position,
      players: [
        { playerId: 'ada', before: 1500, after: 1516, delta: 16, expected: 0.5, k: 32, rank: null },
        { playerId: 'bob', before: 1500, after: 1484, delta: -16, expected: 0.5, k: 32, rank: null },
      ],
    });
    const drawn = await makePool();
    await play(drawn, 'g', { ada: 1, bob: 1 });
    expect(await ratings(drawn, 'ada', 'bob')).toEqual(['1500.000000', '1500.000000']);
  });

  it('rate more than two sides, and one game after the other', async () => {
    const four = await makePool();
    await play(four, 'g', { ada: 1, bob: 2, cy: 2, di: 4 });
    expect(await ratings(four, 'ada', 'bob', 'cy', 'di')).toEqual([
      ...['1516.000000', '1500.000000', '1500.000000', '1484.000000'],
    ]);
    const chain = await makePool();
    await play(chain, 'g1', { ada: 1, bob: 2 });
    await play(chain, 'g2', { bob: 1, cy: 2 });
    await play(chain, 'g3', { ada: 1, bob: 1 });
    expect(await ratings(chain, 'ada', 'bob', 'cy')).toEqual(['1515.297533', '1501.438774', '1483.263693']);
    // What the next game would be expected to be, as the contract's example has it.
    const next = await play(chain, 'g4', { ada: 1, bob: 1 });
    expect(next.rated!.players[0]!.expected.toFixed(6)).toBe('0.519934');
  });

  it('show a player as it stands, and each change with its reason', async () => {
    const pool = await makePool({ provisional: { games: 3 }, rankable: { gamesMin: 3, inactiveDaysMax: 30 } });
    const playedAt = '2026-01-02T03:04:05.678Z';
    const players = [
      { playerId: 'ada', place: 1, score: 3 },
      { playerId: 'bob', place: 2 },
    ];
    const metadata = { replay: 'r-1' };
    const sent = { pool, gameId: 'g1', playedAt, players, metadata };
    const recorded = await writer.post('/v1/games', sent, WAIT);
    const { position } = recorded.body as GameAnswer;
    const second = await play(pool, 'g2', { bob: 1, ada: 2 });

    const { body: ada } = await anonymous.get(`/v1/pools/${pool}/players/ada`);
    const rating = second.rated!.players[1]!.after;
    expect(ada).toMatchObject({
      ...{ pool, playerId: 'ada', rating, deviation: null, volatility: null, conservative: rating, interval95: null },
      ...{
        games: 2,
        wins: 1,
        draws: 0,
        losses: 1,
        provisional: true,
        peak: { rating: 1516, at: playedAt, gameId: 'g1' },
      },
      ...{ rankable: false, missing: ['gamesMin'], rankableUntil: null, position: second.position, pending: 0 },
    });

    const { body: game } = await anonymous.get(`/v1/pools/${pool}/games/g1`);
    const { rated } = recorded.body as GameAnswer;
    const did = rated!.players.map((player) => ({ ...player, rank: undefined }));
    const asSent = { team: null, home: false, status: 'played' };
    expect(game).toEqual({
      ...{ gameId: 'g1', pool, position, playedAt, recordedAt: expect.any(String) as string, weight: 1, metadata },
      players: [
        { playerId: 'ada', place: 1, score: 3, ...asSent },
        { playerId: 'bob', place: 2, score: null, ...asSent },
      ],
      voided: null,
      rated: { ...rated!, players: did },
    });

    const { body: history } = await anonymous.get(`/v1/pools/${pool}/players/ada/history?limit=1`);
    const [change] = second.rated!.players.filter(({ playerId }) => playerId === 'ada');
    const { before, after, delta, expected, k } = change!;
    expect(history).toMatchObject({
      changes: [
        { kind: 'game', gameId: 'g2', position: second.position, before, after, delta, expected, k, outcome: 'loss' },
      ],
      next: String(second.position),
    });
    const { next } = history as { next: string };
    const { body: older } = await anonymous.get(`/v1/pools/${pool}/players/ada/history?cursor=${next}`);
    expect(older).toMatchObject({ changes: [{ gameId: 'g1', after: 1516, opponents: ['bob'] }], next: null });

    const games = await anonymous.get(`/v1/pools/${pool}/games?player=ada&limit=1`);
    expect(games.body).toMatchObject({ games: [{ gameId: 'g2' }], next: String(second.position) });
    const { body: state } = await anonymous.get(`/v1/pools/${pool}`);
    expect(state).toMatchObject({ ratedPosition: second.position, pending: 0, players: 2, games: 2 });
  });

  it('know a game again by its id', async () => {
    const pool = await makePool();
    const first = await play(pool, 'g', { ada: 1, bob: 2 });
    const again = await play(pool, 'g', { ada: 1, bob: 2 });
    expect(again).toEqual({ ...first, replayed: true });
    const reused = await writer.post('/v1/games', { pool, gameId: 'g', players: byPlace({ ada: 2, bob: 1 }) });
    expectProblem(reused, 'GAME_ID_REUSED');
    expect(await ratings(pool, 'ada')).toEqual(['1516.000000']);
  });

  it('take a batch in its order, each game by itself', async () => {
    const pool = await makePool();
    const games = [
      { pool, gameId: 'g1', players: byPlace({ ada: 1, bob: 2 }) },
      { pool, gameId: 'g2', players: byPlace({ ada: 1 }) },
      { pool, gameId: 'g3', players: 'everybody' },
      { pool: 'nowhere', gameId: 'g4', players: byPlace({ ada: 1, bob: 2 }) },
      { pool, gameId: 'g5', players: byPlace({ bob: 1, cy: 2 }) },
      {
        pool,
        gameId: 'g6',
        players: [
          { playerId: 'ada', place: 1 },
          { playerId: 'bob', status: 'absent' },
        ],
      },
      { pool, gameId: 'g7', players: byPlace({ ada: 1, bob: 1 }) },
    ];
    const response = await writer.post('/v1/games', { games }, WAIT);
    expect(response.status, response.text).toBe(200);
    const { results } = response.body as { results: (GameAnswer & { problem?: { code: string; instance: string } })[] };
    expect(results.map(({ gameId, problem }) => problem?.code ?? gameId)).toEqual([
      ...['g1', 'VALIDATION_FAILED', 'VALIDATION_FAILED', 'POOL_NOT_FOUND', 'g5', 'g6', 'g7'],
    ]);
    expect(results[2]!.problem!.instance).toBe('/v1/games#/games/2');
    expect(results[5]!.rated).toEqual({ reason: 'TOO_FEW_SIDES' });
    const positions = [0, 4, 5, 6].map((index) => results[index]!.position);
    expect(positions).toEqual([...positions].sort((a, b) => a - b));
    expect(await ratings(pool, 'ada', 'bob', 'cy')).toEqual(['1515.297533', '1501.438774', '1483.263693']);
  });

  it('refuse what they cannot take, with a code for each', async () => {
    const pool = await makePool({ sides: { max: 2, teamMax: 1 } });
    const game = (players: unknown, more = {}): Promise<Response> =>
      writer.post('/v1/games', { pool, players, ...more });
    const two = byPlace({ ada: 1, bob: 2 });
    expectProblem(await writer.post('/v1/games', { pool: 'nowhere', players: two }), 'POOL_NOT_FOUND');
    expectProblem(await game(byPlace({ ada: 1, bob: 2, cy: 3 })), 'GAME_TOO_LARGE');
    expectProblem(await game([...two, { playerId: 'ada', place: 1 }]), 'VALIDATION_FAILED');
    expectProblem(await game([{ playerId: 'ada', place: 1.5 }, ...two]), 'VALIDATION_FAILED');
    expectProblem(await game(two, { weight: 0 }), 'VALIDATION_FAILED');
    expectProblem(await game(two, { metadata: { text: 'x'.repeat(1100) } }), 'METADATA_TOO_LARGE');
    const inAnHour = new Date(Date.now() + 3_600_000).toISOString();
    expectProblem(await game(two, { playedAt: inAnHour }), 'ACHIEVED_AT_IN_FUTURE');
    expectProblem(await game(two, { unknown: 1 }), 'VALIDATION_FAILED');
    expectProblem(await anonymous.get(`/v1/pools/${pool}/games/none`), 'GAME_NOT_FOUND');
    expectProblem(await anonymous.get('/v1/pools/nowhere'), 'POOL_NOT_FOUND');
    expectProblem(await anonymous.get(`/v1/pools/${pool}/games?cursor=start`), 'VALIDATION_FAILED');
    expect(expectProblem(await anonymous.get(`/v1/pools/${pool}/players/ada`), 'RATING_NOT_FOUND')).toMatchObject({
      initial: { rating: 1500, deviation: null, volatility: null },
    });
    expect((await anonymous.get(`/v1/pools/${pool}`)).body).toMatchObject({ games: 0 });
  });

  it('refuse to be what is not offered, and to become another once they have games', async () => {
    const put = (definition: object, id = 'refused'): Promise<Response> => admin.put(`/v1/pools/${id}`, definition);
    expectProblem(await put({ algorithm: 'elo', periods: { every: 'monthly' } }), 'VALIDATION_FAILED');
    expect(expectProblem(await put({ algorithm: 'dice' }), 'ALGORITHM_UNKNOWN')).toMatchObject({
      known: expect.arrayContaining(['elo']) as string[],
    });
    expectProblem(await put({ algorithm: 'elo', parameters: { tau: 1 } }), 'VALIDATION_FAILED');
    expectProblem(await put({ algorithm: 'elo', update: 'per-period' }), 'VALIDATION_FAILED');
    expectProblem(await anonymous.get('/v1/pools/refused'), 'POOL_NOT_FOUND');

    const pool = await makePool();
    await play(pool, 'g', { ada: 1, bob: 2 });
    expectProblem(await put({ algorithm: 'elo', parameters: { k: 10 } }, pool), 'POOL_HAS_GAMES');
    const read = await anonymous.get(`/v1/pools/${pool}`);
    const stale = await admin.put(`/v1/pools/${pool}`, { algorithm: 'elo' }, { 'If-Match': '"1-1"' });
    expectProblem(stale, 'PRECONDITION_FAILED');
    const tag = { 'If-Match': read.headers['etag'] as string };
    const renamed = await admin.put(`/v1/pools/${pool}`, { algorithm: 'elo', title: 'Renamed' }, tag);
    expect([renamed.status, (renamed.body as { title: string }).title]).toEqual([200, 'Renamed']);
    // What is answered can be put again.
    expect((await admin.put(`/v1/pools/${pool}`, renamed.body)).status).toBe(200);
  });

  it('are empty when they are made again', async () => {
    const pool = await makePool();
    await play(pool, 'g', { ada: 1, bob: 2 });
    expect((await admin.delete(`/v1/pools/${pool}`)).status).toBe(204);
    expectProblem(await anonymous.get(`/v1/pools/${pool}/players/ada`), 'POOL_NOT_FOUND');
    expect((await admin.put(`/v1/pools/${pool}`, { algorithm: 'elo' })).status).toBe(201);
    expectProblem(await anonymous.get(`/v1/pools/${pool}/players/ada`), 'RATING_NOT_FOUND');
    expect((await play(pool, 'g', { ada: 2, bob: 1 })).replayed).toBe(false);
  });

  it('are made by admins, fed by servers, and read by those who may', async () => {
    const ada = anonymous.as(await playerToken(service.jwtSecret, 'ada'));
    const pool = await makePool({ visibility: 'private' });
    await play(pool, 'g', { ada: 1, bob: 2 });
    const game = { pool, players: byPlace({ ada: 1, bob: 2 }) };
    expectProblem(await anonymous.post('/v1/games', game), 'UNAUTHENTICATED');
    expectProblem(await ada.post('/v1/games', game), 'FORBIDDEN');
    expectProblem(await reader.post('/v1/games', { games: [game] }), 'FORBIDDEN');
    expectProblem(await writer.put(`/v1/pools/${pool}`, { algorithm: 'elo' }), 'FORBIDDEN');
    expectProblem(await writer.delete(`/v1/pools/${pool}`), 'FORBIDDEN');
    for (const path of ['', '/games', '/games/g', '/players/ada', '/players/ada/history']) {
      expectProblem(await anonymous.get(`/v1/pools/${pool}${path}`), 'UNAUTHENTICATED');
      expect((await reader.get(`/v1/pools/${pool}${path}`)).status).toBe(200);
    }
    expect((await ada.get(`/v1/pools/${pool}/players/me`)).body).toMatchObject({ playerId: 'ada', rating: 1516 });
    expectProblem(await reader.get(`/v1/pools/${pool}/players/me`), 'NOT_A_PLAYER');
    const listed = async (client: RestClient): Promise<string[]> =>
      ((await client.get('/v1/pools?limit=100')).body as { pools: { id: string }[] }).pools.map(({ id }) => id);
    expect(await listed(anonymous)).not.toContain(pool);
    for (const client of [ada, reader]) expect(await listed(client)).toContain(pool);
  });

  it('show a player who is not listed to nobody else', async () => {
    const pool = await makePool();
    await play(pool, 'g', { ida: 1, bob: 2 });
    const hidden = await writer.put('/v1/players/ida', { listed: false });
    expect(hidden.status, hidden.text).toBe(200);
    expectProblem(await anonymous.get(`/v1/pools/${pool}/players/ida`), 'RATING_NOT_FOUND');
    expect((await anonymous.get(`/v1/pools/${pool}/players/ida/history`)).body).toMatchObject({ changes: [] });
    expect((await anonymous.get(`/v1/pools/${pool}/games?player=ida`)).body).toEqual({ games: [], next: null });
    const ida = anonymous.as(await playerToken(service.jwtSecret, 'ida'));
    expect((await ida.get(`/v1/pools/${pool}/players/me`)).status).toBe(200);
    expect((await reader.get(`/v1/pools/${pool}/players/ida`)).status).toBe(200);
  });
});
