// Real: the built service in one process, PostgreSQL, Redis, HTTP, and WebSocket clients that know only the contract's rule.
import { startStandalone, type RunningStandalone } from '@laddercast/testing';
import type { Response } from 'supertest';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { LiveClient } from '../../libs/realtime/test/follower.js';
import { expectProblem, playerToken, RestClient } from './rest-client.js';

let service: RunningStandalone;
let anyone: RestClient;
let admin: RestClient;
let moderator: RestClient;
let reader: RestClient;
let board: string;
let ada: RestClient;
let made = 0;

type Row = { rank: number; playerId: string; score: number };
type Page = { entries: (Row | null)[]; total: number };
const SHOWN_WITHIN = { timeout: 20_000, interval: 50 };
const SCORES = { bob: 9, ada: 7, cy: 7, dan: 3 };
const DEFINITION = {
  windows: ['alltime', 'daily'],
  scopes: ['global', 'region', 'guild'],
  submitters: 'players',
  history: {},
  push: { intervalMs: 100 },
};

beforeAll(async () => {
  service = await startStandalone();
  anyone = new RestClient(service.url);
  admin = anyone.as(service.adminKey);
  moderator = anyone.as(await admin.makeKey('moderate'));
  reader = anyone.as(await admin.makeKey('read'));
  ada = anyone.as(await playerToken(service.jwtSecret, 'ada'));
  await admin.put('/v1/guilds/red', { displayName: 'Red' });
  for (const player of Object.keys(SCORES)) {
    await admin.put(`/v1/players/${player}`, { displayName: player.toUpperCase(), region: 'EU' });
    await admin.put(`/v1/guilds/red/members/${player}`);
    await admin.put(`/v1/circles/team/members/${player}`);
    if (player !== 'bob') await admin.put(`/v1/players/bob/friends/${player}`);
  }
});
afterAll(() => service?.stop());

beforeEach(async () => {
  await moderator.delete('/v1/admin/players/ada/sanction?reason=next');
  board = await admin.makeBoard(`s${(made += 1)}`, DEFINITION);
  for (const [playerId, score] of Object.entries(SCORES)) await submit(admin, playerId, score);
});

const submit = async (client: RestClient, playerId: string, score: number, more: object = {}): Promise<Response> =>
  client.post(`/v1/boards/${board}/scores`, { playerId, score, ...more }, { Prefer: 'wait=10' });
const sanction = async (body: object, status = 200): Promise<Response> => {
  const response = await moderator.put('/v1/admin/players/ada/sanction', { reason: 'speed hack', ...body });
  expect(response.status, response.text).toBe(status);
  return response;
};
const lift = async (): Promise<void> => {
  const response = await moderator.delete('/v1/admin/players/ada/sanction?reason=a+bug+of+ours');
  expect(response.status, response.text).toBe(200);
};
const get = async <Body = Page>(path: string, client = anyone): Promise<Body> => {
  const response = await client.get(path);
  expect(response.status, `${path}: ${response.text}`).toBe(200);
  return response.body as Body;
};
const rows = ({ entries }: Page): string[] => entries.map((row) => (row ? `${row.rank} ${row.playerId}` : 'none'));

/** Everything that others see of the board, of every kind of list. */
async function seenByOthers(client = anyone): Promise<Record<string, unknown>> {
  const of = `/v1/boards/${board}`;
  const bob = anyone.as(await playerToken(service.jwtSecret, 'bob'));
  const lookup = async (ranked: boolean): Promise<string[]> => {
    const found = await client.post(`${of}/lookups`, { playerIds: ['ada', 'cy'], ranked });
    return rows(found.body as Page);
  };
  const exported = await client.get(`${of}/export?format=csv`);
  const members = await get<{ members: { playerId: string }[] }>('/v1/guilds/red/members', bob);
  const guilds = await get<{ entries: { score: number; playerId: string }[] }>(`${of}/guilds`);
  const stable = await get(`${of}/entries?cursor=start&limit=10`, client);
  return {
    page: rows(await get(`${of}/entries`, client)),
    daily: rows(await get(`${of}/entries?window=daily&rankStyle=competition`, client)),
    stable: rows(stable),
    region: rows(await get(`${of}/entries?scope=region:EU`, client)),
    guild: rows(await get(`${of}/entries?scope=guild:red`, client)),
    around: rows(await get(`${of}/entries?aroundScore=7`, client)),
    total: (await get(`${of}/entries`, client)).total,
    player: (await client.get(`${of}/players/ada`)).status,
    neighbours: rows({ entries: (await get<{ neighbours: Row[] }>(`${of}/players/cy`, client)).neighbours, total: 0 }),
    lookups: [await lookup(false), await lookup(true)],
    rank: (await get<{ rank: number }>(`${of}/rank?score=5`, client)).rank,
    percentiles: (await get<{ percentiles: unknown }>(`${of}/percentiles?at=0,100&accuracy=exact`, client)).percentiles,
    friends: rows(await get(`${of}/friends/bob`, bob)),
    circle: rows(await get(`${of}/circles/team`, bob)),
    members: members.members.map(({ playerId }) => playerId),
    memberCount: (await get<{ memberCount: number }>('/v1/guilds/red', bob)).memberCount,
    guilds: guilds.entries.map(({ playerId, score }) => `${playerId} ${score}`),
    history: (await get<{ points: unknown[] }>(`${of}/players/ada/history`, client)).points.length > 0,
    standings:
      (await get<{ standings: { board: string }[] }>('/v1/players/ada/standings', client)).standings.length > 0,
    exported: /^\d+,ada,/m.test(exported.text),
    profile: (await bob.get('/v1/players/ada')).status,
  };
}

const AS_EVER = {
  page: ['1 bob', '2 ada', '3 cy', '4 dan'],
  daily: ['1 bob', '2 ada', '2 cy', '4 dan'],
  stable: ['1 bob', '2 ada', '3 cy', '4 dan'],
  region: ['1 bob', '2 ada', '3 cy', '4 dan'],
  guild: ['1 bob', '2 ada', '3 cy', '4 dan'],
  total: 4,
  player: 200,
  lookups: [
    ['2 ada', '3 cy'],
    ['2 ada', '3 cy'],
  ],
  rank: 4,
  friends: ['1 bob', '2 ada', '3 cy', '4 dan'],
  circle: ['1 bob', '2 ada', '3 cy', '4 dan'],
  members: ['ada', 'bob', 'cy', 'dan'],
  memberCount: 4,
  guilds: ['red 26'],
  history: true,
  standings: true,
  profile: 200,
};
const WITHOUT = {
  page: ['1 bob', '2 cy', '3 dan'],
  daily: ['1 bob', '2 cy', '3 dan'],
  stable: ['1 bob', '2 cy', '3 dan'],
  region: ['1 bob', '2 cy', '3 dan'],
  guild: ['1 bob', '2 cy', '3 dan'],
  around: ['1 bob', '2 cy', '3 dan'],
  total: 3,
  player: 404,
  neighbours: ['1 bob', '2 cy', '3 dan'],
  lookups: [['none', '2 cy'], ['2 cy']],
  rank: 3,
  friends: ['1 bob', '2 cy', '3 dan'],
  circle: ['1 bob', '2 cy', '3 dan'],
  members: ['bob', 'cy', 'dan'],
  memberCount: 3,
  guilds: ['red 19'],
  history: false,
  standings: false,
  exported: false,
  profile: 404,
};

describe('a banned or shadowed player', () => {
  it.each(['ban', 'shadow'])(
    'is to others as if it had no entry, on every kind of list (%s), and back after a lift',
    async (kind) => {
      await expect.poll(() => seenByOthers(), SHOWN_WITHIN).toMatchObject(AS_EVER);
      const before = await get(`/v1/boards/${board}/entries`);
      await sanction({ kind });
      await expect.poll(() => seenByOthers(), SHOWN_WITHIN).toMatchObject(WITHOUT);
      // What any key but a moderator's sees is what players see.
      expect((await reader.get(`/v1/boards/${board}/players/ada`)).status).toBe(404);
      expect(rows(await get(`/v1/boards/${board}/entries`, moderator))).toEqual(WITHOUT.page);
      await lift();
      await expect.poll(() => seenByOthers(), SHOWN_WITHIN).toMatchObject(AS_EVER);
      expect((await get(`/v1/boards/${board}/entries`)).entries).toEqual(before.entries);
    },
  );

  it('is read by moderators by its id as it is, with what is in force', async () => {
    for (const kind of ['ban', 'shadow']) {
      await sanction({ kind, publicReason: 'Cheating.' });
      await expect
        .poll(async () => (await anyone.get(`/v1/boards/${board}/players/ada`)).status, SHOWN_WITHIN)
        .toBe(404);
      for (const client of [moderator, admin]) {
        expect(await get(`/v1/boards/${board}/players/ada`, client)).toMatchObject({
          entry: { rank: 2, score: 7 },
          total: 4,
          sanction: { kind, until: null, publicReason: 'Cheating.' },
        });
      }
      expect((await moderator.get('/v1/players/ada')).status).toBe(200);
    }
  });

  it('leaves a live list within a second, and is in it again after a lift', async () => {
    const client = await LiveClient.connect(`${service.url.replace('http', 'ws')}/v1/live`, ['ladder.v1']);
    const ask = { type: 'subscribe', id: '1', board, channel: 'top', limit: 10 };
    await expect.poll(async () => (await client.ask(ask)).type, { interval: 100 }).toBe('snapshot');
    const top = (): string[] => client.list('1').places();
    await expect.poll(top, SHOWN_WITHIN).toEqual(AS_EVER.page);
    await sanction({ kind: 'ban' });
    await expect.poll(top, SHOWN_WITHIN).toEqual(WITHOUT.page);
    await lift();
    await expect.poll(top, SHOWN_WITHIN).toEqual(AS_EVER.page);
    client.socket.terminate();
  });
});

describe('a ban', () => {
  it('tells the player itself what it may know, and refuses its runs', async () => {
    const until = '2099-01-01T00:00:00.000Z';
    await sanction({ kind: 'ban', publicReason: 'Cheating.', until });
    const told = { kind: 'ban', until, publicReason: 'Cheating.' };
    await expect
      .poll(async () => (await ada.get(`/v1/boards/${board}/players/me`)).body as object, SHOWN_WITHIN)
      .toMatchObject({ code: 'ENTRY_NOT_FOUND', total: 3, sanction: told });
    expect((await anyone.get(`/v1/boards/${board}/players/ada`)).body).not.toHaveProperty('sanction');
    const refused = await submit(ada, 'ada', 99, { submissionId: 'later' });
    expect(expectProblem(refused, 'PLAYER_BANNED')).toMatchObject({ sanction: told });
    const submissions = ['ada', 'bob'].map((playerId) => ({ board, playerId, score: 99 }));
    const { results } = (await admin.post('/v1/scores', { submissions })).body as { results: object[] };
    expect(results).toMatchObject([{ problem: { code: 'PLAYER_BANNED', status: 403 } }, { outcome: 'improved' }]);
    await lift();
    expect((await submit(ada, 'ada', 99, { submissionId: 'later' })).body).toMatchObject({
      outcome: 'improved',
      replayed: false,
      previousScore: 7,
    });
  });

  it('with an end is lifted by the clock', async () => {
    await sanction({ kind: 'ban', until: new Date(Date.now() + 2000).toISOString() });
    await expect
      .poll(
        async () => (await get<{ sanctions: object[] }>('/v1/admin/players/ada/sanctions', moderator)).sanctions[0],
        SHOWN_WITHIN,
      )
      .toMatchObject({ kind: 'ban', endedBy: 'clock', progress: { isDone: true } });
    await expect.poll(async () => rows(await get(`/v1/boards/${board}/entries`)), SHOWN_WITHIN).toEqual(AS_EVER.page);
  });
});

describe('the world of a shadowed player', () => {
  it('is that of a board where it is ranked, by its own token alone', async () => {
    await sanction({ kind: 'shadow' });
    await expect.poll(async () => rows(await get(`/v1/boards/${board}/entries`)), SHOWN_WITHIN).toEqual(WITHOUT.page);
    const of = `/v1/boards/${board}`;
    const own = async (): Promise<object> => ({
      page: rows(await get(`${of}/entries`, ada)),
      second: rows(await get(`${of}/entries?limit=2&offset=2`, ada)),
      daily: rows(await get(`${of}/entries?window=daily&rankStyle=competition`, ada)),
      region: rows(await get(`${of}/entries?scope=region:EU`, ada)),
      around: rows(await get(`${of}/entries?aroundPlayer=me`, ada)),
      player: await get(`${of}/players/me`, ada),
      lookups: rows((await ada.post(`${of}/lookups`, { playerIds: ['cy', 'ada'] })).body as Page),
      friends: rows(await get(`${of}/friends/me`, ada)),
      rank: (await get<{ rank: number }>(`${of}/rank?score=5`, ada)).rank,
      memberCount: (await get<{ memberCount: number }>('/v1/guilds/red', ada)).memberCount,
    });
    expect(await own()).toMatchObject({
      page: AS_EVER.page,
      second: ['3 cy', '4 dan'],
      daily: AS_EVER.daily,
      region: AS_EVER.region,
      around: AS_EVER.page,
      player: { total: 4, entry: { rank: 2, score: 7, displayName: 'ADA', percentile: 200 / 3 } },
      lookups: ['3 cy', '2 ada'],
      friends: ['1 bob', '2 ada'],
      rank: 4,
      memberCount: 4,
    });
    const response = await ada.get(`${of}/entries`);
    expect(response.headers['cache-control']).toBe('private, no-store');
    expect(response.text).not.toContain('sanction');
    const better = await submit(ada, 'ada', 8, { metadata: { replay: 'x' } });
    expect(better.body).toMatchObject({ outcome: 'improved', rank: { before: 2, after: 2, total: 4 } });
    expect(await get(`${of}/players/me`, ada)).toMatchObject({ entry: { score: 8, metadata: { replay: 'x' } } });
    expect((await submit(ada, 'ada', 10)).body).toMatchObject({ rank: { before: 2, after: 1, total: 4 } });
    expect(rows(await get(`${of}/entries`, ada))).toEqual(['1 ada', '2 bob', '3 cy', '4 dan']);
    expect(rows(await get(`${of}/entries`))).toEqual(WITHOUT.page);
    await lift();
    await expect
      .poll(async () => rows(await get(`${of}/entries`)), SHOWN_WITHIN)
      .toEqual(['1 ada', '2 bob', '3 cy', '4 dan']);
  });

  it('has no other shadowed player in it', async () => {
    await sanction({ kind: 'shadow' });
    await moderator.put('/v1/admin/players/cy/sanction', { kind: 'shadow', reason: 'the same' });
    await expect
      .poll(async () => rows(await get(`/v1/boards/${board}/entries`)), SHOWN_WITHIN)
      .toEqual(['1 bob', '2 dan']);
    expect(rows(await get(`/v1/boards/${board}/entries`, ada))).toEqual(['1 bob', '2 ada', '3 dan']);
    await moderator.delete('/v1/admin/players/cy/sanction?reason=over');
  });
});

describe('a hidden player', () => {
  it('is ranked and counted, and its row is left out for others, on the boards that are named', async () => {
    const put = await sanction({ kind: 'hide', boards: [board, board] });
    expect(put.body).toMatchObject({ sanction: { boards: [board] } });
    const gap = ['1 bob', '3 cy', '4 dan'];
    const seen = {
      page: gap,
      region: gap,
      friends: gap,
      total: 4,
      player: 404,
      rank: 4,
      guilds: ['red 26'],
      exported: false,
    };
    await expect.poll(() => seenByOthers(), SHOWN_WITHIN).toMatchObject(seen);
    expect(await get(`/v1/boards/${board}/players/me`, ada)).toMatchObject({ entry: { rank: 2 }, total: 4 });
    // It cannot undo that itself, as it can be listed or not.
    await admin.put('/v1/players/ada', { displayName: 'ADA', region: 'EU', listed: true });
    expect(rows(await get(`/v1/boards/${board}/entries`))).toEqual(gap);
    expect((await submit(ada, 'ada', 8)).body).toMatchObject({ outcome: 'improved' });
    await lift();
    await expect.poll(async () => rows(await get(`/v1/boards/${board}/entries`)), SHOWN_WITHIN).toEqual(AS_EVER.page);
  });
});

describe('what moderators send', () => {
  it('is refused where it is not well formed, and stores nothing', async () => {
    const put = (body: unknown): Promise<Response> => moderator.put('/v1/admin/players/eve/sanction', body);
    const good = { kind: 'ban', reason: 'why' };
    const bad: [object, string][] = [
      [{ reason: 'why' }, '/kind'],
      [{ ...good, kind: 'mute' }, '/kind'],
      [{ kind: 'ban' }, '/reason'],
      [{ ...good, reason: '' }, '/reason'],
      [{ ...good, reason: 'x'.repeat(501) }, '/reason'],
      [{ ...good, publicReason: '' }, '/publicReason'],
      [{ ...good, until: 'tomorrow' }, '/until'],
      [{ ...good, until: '2020-01-01T00:00:00.000Z' }, '/until'],
      [{ ...good, boards: [] }, '/boards'],
      [{ ...good, boards: ['No such id'] }, '/boards/0'],
      [{ ...good, boards: Array.from({ length: 101 }, (_, at) => `b${at}`) }, '/boards'],
      [{ ...good, forever: true }, '/forever'],
    ];
    for (const [body, pointer] of bad) {
      const problem = expectProblem(await put(body), 'VALIDATION_FAILED') as { errors?: { pointer: string }[] };
      expect(
        problem.errors?.map((fault) => fault.pointer),
        JSON.stringify(body),
      ).toEqual([pointer]);
    }
    expectProblem(await put({ ...good, boards: ['nowhere'] }), 'BOARD_NOT_FOUND');
    expectProblem(await moderator.delete('/v1/admin/players/eve/sanction'), 'VALIDATION_FAILED');
    expectProblem(await moderator.delete('/v1/admin/players/eve/sanction?reason='), 'VALIDATION_FAILED');
    expectProblem(await moderator.get('/v1/admin/players/eve/sanctions?cursor=x'), 'VALIDATION_FAILED');
    expectProblem(await moderator.put('/v1/admin/players/me/sanction', good), 'NOT_A_PLAYER');
    for (const client of [reader, ada]) {
      expectProblem(await client.put('/v1/admin/players/eve/sanction', good), 'FORBIDDEN');
      expectProblem(await client.delete('/v1/admin/players/eve/sanction?reason=x'), 'FORBIDDEN');
      expectProblem(await client.get('/v1/admin/players/eve/sanctions'), 'FORBIDDEN');
    }
    expectProblem(await anyone.get('/v1/admin/players/eve/sanctions'), 'UNAUTHENTICATED');
    expect(await get('/v1/admin/players/eve/sanctions', moderator)).toEqual({
      playerId: 'eve',
      sanctions: [],
      next: null,
    });
    expect((await moderator.delete('/v1/admin/players/eve/sanction?reason=none')).body).toEqual({
      playerId: 'eve',
      sanction: null,
    });
    const acts = await get<{ acts: object[] }>('/v1/admin/audit?subject=player:eve', moderator);
    expect(acts.acts).toEqual([]);
  });

  it('is listed page by page, and in the audit log with what it changed', async () => {
    for (const kind of ['ban', 'shadow', 'hide']) await sanction({ kind, reason: `as ${kind}` });
    await lift();
    const first = await get<{ sanctions: { kind: string }[]; next: string }>(
      '/v1/admin/players/ada/sanctions?limit=2',
      moderator,
    );
    expect(first.sanctions.map(({ kind }) => kind)).toEqual(['hide', 'shadow']);
    const next = await get<{ sanctions: { kind: string }[] }>(
      `/v1/admin/players/ada/sanctions?limit=1&cursor=${first.next}`,
      moderator,
    );
    expect(next.sanctions).toMatchObject([{ kind: 'ban', reason: 'as ban', endReason: 'as shadow' }]);
    const { acts } = await get<{ acts: { action: string; details: object }[] }>(
      '/v1/admin/audit?subject=player:ada&limit=4',
      moderator,
    );
    expect(acts.map(({ action }) => action)).toEqual(['sanction.lift', 'sanction.put', 'sanction.put', 'sanction.put']);
    expect(acts.at(-1)!.details).toMatchObject({
      reason: 'as ban',
      windows: expect.arrayContaining([
        { board, window: 'alltime', before: { score: 7, columns: [] }, after: null, revising: false },
      ]) as object[],
    });
  });
});
