// Real: PostgreSQL, Redis, and the whole service in this process, with a team's friend graph in place of its own.
import { FriendGraph, LeaderboardModule } from '@laddercast/leaderboard';
import { createTestDatabase, emptyTestRedis, type TestDatabase } from '@laddercast/testing';
import { Injectable, type Type } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectProblem, RestClient } from '../../e2e/rest-client.js';
import { ADMIN_KEY, startServiceOfTeams } from '../nodes/service-of-teams.js';

@Injectable()
class PlatformFriends extends FriendGraph {
  asked = 0;

  friendsOf(playerId: string): Promise<string[]> {
    this.asked += 1;
    return playerId === 'lost' ? Promise.reject(new Error('the platform is away')) : Promise.resolve(['bob', 'cy']);
  }

  followedBy(): Promise<string[]> {
    return Promise.resolve(['star']);
  }
}

let database: TestDatabase;
let redisUrl: string;

beforeAll(async () => {
  database = await createTestDatabase();
  redisUrl = await emptyTestRedis();
});
afterAll(() => database.drop());

const start = (...graphs: Type<FriendGraph>[]): Promise<NestFastifyApplication> =>
  startServiceOfTeams({ databaseUrl: database.url, redisUrl }, LeaderboardModule.forFeature({ extensions: graphs }));

describe('a friend graph that a team brings along', () => {
  let app: NestFastifyApplication;
  let admin: RestClient;

  beforeAll(async () => {
    app = await start(PlatformFriends);
    admin = new RestClient(await app.getUrl(), ADMIN_KEY);
    await admin.makeBoard('team');
    const scores = { ada: 3, bob: 5, star: 9, dan: 7 };
    const submissions = Object.entries(scores).map(([playerId, score]) => ({ board: 'team', playerId, score }));
    await admin.post('/v1/scores', { submissions }, { Prefer: 'wait=10' });
  });
  afterAll(() => app?.close());

  it('decides who is ranked among whom', async () => {
    const friends = await admin.get('/v1/boards/team/friends/ada');
    expect(friends.body).toMatchObject({ members: 3, total: 2 });
    expect(friends.body.entries).toMatchObject([
      { playerId: 'bob', rank: 1, globalRank: 3 },
      { playerId: 'ada', rank: 2, globalRank: 4 },
    ]);
    const follows = await admin.get('/v1/boards/team/follows/ada');
    expect((follows.body.entries as { playerId: string }[]).map(({ playerId }) => playerId)).toEqual(['star', 'ada']);
    expect((await admin.get('/v1/players/ada/friends')).body).toMatchObject({ friends: ['bob', 'cy'], asked: [] });
    expect((await admin.get('/v1/players/ada/follows')).body).toEqual({ playerId: 'ada', follows: ['star'] });
  });

  it('is the only one: what is put here is refused, and nothing stored and ignored', async () => {
    for (const path of ['friends/dan', 'follows/dan']) {
      for (const answer of [
        await admin.put(`/v1/players/ada/${path}`),
        await admin.delete(`/v1/players/ada/${path}`),
      ]) {
        expect(expectProblem(answer, 'NOT_SUPPORTED').detail).toContain('PlatformFriends');
      }
    }
    expect((await admin.put('/v1/circles/team/members/dan')).status).toBe(200);
  });

  it('is asked when a board is read, and not when somebody scores', async () => {
    const graph = app.get(PlatformFriends, { strict: false });
    const { asked } = graph;
    await admin.post('/v1/boards/team/scores', { playerId: 'ada', score: 8 }, { Prefer: 'wait=10' });
    expect(graph.asked).toBe(asked);
    await admin.get('/v1/boards/team/friends/new');
    expect(graph.asked).toBe(asked + 1);
  });

  it('may fail: the reading is refused, and can be tried again', async () => {
    const response = await admin.get('/v1/boards/team/friends/lost');
    expectProblem(response, 'LEDGER_UNAVAILABLE');
    expect(response.headers['retry-after']).toBe('2');
    expectProblem(await admin.get('/v1/players/lost/friends'), 'LEDGER_UNAVAILABLE');
  });
});

it('two friend graphs keep the service from starting', async () => {
  class OtherFriends extends PlatformFriends {}
  await expect(start(PlatformFriends, OtherFriends)).rejects.toThrow(
    'OtherFriends and PlatformFriends both want to be the FriendGraph; there is one.',
  );
});
