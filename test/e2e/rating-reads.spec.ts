// Real: the built service in one process, with its PostgreSQL and Redis.
import { startStandalone, type RunningStandalone } from '@laddercast/testing';
import type { Response } from 'supertest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../libs/realtime/test/boards.js';
import { LiveClient, type ServerFrame } from '../../libs/realtime/test/follower.js';
import { expectProblem, playerToken, RestClient } from './rest-client.js';

describe('reads of rating pools', () => {
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
    const id = `read-${(made += 1)}`;
    const response = await admin.put(`/v1/pools/${id}`, { algorithm: 'elo', ...definition });
    expect(response.status, response.text).toBe(201);
    return id;
  };
  const play = async (pool: string, ...games: Record<string, number>[]): Promise<void> => {
    const asSent = games.map((places, index) => ({
      ...{ pool, gameId: `g${index + 1}` },
      players: Object.entries(places).map(([playerId, place]) => ({ playerId, place })),
    }));
    const response = await writer.post('/v1/games', { games: asSent }, { Prefer: 'wait=10' });
    expect(response.status, response.text).toBe(200);
    const { results } = response.body as { results: { rated: unknown }[] };
    expect(results.every(({ rated }) => rated !== null)).toBe(true);
  };
  const lookup = (pool: string, playerIds: unknown, client = anonymous): Promise<Response> =>
    client.post(`/v1/pools/${pool}/lookups`, { playerIds });
  const predict = (pool: string, body: unknown, client = anonymous): Promise<Response> =>
    client.post(`/v1/pools/${pool}/predictions`, body);
  const chain: Record<string, number>[] = [
    { ada: 1, bob: 2 },
    { bob: 1, cy: 2 },
    { ada: 1, bob: 1 },
  ];

  describe('lookups', () => {
    it('answer in the order asked as a read of each player does, and null where there is none', async () => {
      const pool = await makePool({ provisional: { games: 2 } });
      await play(pool, ...chain);
      const answer = await lookup(pool, ['cy', 'nobody', 'ada', 'cy']);
      expect(answer.status, answer.text).toBe(200);
      const { ratings } = answer.body as { ratings: ({ playerId: string; asOf: string } | null)[] };
      expect(ratings.map((rating) => rating?.playerId ?? null)).toEqual(['cy', null, 'ada', 'cy']);
      const { body: ada } = await anonymous.get(`/v1/pools/${pool}/players/ada`);
      expect({ ...ratings[2], asOf: null }).toEqual({ ...(ada as object), asOf: null });
      expect(ratings[0]).toMatchObject({ games: 1, provisional: true });
      expect(new Set(ratings.flatMap((rating) => rating?.asOf ?? [])).size).toBe(1);
    });

    it('show a player who is not listed to itself and to keys that read alone', async () => {
      const pool = await makePool();
      await play(pool, { ike: 1, bob: 2 });
      expect((await writer.put('/v1/players/ike', { listed: false })).status).toBe(200);
      const seenBy = async (client: RestClient): Promise<unknown[]> => {
        const { ratings } = (await lookup(pool, ['ike', 'bob'], client)).body as {
          ratings: ({ rating: number } | null)[];
        };
        return ratings.map((rating) => rating?.rating ?? null);
      };
      expect(await seenBy(anonymous)).toEqual([null, 1484]);
      expect(await seenBy(anonymous.as(await playerToken(service.jwtSecret, 'bob')))).toEqual([null, 1484]);
      expect(await seenBy(anonymous.as(await playerToken(service.jwtSecret, 'ike')))).toEqual([1516, 1484]);
      expect(await seenBy(reader)).toEqual([1516, 1484]);
      // Nor does a prediction tell how strong it is.
      expect((await predict(pool, { sides: [['ike'], ['new']] })).body).toMatchObject({ win: [0.5, 0.5] });
      expect((await predict(pool, { sides: [['ike'], ['new']] }, reader)).body).not.toMatchObject({ win: [0.5, 0.5] });
    });

    it('take up to 500 players, and refuse what they cannot read', async () => {
      const pool = await makePool();
      await play(pool, { ada: 1, bob: 2 });
      const many = Array.from({ length: 500 }, (_, index) => (index === 499 ? 'ada' : `p${index}`));
      const { ratings } = (await lookup(pool, many)).body as { ratings: unknown[] };
      expect([ratings.length, ratings.filter((one) => one !== null).length]).toEqual([500, 1]);
      for (const wrong of [[...many, 'one more'], [], 'ada', [7], [''], ['me'], undefined]) {
        expectProblem(await lookup(pool, wrong), 'VALIDATION_FAILED');
      }
      expectProblem(
        await anonymous.post(`/v1/pools/${pool}/lookups`, { playerIds: ['a'], all: 1 }),
        'VALIDATION_FAILED',
      );
      expectProblem(await lookup('nowhere', ['ada']), 'POOL_NOT_FOUND');
    });
  });

  describe('predictions', () => {
    it('say what the ratings let expect of a game', async () => {
      const pool = await makePool();
      await play(pool, ...chain);
      const two = await predict(pool, { sides: [['ada'], ['bob']] });
      expect(two.status, two.text).toBe(200);
      const { win, draw, quality } = two.body as { win: number[]; draw: number | null; quality: number };
      // After its third game: 1515.297533 against 1501.438774.
      const expected = 1 / (1 + 10 ** ((1501.438774 - 1515.297533) / 400));
      expect(win[0]).toBeCloseTo(expected, 8);
      expect(quality).toBeCloseTo(4 * expected * (1 - expected), 8);
      expect(draw).toBeNull();
      const teams = await predict(pool, { sides: [['ada', 'cy'], ['new', 'newer'], ['bob']] });
      const of = teams.body as { win: number[] };
      expect(of.win).toHaveLength(3);
      expect(of.win.reduce((sum, one) => sum + one)).toBeCloseTo(1, 12);
      expect((await predict(pool, { sides: [['new'], ['newer']] })).body).toEqual({
        ...{ win: [0.5, 0.5], draw: null, quality: 1 },
      });
    });

    it('know how likely a draw is where the algorithm does, and which games it does not take', async () => {
      const teams = await makePool({ algorithm: 'weng-lin' });
      const { body } = await predict(teams, {
        sides: [
          ['new', 'newer'],
          ['old', 'older'],
          ['one', 'two'],
        ],
      });
      const { win, draw } = body as { win: number[]; draw: number };
      expect(win.map((chance) => chance.toFixed(9))).toEqual(['0.333333333', '0.333333333', '0.333333333']);
      expect(draw > 0 && draw < 1).toBe(true);
      const duels = await makePool({ algorithm: 'glicko2' });
      expect((await predict(duels, { sides: [['new'], ['newer']] })).body).toMatchObject({
        win: [0.5, 0.5],
        draw: null,
      });
      expectProblem(await predict(duels, { sides: [['a'], ['b'], ['c']] }), 'PLAYERS_NOT_SUPPORTED');
      expectProblem(await predict(duels, { players: ['a', 'b', 'c', 'd'], sidesOf: 2 }), 'PLAYERS_NOT_SUPPORTED');
    });

    it('find the fairest split, whatever the order of naming', async () => {
      const pool = await makePool();
      const rounds = Array.from({ length: 8 }, () => ({ ada: 1, bob: 2 }));
      await play(pool, ...rounds, { cy: 1, di: 2 });
      const asked = { players: ['bob', 'di', 'ada', 'cy'], sidesOf: 2 };
      const { body } = await predict(pool, asked);
      expect(body).toMatchObject({
        sides: [
          ['ada', 'bob'],
          ['cy', 'di'],
        ],
        win: [0.5, 0.5],
        quality: 1,
      });
      expect((await predict(pool, { ...asked, players: asked.players.toReversed() })).body).toEqual(body);
      const twelve = Array.from({ length: 12 }, (_, index) => (index === 0 ? 'ada' : `new ${index}`));
      const split = (await predict(pool, { players: twelve, sidesOf: 3 })).body as { sides: string[][] };
      expect(split.sides.map((side) => side.length)).toEqual([3, 3, 3, 3]);
      expect(split.sides.flat().sort()).toEqual(twelve.toSorted());
    });

    it('compute a dozen splits at once while everything else is answered, and say when they are too many', async () => {
      const pool = await makePool();
      const players = Array.from({ length: 12 }, (_, index) => `p${index}`);
      const splits = Array.from({ length: 60 }, () => predict(pool, { players, sidesOf: 3 }, reader));
      const answers = await Promise.all(splits);
      const refused = answers.filter(({ status }) => status !== 200);
      expect(answers.length - refused.length).toBeGreaterThanOrEqual(16);
      for (const one of refused) {
        expectProblem(one, 'OVERLOADED');
        expect(one.headers['retry-after']).toBe('1');
      }
      expect((await predict(pool, { players, sidesOf: 6 })).status).toBe(200);
    });

    it('are refused for what is no game of the pool, with what to do', async () => {
      const pool = await makePool({ sides: { max: 3, teamMax: 2 } });
      const ids = (count: number): string[] => Array.from({ length: count }, (_, index) => `p${index}`);
      const alone = (count: number): string[][] => ids(count).map((id) => [id]);
      for (const body of [
        {},
        { sides: [] },
        { sides: [['ada']] },
        { sides: [['ada'], []] },
        { sides: [['ada'], ['ada']] },
        { sides: [['ada'], 'bob'] },
        { sides: [['ada'], ['me']] },
        { sides: [['ada'], ['bob']], players: ['ada', 'bob'], sidesOf: 1 },
        { sides: [ids(300), ids(301).map((id) => `q${id}`)] },
        { players: ['ada', 'bob'] },
        { sidesOf: 1 },
        { players: ['ada', 'ada'], sidesOf: 1 },
        { players: ['ada', 'bob', 'cy'], sidesOf: 2 },
        { players: ['ada', 'bob'], sidesOf: 2 },
        { players: ['ada', 'bob'], sidesOf: 0 },
        { players: ['ada', 'bob'], sidesOf: 0.5 },
      ]) {
        const problem = expectProblem(await predict(pool, body), 'VALIDATION_FAILED');
        expect(problem['errors'], JSON.stringify(body)).not.toEqual([]);
      }
      expectProblem(await predict(pool, { sides: alone(4) }), 'GAME_TOO_LARGE');
      expectProblem(await predict(pool, { sides: [ids(3), ['ada']] }), 'GAME_TOO_LARGE');
      expectProblem(await predict(pool, { players: ids(12), sidesOf: 2 }), 'GAME_TOO_LARGE');
      expectProblem(await predict(pool, { players: ids(13), sidesOf: 1 }), 'PLAYERS_NOT_SUPPORTED');
      expectProblem(await predict('nowhere', { sides: [['ada'], ['bob']] }), 'POOL_NOT_FOUND');
      const open = await makePool({ sides: { max: 500 } });
      expect((await predict(open, { sides: alone(100) }, reader)).status).toBe(200);
      expectProblem(await predict(open, { sides: alone(101) }, reader), 'GAME_TOO_LARGE');
    });
  });

  describe('the distribution', () => {
    const distributionOf = async (pool: string): Promise<Record<string, unknown>> => {
      const response = await anonymous.get(`/v1/pools/${pool}/distribution`);
      expect(response.status, response.text).toBe(200);
      return response.body as Record<string, unknown>;
    };

    it('counts the players of a pool in buckets of 25 points', async () => {
      const pool = await makePool();
      await play(pool, { ada: 1, bob: 2 }, { ada: 1, cy: 2 }, { di: 1, ed: 1 });
      const { ratings } = (await lookup(pool, ['ada', 'bob', 'cy', 'di', 'ed'])).body as {
        ratings: { rating: number }[];
      };
      const sum = ratings.reduce((all, { rating }) => all + rating, 0);
      const distribution = await distributionOf(pool);
      const { body: state } = await anonymous.get(`/v1/pools/${pool}`);
      expect(distribution).toMatchObject({
        ...{ pool, players: 5, median: 1500, active: 5, newcomers: 5, bucketWidth: 25 },
        histogram: [
          { from: 1475, players: 2 },
          { from: 1500, players: 2 },
          { from: 1525, players: 1 },
        ],
        ratedPosition: (state as { ratedPosition: number }).ratedPosition,
      });
      expect(distribution['sum']).toBeCloseTo(sum, 6);
      expect(distribution['mean']).toBeCloseTo(1500, 8);
      expect(state).toMatchObject({ period: null });
    });

    it('is that of a moment ago for some seconds', async () => {
      const pool = await makePool();
      const first = await distributionOf(pool);
      expect(first).toMatchObject({ players: 0, sum: 0, mean: null, median: null, active: 0, histogram: [] });
      const isKept = async (): Promise<boolean> =>
        (await distributionOf(pool))['asOf'] === (await distributionOf(pool))['asOf'];
      await expect.poll(isKept, { timeout: 60_000 }).toBe(true);
      await play(pool, { ada: 1, bob: 2 });
      await expect.poll(() => distributionOf(pool), { timeout: 60_000 }).toMatchObject({ players: 2, newcomers: 2 });
    });

    it('is refused for a pool that is not there', async () => {
      expectProblem(await anonymous.get('/v1/pools/nowhere/distribution'), 'POOL_NOT_FOUND');
      const pool = await makePool();
      expectProblem(await anonymous.get(`/v1/pools/${pool}/distribution?by=25`), 'VALIDATION_FAILED');
    });
  });

  describe('the live channel', () => {
    const connect = (token?: string): Promise<LiveClient> => {
      const url = `${service.url.replace('http', 'ws')}/v1/live`;
      return LiveClient.connect(token === undefined ? url : `${url}?token=${token}`);
    };
    const watch = (pool: string, more: object = {}) => ({
      ...{ type: 'subscribe', id: '1', channel: 'rating', pool, playerId: 'ada' },
      ...more,
    });
    const games = ({ frames }: LiveClient): (ServerFrame & Record<string, unknown>)[] =>
      frames.filter(({ type }) => type === 'rating') as (ServerFrame & Record<string, unknown>)[];

    it('tells the games of a player as its history has them, also to one who comes back', async () => {
      const pool = await makePool();
      const client = await connect();
      expect(await client.ask(watch(pool))).toMatchObject({ type: 'snapshot', seq: 0, rating: null });
      await play(pool, ...chain);
      await eventually('two games', () => games(client).length === 2);
      const { changes } = (await anonymous.get(`/v1/pools/${pool}/players/ada/history`)).body as {
        changes: { position: number; gameId: string; before: number; after: number; delta: number }[];
      };
      const [last, first] = changes.map(({ position, gameId, before, after, delta }) => ({
        ...{ type: 'rating', id: '1', seq: position, gameId, before, after, delta },
        asOf: expect.any(String) as string,
      }));
      expect(games(client)).toEqual([first, last]);
      await client.close();
      const again = await connect();
      expect(await again.ask(watch(pool, { type: 'resume', seq: first!.seq }))).toEqual(last);
      expect(await again.ask(watch(pool, { type: 'resume', seq: last!.seq }))).toMatchObject({
        ...{ type: 'snapshot', seq: last!.seq, rating: { rating: last!.after, games: 2, provisional: false } },
      });
      await again.close();
    });

    it('shows a banned player to whom a read shows it', async () => {
      const pool = await makePool();
      await play(pool, { mal: 1, bob: 2 });
      const ban = { kind: 'ban', reason: 'a bot' };
      expect((await admin.put('/v1/admin/players/mal/sanction', ban)).status).toBe(200);
      const seers: [string, boolean][] = [
        [await playerToken(service.jwtSecret, 'mal'), true],
        [await admin.makeKey('moderate'), true],
        [await admin.makeKey('read'), false],
      ];
      for (const [token, isShown] of seers) {
        const read = await anonymous.as(token).get(`/v1/pools/${pool}/players/mal`);
        expect(read.status).toBe(isShown ? 200 : 404);
        const client = await connect(token);
        const { rating } = (await client.ask(watch(pool, { playerId: 'mal' }))) as { rating?: unknown };
        expect(rating !== null).toBe(isShown);
        await client.close();
      }
    });

    it('refuses what it cannot follow, with what to do', async () => {
      const pool = await makePool({ visibility: 'private' });
      const client = await connect();
      const problemOf = async (message: { id: string }): Promise<unknown> =>
        (await client.ask(message as never)).problem;
      expect(await problemOf(watch(pool))).toMatchObject({ code: 'UNAUTHENTICATED' });
      expect(await problemOf(watch('nowhere'))).toMatchObject({ code: 'POOL_NOT_FOUND' });
      for (const wrong of [
        { playerId: 'me' },
        { playerId: undefined },
        { pool: 7 },
        { board: 'blitz' },
        { limit: 1 },
      ]) {
        expect(await problemOf(watch(pool, wrong))).toMatchObject({ code: 'VALIDATION_FAILED' });
      }
      expect(await problemOf(watch(pool, { type: 'resume', seq: -1 }))).toMatchObject({ code: 'VALIDATION_FAILED' });
      await client.close();
      const ada = await connect(await playerToken(service.jwtSecret, 'ada'));
      expect(await ada.ask(watch(pool))).toMatchObject({ type: 'snapshot', rating: null });
      await ada.close();
    });
  });

  it('are for those who may read the pool', async () => {
    const pool = await makePool({ visibility: 'private' });
    await play(pool, { ada: 1, bob: 2 });
    const ada = anonymous.as(await playerToken(service.jwtSecret, 'ada'));
    const reads = [
      (client: RestClient) => client.get(`/v1/pools/${pool}/distribution`),
      (client: RestClient) => lookup(pool, ['ada'], client),
      (client: RestClient) => predict(pool, { sides: [['ada'], ['bob']] }, client),
      (client: RestClient) => predict(pool, { players: ['ada', 'bob'], sidesOf: 1 }, client),
    ];
    for (const read of reads) {
      expectProblem(await read(anonymous), 'UNAUTHENTICATED');
      expectProblem(await read(writer), 'FORBIDDEN');
      expect((await read(reader)).status).toBe(200);
      expect((await read(ada)).status).toBe(200);
    }
  });
});
