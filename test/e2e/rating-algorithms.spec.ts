// Real: the built service in one process, with its PostgreSQL and Redis.
import { startStandalone, type RunningStandalone } from '@laddercast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectProblem, RestClient } from './rest-client.js';

const WAIT = { Prefer: 'wait=10' };
const DAY_MS = 86_400_000;
/** Points of the paper's own scale. */
const SCALE = 173.7178;

interface Rating {
  rating: number;
  deviation: number;
  storedDeviation: number;
  volatility: number | null;
  conservative: number;
  interval95: [number, number];
  provisional: boolean;
  rankable: boolean;
  missing: string[];
  rankableUntil: string | null;
  asOf: string;
}

describe('the algorithms of rating pools', () => {
  let service: RunningStandalone;
  let anonymous: RestClient;
  let admin: RestClient;
  let writer: RestClient;
  let made = 0;

  beforeAll(async () => {
    service = await startStandalone();
    anonymous = new RestClient(service.url);
    admin = anonymous.as(service.adminKey);
    writer = anonymous.as(await admin.makeKey('scores:write'));
  }, 90_000);
  afterAll(() => service?.stop());

  const makePool = async (definition: object): Promise<string> => {
    const id = `pool-${(made += 1)}`;
    const response = await admin.put(`/v1/pools/${id}`, definition);
    expect(response.status, response.text).toBe(201);
    return id;
  };
  /** Players by place, or by place and team: `ada+bob` are a team. */
  const playersOf = (places: Record<string, number>): object[] =>
    Object.entries(places).flatMap(([names, place]) => {
      const members = names.split('+');
      return members.map((playerId) => ({ playerId, place, ...(members.length > 1 && { team: names }) }));
    });
  const play = async (pool: string, places: Record<string, number>, more: object = {}): Promise<unknown> => {
    const response = await writer.post('/v1/games', { pool, players: playersOf(places), ...more }, WAIT);
    expect(response.status, response.text).toBe(200);
    return (response.body as { rated: unknown }).rated;
  };
  const ratingOf = async (pool: string, player: string): Promise<Rating> => {
    const response = await anonymous.get(`/v1/pools/${pool}/players/${player}`);
    expect(response.status, response.text).toBe(200);
    return response.body as Rating;
  };
  const stored = async (pool: string, ...players: string[]): Promise<string[]> =>
    Promise.all(
      players.map(async (player) => {
        const { rating, storedDeviation } = await ratingOf(pool, player);
        return `${rating.toFixed(6)} ${storedDeviation.toFixed(6)}`;
      }),
    );
  const daysAgo = (days: number, from = Date.now()): string => new Date(from - days * DAY_MS).toISOString();

  it('give the ratings of the worked example: glicko2', async () => {
    const pool = await makePool({ algorithm: 'glicko2' });
    const now = Date.now();
    await play(pool, { ada: 1, bob: 2 }, { playedAt: daysAgo(40, now) });
    expect(await stored(pool, 'ada', 'bob')).toEqual(['1662.212001 290.230508', '1337.787999 290.230508']);
    await play(pool, { ada: 1, bob: 1 }, { playedAt: daysAgo(10, now) });
    expect(await stored(pool, 'ada', 'bob')).toEqual(['1576.534007 260.888793', '1423.465993 260.888793']);
    const { volatility } = await ratingOf(pool, 'ada');
    expect(volatility!.toFixed(6)).toBe('0.059999');
    const { body } = await anonymous.get(`/v1/pools/${pool}/players/ada/history`);
    const changes = (body as { changes: { before: number; after: number; k: null; expected: number }[] }).changes;
    expect(changes.map(({ before, after, k }) => [before.toFixed(6), after.toFixed(6), k])).toEqual([
      ['1662.212001', '1576.534007', null],
      ['1500.000000', '1662.212001', null],
    ]);
    expect(changes[1]!.expected).toBe(0.5);
  });

  it('give the ratings of the worked examples: weng-lin', async () => {
    const won = await makePool({ algorithm: 'weng-lin' });
    await play(won, { ada: 1, bob: 2 });
    expect(await stored(won, 'ada', 'bob')).toEqual(['27.635389 8.065901', '22.364611 8.065901']);
    const drawn = await makePool({ algorithm: 'weng-lin' });
    await play(drawn, { ada: 1, bob: 1 });
    expect(await stored(drawn, 'ada', 'bob')).toEqual(['25.000000 8.065901', '25.000000 8.065901']);
    const teams = await makePool({ algorithm: 'weng-lin' });
    await play(teams, { 'ada+bob': 1, 'cy+di': 2 });
    const red = '26.964295 8.177963';
    const blue = '23.035705 8.177963';
    expect(await stored(teams, 'ada', 'bob', 'cy', 'di')).toEqual([red, red, blue, blue]);
    const [ada, cy] = [await ratingOf(teams, 'ada'), await ratingOf(teams, 'cy')];
    expect([ada.conservative.toFixed(6), cy.conservative.toFixed(6)]).toEqual(['2.430407', '-1.498182']);
    // Time does nothing here.
    expect([ada.deviation, ada.volatility]).toEqual([ada.storedDeviation, null]);
  });

  it('show the deviation of an idle player as it is now, and all that follows from it', async () => {
    const rules = { provisional: { deviationAbove: 320 }, rankable: { gamesMin: 1, deviationMax: 320 } };
    const pool = await makePool({ algorithm: 'glicko2', ...rules });
    // Uncertain again long ago; and one who is not yet.
    const playedAtMs = Date.now() - 500 * DAY_MS;
    await play(pool, { ada: 1, bob: 2 }, { playedAt: new Date(playedAtMs).toISOString() });
    const ada = await ratingOf(pool, 'ada');
    const growth = (ada.volatility! * SCALE) ** 2;
    const idleAt = (asOf: string, sinceMs: number, from: Rating): number =>
      Math.sqrt(from.storedDeviation ** 2 + ((Date.parse(asOf) - sinceMs) / (7 * DAY_MS)) * growth);
    const { rating, deviation } = ada;
    expect(ada.storedDeviation.toFixed(6)).toBe('290.230508');
    expect(deviation).toBeCloseTo(idleAt(ada.asOf, playedAtMs, ada), 6);
    expect(deviation).toBeGreaterThan(ada.storedDeviation + 1);
    expect(ada.conservative).toBeCloseTo(rating - 2 * deviation, 9);
    expect(ada.interval95[0]).toBeCloseTo(rating - 1.96 * deviation, 9);
    expect(ada.interval95[1]).toBeCloseTo(rating + 1.96 * deviation, 9);
    expect(ada).toMatchObject({ provisional: false, rankable: true, missing: [] });
    const periods = (320 ** 2 - ada.storedDeviation ** 2) / growth;
    const untilMs = Date.parse(ada.rankableUntil!);
    expect(Math.abs(untilMs - (playedAtMs + periods * 7 * DAY_MS))).toBeLessThan(2000);

    await play(pool, { cy: 1, di: 2 }, { playedAt: daysAgo(5000) });
    const cy = await ratingOf(pool, 'cy');
    expect(cy).toMatchObject({ deviation: 350, provisional: true, rankable: false, missing: ['deviationMax'] });
    expect(cy.rankableUntil).toBeNull();
    const missing = await anonymous.get(`/v1/pools/${pool}/players/eve`);
    expect(expectProblem(missing, 'RATING_NOT_FOUND')).toMatchObject({
      initial: { rating: 1500, deviation: 350, volatility: 0.06 },
    });
  });

  it('refuse games that they do not rate, each by its code', async () => {
    const glicko2 = await makePool({ algorithm: 'glicko2', sides: { max: 3 } });
    const wengLin = await makePool({ algorithm: 'weng-lin', sides: { max: 5, teamMax: 2 } });
    const full = await makePool({ algorithm: 'weng-lin', parameters: { model: 'thurstone-mosteller-full' } });
    const refused = async (pool: string, places: Record<string, number>, code: string, more = {}): Promise<unknown> =>
      expectProblem(await writer.post('/v1/games', { pool, players: playersOf(places), ...more }), code as never);
    await refused(glicko2, { ada: 1, bob: 2, cy: 3 }, 'PLAYERS_NOT_SUPPORTED');
    await refused(glicko2, { 'ada+bob': 1, cy: 2 }, 'PLAYERS_NOT_SUPPORTED');
    await refused(glicko2, { ada: 1, bob: 2, cy: 3, di: 4 }, 'GAME_TOO_LARGE');
    await refused(glicko2, { ada: 1, bob: 2 }, 'NOT_SUPPORTED', { weight: 2 });
    await refused(wengLin, { ada: 1, bob: 2 }, 'NOT_SUPPORTED', { weight: 0.5 });
    await refused(wengLin, { 'ada+bob+cy': 1, di: 2 }, 'GAME_TOO_LARGE');
    await refused(wengLin, { a: 1, b: 2, c: 3, d: 4, e: 5, f: 6 }, 'GAME_TOO_LARGE');
    await refused(full, { a: 1, b: 2, c: 3, d: 4, e: 5 }, 'PLAYERS_NOT_SUPPORTED');
    expect((await anonymous.get(`/v1/pools/${glicko2}`)).body).toMatchObject({ games: 0 });
  });

  it('are refused with what the contract does not offer', async () => {
    const put = (definition: object) => admin.put('/v1/pools/refused', definition);
    expectProblem(await put({ algorithm: 'trueskill' }), 'NOT_SUPPORTED');
    for (const parameters of [{ model: 'bradley-terry-part' }, { margin: 2 }]) {
      expectProblem(await put({ algorithm: 'weng-lin', parameters }), 'NOT_SUPPORTED');
    }
    expectProblem(await anonymous.get('/v1/pools/refused'), 'POOL_NOT_FOUND');
  });

  it('put aside a game without finite numbers, and rate the next', async () => {
    // A team is as strong as its members together: three times 500 is more than exp can take, twice is not.
    const parameters = { initial: 500, deviation: 0.1, beta: 1, tau: 0 };
    const pool = await makePool({ algorithm: 'weng-lin', parameters });
    expect(await play(pool, { 'a+b+c': 1, 'd+e+f': 2 }, { gameId: 'g1' })).toEqual({ reason: 'NUMERIC' });
    expectProblem(await anonymous.get(`/v1/pools/${pool}/players/a`), 'RATING_NOT_FOUND');
    expect(await play(pool, { a: 1, d: 2 })).toMatchObject({ players: [{ before: 500 }, { before: 500 }] });
    expect((await anonymous.get(`/v1/pools/${pool}/games/g1`)).body).toMatchObject({ rated: { reason: 'NUMERIC' } });
    expect((await anonymous.get(`/v1/pools/${pool}`)).body).toMatchObject({ games: 2, pending: 0, players: 2 });
  });
});
