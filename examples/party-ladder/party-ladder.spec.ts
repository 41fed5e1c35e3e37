// Real: PostgreSQL, Redis, and the whole service in this process, with the log in PostgreSQL.
import { LeaderboardModule, type PeriodGame, type PeriodRating, type RatingState } from '@laddercast/leaderboard';
import { RATING_ALGORITHMS, ratingPoolOf } from '@laddercast/domain';
import { createTestDatabase, emptyTestRedis, ratingAlgorithmConformance, type TestDatabase } from '@laddercast/testing';
import type { DynamicModule, Type } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectProblem, RestClient } from '../../test/e2e/rest-client.js';
import { ADMIN_KEY, startServiceOfTeams } from '../../test/integration/nodes/service-of-teams.js';
import { PartyLadderModule } from './party-ladder.module.js';
import { partyPoints } from './party-points.js';

const poolOf = (parameters = {}) => ratingPoolOf({ algorithm: 'party-points', parameters }, [partyPoints]);

ratingAlgorithmConformance({ pools: { 'party points': poolOf(), 'the latest game alone': poolOf({ share: 1 }) } });

const WAIT = { Prefer: 'wait=10' };

describe('the party ladder example', () => {
  let database: TestDatabase;
  let redisUrl: string;
  let app: NestFastifyApplication | null = null;
  let admin: RestClient;

  const start = async (...teams: (Type<object> | DynamicModule)[]): Promise<void> => {
    await app?.close();
    app = null;
    app = await startServiceOfTeams({ databaseUrl: database.url, redisUrl }, ...teams);
    admin = new RestClient(await app.getUrl()).as(ADMIN_KEY);
  };

  beforeAll(async () => {
    database = await createTestDatabase();
    redisUrl = await emptyTestRedis();
    await start(PartyLadderModule);
  });
  afterAll(async () => {
    await app?.close();
    await database.drop();
  });

  const gameOf = (pool: string, ...players: string[]): object => ({
    pool,
    gameId: players.join('-'),
    players: players.map((playerId, index) => ({ playerId, place: index + 1 })),
  });
  const ratingsIn = async (pool: string, ...players: string[]): Promise<number[]> =>
    Promise.all(
      players.map(async (player) => {
        const { body } = await admin.get(`/v1/pools/${pool}/players/${player}`);
        return (body as { rating: number }).rating;
      }),
    );

  it('rates the games of a pool by the algorithm that it brings along', async () => {
    const put = await admin.put('/v1/pools/party', { algorithm: 'party-points' });
    expect(put.body, put.text).toMatchObject({ algorithm: 'party-points', parameters: { share: 0.2 } });
    const { body } = await admin.post('/v1/games', gameOf('party', 'ada', 'bob', 'cy'), WAIT);
    expect((body as { rated: { players: object[] } }).rated.players).toEqual([
      { playerId: 'ada', before: 50, after: 60, delta: 10, expected: 0.5, k: null, rank: null },
      { playerId: 'bob', before: 50, after: 50, delta: 0, expected: 0.5, k: null, rank: null },
      { playerId: 'cy', before: 50, after: 40, delta: -10, expected: 0.5, k: null, rank: null },
    ]);
    expect(await ratingsIn('party', 'ada', 'bob', 'cy')).toEqual([60, 50, 40]);
    const { body: expected } = await admin.post('/v1/pools/party/predictions', { sides: [['ada'], ['cy']] });
    expect(expected).toMatchObject({ win: [0.6, 0.4], draw: null });
  });

  it('checks the parameters of its pools, and the games, by what the algorithm says', async () => {
    const wrong = await admin.put('/v1/pools/wrong', { algorithm: 'party-points', parameters: { share: 2 } });
    expectProblem(wrong, 'VALIDATION_FAILED');
    const team = [
      { playerId: 'ada', team: 'a', place: 1 },
      { playerId: 'bob', team: 'a', place: 1 },
      { playerId: 'cy', place: 2 },
    ];
    expectProblem(await admin.post('/v1/games', { pool: 'party', players: team }), 'PLAYERS_NOT_SUPPORTED');
    const unknown = await admin.put('/v1/pools/wrong', { algorithm: 'party-point' });
    const known = [...RATING_ALGORITHMS.map(({ name }) => name), 'party-points'];
    expect(expectProblem(unknown, 'ALGORITHM_UNKNOWN')).toMatchObject({ known });
  });

  it('keeps a service without it from saying anything wrong of its pools, and nothing is lost', async () => {
    await start();
    expect((await admin.get('/v1/pools/party')).body).toMatchObject({
      algorithm: 'party-points',
      games: 1,
      players: 3,
    });
    const without = [
      await admin.get('/v1/pools/party/players/ada'),
      await admin.get('/v1/pools/party/players/eve'),
      await admin.post('/v1/pools/party/lookups', { playerIds: ['ada'] }),
      await admin.get('/v1/pools/party/distribution'),
      await admin.post('/v1/pools/party/predictions', { sides: [['ada'], ['cy']] }),
      await admin.post('/v1/pools/party/predictions', { players: ['ada', 'cy'], sidesOf: 1 }),
      await admin.post('/v1/games', gameOf('party', 'cy', 'ada')),
      await admin.post('/v1/pools/party/voids?dryRun', { playerId: 'ada', reason: 'a bot' }),
    ];
    for (const answer of without) expectProblem(answer, 'ALGORITHM_MISSING');
    expectProblem(await admin.put('/v1/pools/party', { algorithm: 'party-points' }), 'ALGORITHM_UNKNOWN');
    // What was stored needs no arithmetic to be read.
    const { body: history } = await admin.get('/v1/pools/party/players/ada/history');
    expect(history).toMatchObject({ changes: [{ before: 50, after: 60 }] });

    await start(PartyLadderModule);
    expect(await ratingsIn('party', 'ada', 'cy')).toEqual([60, 40]);
    await admin.post('/v1/games', gameOf('party', 'cy', 'ada'), WAIT);
    expect(await ratingsIn('party', 'ada', 'cy')).toEqual([48, 52]);
  });

  it('rates by periods alone where that is what an algorithm does', async () => {
    const byWeek = {
      ...partyPoints,
      ...{ name: 'by-week', engine: 'by-week@1', rate: undefined },
      limits: () => ({ sides: 2, members: 1 }),
      ratePeriod: (_parameters: object, player: RatingState, games: readonly PeriodGame[]): PeriodRating => ({
        after: { ...player, rating: player.rating + games.length },
        games: games.map(() => ({ expected: 0.5, k: null })),
      }),
    };
    await start(LeaderboardModule.forFeature({ ratingAlgorithms: [byWeek as typeof partyPoints] }));
    const put = await admin.put('/v1/pools/weekly', { algorithm: 'by-week', periods: { every: 'weekly' } });
    expect(put.body, put.text).toMatchObject({ algorithm: 'by-week', update: 'per-period' });
    const { status } = await admin.post('/v1/games', gameOf('weekly', 'ada', 'bob'));
    expect(status).toBe(200);
  });

  it.each([
    [{ ...partyPoints, name: 'elo' }, 'There are two rating algorithms "elo".'],
    [partyPoints, 'There are two rating algorithms "party-points".'],
    [{ ...partyPoints, name: 'Party points' }, '"Party points" is no name of a rating algorithm'],
    [
      { ...partyPoints, name: 'idle', rate: undefined },
      'The rating algorithm "idle" has neither rate() nor ratePeriod()',
    ],
  ])('does not start beside another that wants to be $name', async (algorithm, message) => {
    const other = LeaderboardModule.forFeature({ ratingAlgorithms: [algorithm as typeof partyPoints] });
    await expect(
      startServiceOfTeams({ databaseUrl: database.url, redisUrl }, PartyLadderModule, other),
    ).rejects.toThrow(message);
  });
});
