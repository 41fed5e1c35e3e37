// Real: the built service, PostgreSQL, Redis; Redis is asked itself what it was asked.
import { PostgresDatabase } from '@laddercast/ledger';
import { redisCommandsRun, startStandalone, type RunningStandalone } from '@laddercast/testing';
import type { Response } from 'supertest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectProblem, playerToken, RestClient } from './rest-client.js';

const PLAYERS = 600;

interface Row {
  rank: number;
  globalRank: number;
  playerId: string;
}

let app: RunningStandalone;
let admin: RestClient;
let ada: RestClient;
let bob: RestClient;

beforeAll(async () => {
  app = await startStandalone();
  admin = new RestClient(app.url, app.adminKey);
  ada = new RestClient(app.url, await playerToken(app.jwtSecret, 'ada', 600));
  bob = new RestClient(app.url, await playerToken(app.jwtSecret, 'bob', 600));
  await admin.makeBoard('one', { windows: ['alltime', 'daily'] });
  await admin.makeBoard('three', { sharding: { by: 'hash', count: 3 }, visibility: 'private' });
  // Ten players share each score, the earlier one stands higher: p17 is 18th, and shares place 11 with nine others.
  const startedAtMs = Date.now() - 10_000;
  for (const board of ['one', 'three']) {
    const submissions = Array.from({ length: PLAYERS }, (_, at) => ({
      board,
      playerId: `p${at}`,
      score: 1000 - Math.floor(at / 10),
      metadata: { at },
      achievedAt: new Date(startedAtMs + at).toISOString(),
    }));
    const response = await admin.post('/v1/scores', { submissions }, { Prefer: 'wait=10' });
    expect(response.status).toBe(200);
  }
});
afterAll(() => app?.stop());

/** A circle's board once the change of the circle shows. */
async function boardOnce(client: RestClient, path: string, members: number): Promise<Response> {
  let response = await client.get(path);
  await expect
    .poll(async () => (response = await client.get(path)).body.members as number, { interval: 50 })
    .toBe(members);
  return response;
}

const ranksOf = (response: Response): string[] =>
  (response.body.entries as Row[]).map(({ rank, globalRank, playerId }) => `${rank} ${globalRank} ${playerId}`);

describe('friends', () => {
  it('become so when both ask, and see each other asking', async () => {
    expect((await ada.put('/v1/players/me/friends/bob')).body).toEqual({
      playerId: 'ada',
      otherId: 'bob',
      state: 'asked',
    });
    expect((await bob.get('/v1/players/me/friends')).body).toEqual({
      playerId: 'bob',
      friends: [],
      asked: [],
      askedBy: ['ada'],
    });
    expect((await bob.put('/v1/players/bob/friends/ada')).body.state).toBe('friends');
    expect((await ada.put('/v1/players/me/friends/bob', {})).body.state).toBe('friends');
    expect((await admin.get('/v1/players/ada/friends')).body.friends).toEqual(['bob']);
    expect((await ada.delete('/v1/players/me/friends/bob')).status).toBe(204);
    expect((await ada.delete('/v1/players/me/friends/bob')).status).toBe(204);
    expect((await bob.get('/v1/players/me/friends')).body.friends).toEqual([]);
  });

  it('are made at once by a key, with any ids', async () => {
    const other = 'São Tomé/%25 😀';
    const path = `/v1/players/${encodeURIComponent(other)}/friends`;
    expect((await admin.put(`${path}/cy`)).body).toEqual({ playerId: other, otherId: 'cy', state: 'friends' });
    expect((await admin.get('/v1/players/cy/friends')).body.friends).toEqual([other]);
    expect((await admin.delete(`${path}/cy`)).status).toBe(204);
  });

  it('are nobody else’s to change or to read', async () => {
    const reader = admin.as(await admin.makeKey('read'));
    const writer = admin.as(await admin.makeKey('scores:write'));
    for (const path of ['friends', 'follows']) {
      expectProblem(await ada.put(`/v1/players/bob/${path}/ada`), 'FORBIDDEN');
      expectProblem(await ada.delete(`/v1/players/bob/${path}/ada`), 'FORBIDDEN');
      expectProblem(await ada.get(`/v1/players/bob/${path}`), 'FORBIDDEN');
      expectProblem(await reader.put(`/v1/players/bob/${path}/ada`), 'FORBIDDEN');
      expectProblem(await writer.get(`/v1/players/bob/${path}`), 'FORBIDDEN');
      expectProblem(await admin.as(undefined).get(`/v1/players/bob/${path}`), 'UNAUTHENTICATED');
      expectProblem(await admin.as(undefined).put(`/v1/players/bob/${path}/ada`), 'UNAUTHENTICATED');
      expectProblem(await admin.get(`/v1/players/me/${path}`), 'NOT_A_PLAYER');
      expectProblem(await ada.get(`/v1/boards/one/${path}/bob`), 'FORBIDDEN');
      expectProblem(await writer.get(`/v1/boards/one/${path}/bob`), 'FORBIDDEN');
      expectProblem(await admin.as(undefined).get(`/v1/boards/one/${path}/bob`), 'UNAUTHENTICATED');
    }
    expectProblem(await ada.put('/v1/circles/team/members/ada'), 'FORBIDDEN');
    expectProblem(await ada.delete('/v1/circles/team/members/ada'), 'FORBIDDEN');
    expectProblem(await writer.get('/v1/circles/team/members'), 'FORBIDDEN');
    expectProblem(await admin.as(undefined).get('/v1/boards/one/circles/team'), 'UNAUTHENTICATED');
  });

  it('are two, with ids that are ids', async () => {
    for (const path of ['friends/ada', 'friends/me', 'follows/ada', `friends/${'x'.repeat(129)}`, 'friends/%00']) {
      const problem = expectProblem(await ada.put(`/v1/players/me/${path}`), 'VALIDATION_FAILED');
      expect(problem.errors![0]!.pointer).toBe('{other}');
    }
    expectProblem(await admin.put('/v1/circles/Not%20Named/members/ada'), 'VALIDATION_FAILED');
    expectProblem(await admin.put('/v1/players/ada/friends/bob', { since: 'ever' }), 'VALIDATION_FAILED');
    expectProblem(await admin.get('/v1/players/ada/friends?limit=3'), 'VALIDATION_FAILED');
  });
});

describe('the board of friends', () => {
  it('ranks the player and its friends among themselves, beside the rank in the list', async () => {
    for (const friend of ['p3', 'p57', 'p17', 'p11', 'nobody']) await admin.put(`/v1/players/p12/friends/${friend}`);
    const p12 = admin.as(await playerToken(app.jwtSecret, 'p12'));
    const own = await boardOnce(p12, '/v1/boards/one/friends/me', 6);
    expect(ranksOf(own)).toEqual(['1 4 p3', '2 12 p11', '3 13 p12', '4 18 p17', '5 58 p57']);
    expect(own.body).toMatchObject({ board: 'one', scope: 'global', total: 5, rankStyle: 'ordinal', next: null });
    expect(own.body.entries[1]).toMatchObject({ score: 999, displayName: null, metadata: { at: 11 }, columns: {} });
    expect(own.headers['cache-control']).toBe('no-cache');
    const again = await p12.get('/v1/boards/one/friends/me', { 'If-None-Match': own.headers['etag']! });
    expect(again.status).toBe(304);
    const byKey = await admin.get('/v1/boards/one/friends/p12?rankStyle=competition');
    expect(ranksOf(byKey)).toEqual(['1 1 p3', '2 11 p11', '2 11 p12', '2 11 p17', '5 51 p57']);
  });

  it('is the same over several shards, on a private board', async () => {
    const sharded = await boardOnce(admin, '/v1/boards/three/friends/p12', 6);
    expect(ranksOf(sharded)).toEqual(['1 4 p3', '2 12 p11', '3 13 p12', '4 18 p17', '5 58 p57']);
    const again = await admin.get('/v1/boards/three/friends/p12?rankStyle=competition');
    expect(ranksOf(again)).toEqual(['1 1 p3', '2 11 p11', '2 11 p12', '2 11 p17', '5 51 p57']);
  });

  it('is paged with links, and empty past its end', async () => {
    const pages: string[][] = [];
    let path: string | null = '/v1/boards/one/friends/p12?limit=2&rankStyle=ordinal';
    while (path) {
      const page: Response = await admin.get(path);
      pages.push((page.body.entries as Row[]).map(({ playerId }) => playerId));
      path = page.body.next as string | null;
    }
    expect(pages).toEqual([['p3', 'p11'], ['p12', 'p17'], ['p57']]);
    const beyond = await admin.get('/v1/boards/one/friends/p12?offset=9&limit=501');
    expect(beyond.body).toMatchObject({ entries: [], total: 5, next: null });
    expectProblem(await admin.get('/v1/boards/one/friends/p12?limit=502'), 'VALIDATION_FAILED');
  });

  it('is of the window that is asked for, and moves when somebody scores', async () => {
    expect((await admin.get('/v1/boards/one/friends/p12?window=daily')).body.window.id).toMatch(/^daily:/);
    const scored = { playerId: 'p57', score: 5000, achievedAt: new Date(Date.now() - 5000).toISOString() };
    await admin.post('/v1/boards/one/scores', scored, { Prefer: 'wait=10' });
    expect(ranksOf(await admin.get('/v1/boards/one/friends/p12?limit=1'))).toEqual(['1 1 p57']);
    expectProblem(await admin.get('/v1/boards/one/friends/p12?window=weekly'), 'WINDOW_NOT_FOUND');
    expectProblem(await admin.get('/v1/boards/nowhere/friends/p12'), 'BOARD_NOT_FOUND');
  });

  it('leaves out who is not listed, and shows it to itself', async () => {
    const database = new PostgresDatabase({ url: app.databaseUrl });
    await database.open({ migrate: false });
    const list = (listed: boolean): Promise<unknown> =>
      database.query(
        `INSERT INTO players (player_id, listed, changed_at) VALUES ('p11', $1, ladder_now())
         ON CONFLICT (player_id) DO UPDATE SET listed = $1`,
        [listed],
      );
    await list(false);
    const path = '/v1/boards/three/friends/';
    const shown = async (client: RestClient, whose: string): Promise<string[]> =>
      ranksOf(await client.get(`${path}${whose}`));
    // Its place stays, and the ranks show a gap.
    const withGap = ['1 4 p3', '3 13 p12', '4 18 p17', '5 58 p57'];
    await expect.poll(() => shown(admin, 'p12')).toEqual(withGap);
    expect((await admin.get(`${path}p12`)).body).toMatchObject({ total: 5, members: 6 });
    expect(ranksOf(await admin.get(`${path}p12?limit=2`))).toEqual(['1 4 p3']);
    const p11 = admin.as(await playerToken(app.jwtSecret, 'p11'));
    expect(await shown(p11, 'me')).toEqual(['1 12 p11', '2 13 p12']);
    expect(await shown(admin, 'p11')).toEqual(['1 12 p11', '2 13 p12']);
    await list(true);
    await expect.poll(() => shown(admin, 'p12')).toHaveLength(5);
    await database.close();
  });

  it('shows a player without friends alone', async () => {
    expect((await admin.get('/v1/boards/one/friends/p300')).body).toMatchObject({ members: 1, total: 1 });
    expect((await admin.get('/v1/boards/one/follows/hermit')).body).toMatchObject({
      members: 1,
      total: 0,
      entries: [],
    });
  });
});

describe('the board of friends in a window that ends', () => {
  it('stands still from the freeze, then is final, and stays so when the window has left Redis', async () => {
    const inMs = (ms: number): string => new Date(Date.now() + ms).toISOString();
    for (const friend of ['s2', 's3', 's4']) await admin.put(`/v1/players/s1/friends/${friend}`);
    const reader = admin.as(await admin.makeKey('read'));
    const freezeAtMs = Date.now() + 8000;
    const [freezeAt, endsAt] = [freezeAtMs, freezeAtMs + 8000].map((ms) => new Date(ms).toISOString());
    await admin.makeBoard('season', {
      windows: [{ season: 's1', startsAt: inMs(-60_000), freezeAt, endsAt }],
      sharding: { by: 'hash', count: 2 },
      graceSeconds: 0,
      keepEndedSeconds: 1,
    });
    const submit = (scores: Record<string, number>): Promise<Response> => {
      // Who ties is told apart by these times: those of the database's clock are drawn by each lane for itself.
      const submissions = Object.entries(scores).map(([playerId, score], at) => ({
        board: 'season',
        playerId,
        score,
        achievedAt: inMs(at - 1000),
      }));
      return admin.post('/v1/scores', { submissions }, { Prefer: 'wait=10' });
    };
    await submit({ s1: 10, s2: 10, s3: 30, stranger: 20 });
    const path = '/v1/boards/season/friends/s1?rankStyle=competition';
    const before = ['1 1 s3', '2 3 s1', '2 3 s2'];
    expect(ranksOf(await boardOnce(reader, path, 4))).toEqual(before);

    await expect.poll(() => Date.now()).toBeGreaterThan(freezeAtMs + 200);
    await submit({ s4: 40, s2: 35 });
    await expect.poll(async () => (await reader.get(path)).status).toBe(200);
    expect(ranksOf(await reader.get(path))).toEqual(before);
    const after = ['1 1 s4', '2 2 s2', '3 3 s3', '4 5 s1'];
    expect(ranksOf(await admin.get(path))).toEqual(after);

    await expect.poll(async () => ranksOf(await reader.get(path))).toEqual(after);
    const shown = new Set<string>();
    await expect
      .poll(
        async () => {
          const response = await reader.get(`${path}&window=season:s1`);
          if (response.status === 200) shown.add(ranksOf(response).join());
          const asked = await redisCommandsRun(/^(evalsha|eval)$/);
          const status = (await reader.get(`${path}&window=season:s1`)).status;
          return status === 200 ? (await redisCommandsRun(/^(evalsha|eval)$/)) - asked : status;
        },
        { interval: 200 },
      )
      .toBe(0);
    expect([...shown]).toEqual([after.join()]);
    const kept = await reader.get(`${path}&window=season:s1`);
    expect(ranksOf(kept)).toEqual(after);
    expect(kept.body).toMatchObject({ total: 4, members: 4, window: { id: 'season:s1', resetsAt: null } });
  });
});

describe('follows', () => {
  it('are one way, and rank those followed with the follower', async () => {
    const fan = admin.as(await playerToken(app.jwtSecret, 'p40'));
    expect((await fan.put('/v1/players/me/follows/p20')).body).toEqual({
      playerId: 'p40',
      otherId: 'p20',
      state: 'follows',
    });
    await fan.put('/v1/players/me/follows/p0');
    expect((await fan.get('/v1/players/me/follows')).body).toEqual({ playerId: 'p40', follows: ['p0', 'p20'] });
    const board = await boardOnce(fan, '/v1/boards/three/follows/me', 3);
    expect(ranksOf(board)).toEqual(['1 1 p0', '2 21 p20', '3 41 p40']);
    expect((await admin.get('/v1/boards/three/follows/p20')).body.members).toBe(1);
    expect((await fan.delete('/v1/players/me/follows/p0')).status).toBe(204);
    expect(ranksOf(await boardOnce(fan, '/v1/boards/three/follows/me', 2))).toEqual(['1 21 p20', '2 41 p40']);
  });
});

describe('a named circle', () => {
  it('is made by keys, ranked for players, and gone with its last member', async () => {
    for (const [at, id] of ['p5', 'p1', 'nobody'].entries()) {
      expect((await admin.put(`/v1/circles/class-of-2026/members/${id}`)).body).toEqual({
        circle: 'class-of-2026',
        playerId: id,
        members: at + 1,
      });
    }
    expect((await ada.get('/v1/circles/class-of-2026/members')).body.members).toEqual(['nobody', 'p1', 'p5']);
    expect(ranksOf(await boardOnce(ada, '/v1/boards/three/circles/class-of-2026', 3))).toEqual(['1 2 p1', '2 6 p5']);
    for (const id of ['p5', 'p1', 'nobody']) await admin.delete(`/v1/circles/class-of-2026/members/${id}`);
    expectProblem(await ada.get('/v1/circles/class-of-2026/members'), 'CIRCLE_NOT_FOUND');
    await expect.poll(async () => (await ada.get('/v1/boards/three/circles/class-of-2026')).status).toBe(404);
    expectProblem(await ada.get('/v1/boards/one/circles/none'), 'CIRCLE_NOT_FOUND');
  });
});

describe('the board of 500 friends', () => {
  it('asks Redis six times, all at once, and writes nothing when somebody scores', async () => {
    const friends = Array.from({ length: 500 }, (_, at) => `p${at + 100}`);
    for (let at = 0; at < friends.length; at += 50) {
      const made = friends.slice(at, at + 50).map((friend) => admin.put(`/v1/players/p0/friends/${friend}`));
      for (const response of await Promise.all(made)) expect(response.status).toBe(200);
    }
    const full = expectProblem(await admin.put('/v1/players/p1/friends/p0'), 'LIMIT_REACHED');
    expect(full['player']).toBe('p0');
    await boardOnce(admin, '/v1/boards/one/friends/p0?limit=1', 501);
    const scripts = (): Promise<number> => redisCommandsRun(/^(evalsha|eval)$/);
    // Ticks and marks ask now and then; the quietest of some tries is the reading alone.
    const costs: number[] = [];
    for (let round = 0; round < 100 && Math.min(...costs) !== 6; round += 1) {
      const before = await scripts();
      const { body } = await admin.get('/v1/boards/one/friends/p0?limit=501');
      costs.push((await scripts()) - before);
      expect(body.entries).toHaveLength(501);
      expect((body.entries as Row[]).map(({ rank }) => rank)).toEqual(Array.from({ length: 501 }, (_, at) => at + 1));
    }
    expect(Math.min(...costs)).toBe(6);

    const writes = (): Promise<number> => redisCommandsRun(/^(zadd|zrem|hset)$/);
    const before = await writes();
    const scored = { playerId: 'p0', score: 9000, achievedAt: new Date(Date.now() - 5000).toISOString() };
    await admin.post('/v1/boards/three/scores', scored, { Prefer: 'wait=10' });
    // One entry of one list, and now and then the marks of lists in use; 500 friends have 500 lists.
    expect((await writes()) - before).toBeLessThan(100);
  });
});
