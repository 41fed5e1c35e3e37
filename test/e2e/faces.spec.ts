// Real: the built service in one process, with its PostgreSQL and Redis.
import { isDeepStrictEqual } from 'node:util';
import { startStandalone, type RunningStandalone } from '@laddercast/testing';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { LiveClient } from '../../libs/realtime/test/follower.js';
import { expectProblem, playerToken, RestClient } from './rest-client.js';

interface Face {
  avatarUrl: string | null;
  region: string | null;
  attributes: Record<string, string>;
}

type Row = { playerId: string; player?: Face } & Record<string, unknown>;

/** The contract promises a second; a machine that is busy with other tests takes longer. */
const SOON = { interval: 20 };
const SEASON = { season: 's1', startsAt: '2020-01-01T00:00:00Z', endsAt: '2090-01-01T00:00:00Z' };

const ADA: Face = {
  avatarUrl: 'https://cdn.example/ada.png',
  region: 'EU',
  attributes: { country: 'GB', team: 'red' },
};
const NOBODY: Face = { avatarUrl: null, region: null, attributes: {} };
const PLAYERS = ['ada', 'bob', 'cy'];

/** Every read with rows of players, and where its answer has them. */
const READS: Record<string, { path: string; body?: object; rows?: string[] }> = {
  'a page from memory, or from the shards': { path: '/v1/boards/seen/entries?limit=5' },
  'a page by offset': { path: '/v1/boards/seen/entries?limit=2&offset=1' },
  'a page around a rank': { path: '/v1/boards/seen/entries?aroundRank=2' },
  'a page around a score': { path: '/v1/boards/seen/entries?aroundScore=15' },
  'a page around a player': { path: '/v1/boards/seen/entries?aroundPlayer=ada' },
  'pages that hold still': { path: '/v1/boards/seen/entries?cursor=start&limit=2' },
  'a region': { path: '/v1/boards/seen/entries?scope=region:EU' },
  'an ended window': { path: '/v1/boards/seen/entries?window=season:s1' },
  'pages of an ended window': { path: '/v1/boards/seen/entries?window=season:s1&cursor=start' },
  'a player with neighbours': { path: '/v1/boards/seen/players/ada?around=2', rows: ['entry', 'neighbours'] },
  'a player, estimated': { path: '/v1/boards/seen/players/ada?accuracy=estimated', rows: ['entry', 'neighbours'] },
  'the end of the list': { path: '/v1/boards/seen/players/nobody?fallback=last', rows: ['neighbours'] },
  'a look-up': { path: '/v1/boards/seen/lookups', body: { playerIds: ['cy', 'ada'] } },
  'a look-up, ranked': { path: '/v1/boards/seen/lookups', body: { playerIds: ['cy', 'ada'], ranked: true } },
  'a look-up, estimated': { path: '/v1/boards/seen/lookups', body: { playerIds: ['ada'], accuracy: 'estimated' } },
  friends: { path: '/v1/boards/seen/friends/ada' },
  follows: { path: '/v1/boards/seen/follows/ada' },
  'a circle': { path: '/v1/boards/seen/circles/team' },
  'each run an entry': { path: '/v1/boards/runs/players/ada', rows: ['entry', 'entries', 'neighbours'] },
  'members of a guild': { path: '/v1/guilds/red/members', rows: ['members'] },
};

const withFields = (path: string): string => `${path}${path.includes('?') ? '&' : '?'}fields=player`;

describe('faces of players', () => {
  let service: RunningStandalone;
  let admin: RestClient;
  let anonymous: RestClient;

  beforeAll(async () => {
    service = await startStandalone({ RATE_LIMIT_KEY_PER_SECOND: '0' });
    anonymous = new RestClient(service.url);
    admin = anonymous.as(service.adminKey);
    await ok(admin.put('/v1/players/ada', { displayName: 'Ada', ...ADA }));
    await ok(admin.put('/v1/players/bob', { region: 'EU' }));
    const definition = { windows: ['alltime', SEASON], scopes: ['global', 'region', 'guild'] };
    await admin.makeBoard('seen', { ...definition, push: { intervalMs: 100, top: 10 } });
    await admin.makeBoard('runs', { runs: { keepDays: 30 }, entriesPer: 'run', entriesPerPlayerMax: 2 });
    await ok(admin.put('/v1/guilds/red', {}));
    for (const player of PLAYERS) {
      await ok(admin.put(`/v1/guilds/red/members/${player}`));
      await ok(admin.put(`/v1/circles/team/members/${player}`));
    }
    await ok(admin.put('/v1/players/ada/friends/bob'));
    await ok(admin.put('/v1/players/ada/follows/cy'));
    const submissions = ['seen', 'runs'].flatMap((board) =>
      PLAYERS.map((playerId, at) => ({ board, playerId, score: 10 * (at + 1) })),
    );
    await ok(admin.post('/v1/scores', { submissions }, { Prefer: 'wait=10' }));
    await ok(admin.post('/v1/admin/boards/seen/close-window', { window: 'season:s1' }));
    const isSettled = async (): Promise<boolean> =>
      (await admin.get('/v1/boards/seen/windows/season:s1/editions')).status === 200;
    await vi.waitUntil(isSettled, { timeout: 60_000, interval: 250 });
  });
  afterAll(() => service?.stop());

  const ok = async (answer: Promise<{ status: number; text: string }>): Promise<void> => {
    const { status, text } = await answer;
    expect([200, 201, 202, 204], text).toContain(status);
  };
  const read = async (name: string, isWithPlayers: boolean) => {
    const { path, body } = READS[name]!;
    const asked = isWithPlayers ? withFields(path) : path;
    const answer = await (body ? admin.post(asked, body) : admin.get(asked));
    expect(answer.status, answer.text).toBe(200);
    return answer.body as Record<string, Row[] | Row>;
  };
  const rowsOf = (name: string, body: Record<string, Row[] | Row>): Row[] =>
    (READS[name]!.rows ?? ['entries']).flatMap((field) => body[field]!);

  it.each(Object.keys(READS))('are in every row, on request: %s', async (name) => {
    const faces: Record<string, Face> = { ada: ADA, bob: { ...NOBODY, region: 'EU' }, cy: NOBODY };
    const shown = async (): Promise<Record<string, Face | undefined>> =>
      Object.fromEntries(rowsOf(name, await read(name, true)).map(({ playerId, player }) => [playerId, player]));
    // What cannot be looked up in time is not known yet.
    const wrong = async (): Promise<string[]> =>
      Object.entries(await shown()).flatMap(([id, face]) => (isDeepStrictEqual(face, faces[id]) ? [] : [id]));
    await expect.poll(wrong, { timeout: 10_000 }).toEqual([]);
    expect(Object.keys(await shown()).length).toBeGreaterThan(0);
    const without = await read(name, false);
    for (const row of rowsOf(name, without)) expect('player' in row).toBe(false);
    // Nothing else differs but the moment, and the paths of the pages beside.
    const bare = rowsOf(name, await read(name, true)).map(({ player: _player, ...row }) => row);
    expect(bare).toEqual(rowsOf(name, without));
  });

  it('are on the pages that a page names, both ways', async () => {
    for (const begin of ['limit=1', 'cursor=start&limit=1', 'window=season:s1&cursor=start&limit=1']) {
      const seen: (Face | undefined)[] = [];
      let path: string | null = `/v1/boards/seen/entries?${begin}&fields=player`;
      for (let page = 0; path !== null && page < 5; page += 1) {
        const { body } = await anonymous.get(path);
        const { entries, next } = body as { entries: Row[]; next: string | null };
        seen.push(...entries.map(({ player }) => player));
        path = next;
      }
      expect(seen, begin).toEqual([NOBODY, { ...NOBODY, region: 'EU' }, ADA]);
    }
  });

  it('are new within a second, in lists of what was as well, and change the ETag', async () => {
    const avatars = async (path: string): Promise<unknown> =>
      ((await anonymous.get(path)).body as { entries: Row[] }).entries.find(({ playerId }) => playerId === 'bob')
        ?.player?.avatarUrl;
    const paths = ['limit=5', 'limit=2&offset=1', 'window=season:s1'].map(
      (query) => `/v1/boards/seen/entries?${query}&fields=player`,
    );
    const { etag } = (await anonymous.get(paths[0]!)).headers as { etag: string };
    for (const avatarUrl of ['https://cdn.example/1.png', 'https://cdn.example/2.png']) {
      await ok(admin.put('/v1/players/bob', { region: 'EU', avatarUrl }));
      const beganAtMs = Date.now();
      for (const path of paths) await expect.poll(() => avatars(path), SOON).toBe(avatarUrl);
      expect(Date.now() - beganAtMs).toBeLessThan(3000);
    }
    const again = await anonymous.get(paths[0]!, { 'If-None-Match': etag });
    expect(again.status).toBe(200);
    const { etag: now } = again.headers as { etag: string };
    expect((await anonymous.get(paths[0]!, { 'If-None-Match': now })).status).toBe(304);
  });

  it('come to sockets that ask for them, a new one within a second, and to no others', async () => {
    const client = await LiveClient.connect(`${service.url.replace('http', 'ws')}/v1/live`);
    try {
      const ask = { type: 'subscribe', board: 'seen', channel: 'top' };
      await client.ask({ ...ask, id: 'without' });
      await client.ask({ ...ask, id: 'with', fields: ['player'] });
      await client.ask({ ...ask, id: 'ended', fields: ['player'], window: 'season:s1' });
      const avatar = (id: string): unknown => (client.list(id).rows.get('bob')?.player as Face | undefined)?.avatarUrl;
      for (const avatarUrl of ['https://cdn.example/3.png', 'https://cdn.example/4.png']) {
        await ok(admin.put('/v1/players/bob', { region: 'EU', avatarUrl }));
        const beganAtMs = Date.now();
        for (const id of ['with', 'ended']) await expect.poll(() => avatar(id), SOON).toBe(avatarUrl);
        expect(Date.now() - beganAtMs).toBeLessThan(3000);
      }
      for (const id of ['with', 'ended', 'without']) expect(client.list(id)).toMatchObject({ snapshots: 1, gaps: 0 });
      expect(client.list('without').rows.get('bob')).not.toHaveProperty('player');
      expect(client.list('without').deltas).toBe(0);
    } finally {
      client.socket.terminate();
    }
  });

  it('of players who are not listed stay with them', async () => {
    await ok(admin.put('/v1/players/cy', { listed: false, region: 'US' }));
    const ids = async (client: RestClient): Promise<string[]> =>
      ((await client.get('/v1/boards/seen/players/ada?fields=player')).body as { neighbours: Row[] }).neighbours.map(
        ({ playerId }) => playerId,
      );
    await expect.poll(() => ids(anonymous), SOON).toEqual(['bob', 'ada']);
    const cy = anonymous.as(await playerToken(service.jwtSecret, 'cy'));
    const own = (await cy.get('/v1/boards/seen/players/me?fields=player')).body as { entry: Row };
    expect(own.entry.player).toEqual({ ...NOBODY, region: 'US' });
    await ok(admin.put('/v1/players/cy', {}));
    await expect.poll(() => ids(anonymous), SOON).toEqual(['cy', 'bob', 'ada']);
  });

  it.each([
    'fields=',
    'fields=name',
    'fields=player,name',
    'fields=player,player',
    'fields=player&fields=player',
    'fields[]=player',
    'fields=Player',
    `fields=${'player,'.repeat(30)}player`,
  ])('are not asked for by ?%s', async (query) => {
    const paths = ['/v1/boards/seen/entries', '/v1/boards/seen/players/ada', '/v1/guilds/red/members'];
    for (const path of paths) {
      const problem = expectProblem(await admin.get(`${path}?${query}`), 'VALIDATION_FAILED');
      expect(problem.errors).toHaveLength(1);
      expect(problem.errors![0]!.pointer).toMatch(/^\?fields/);
    }
  });

  it('are refused by name where rows are of no players, or are a file', async () => {
    const paths = [
      '/v1/boards/seen/guilds',
      '/v1/boards/seen/export',
      '/v1/boards/seen/rank?score=1',
      '/v1/boards/seen/percentiles?at=50',
      '/v1/players/ada/standings',
    ];
    for (const path of paths) {
      const problem = expectProblem(await admin.get(withFields(path)), 'VALIDATION_FAILED');
      expect(problem.errors).toEqual([{ pointer: '?fields', message: 'is not a known parameter' }]);
    }
  });
});

describe('attributes that lists may show', () => {
  it.each([
    ['country', { country: 'GB' }],
    ['country,team', { country: 'GB', team: 'red' }],
    ['-', {}],
  ])('are those of PLAYER_ATTRIBUTES_SHOWN=%s', async (shown, attributes) => {
    const service = await startStandalone({ PLAYER_ATTRIBUTES_SHOWN: shown });
    try {
      const admin = new RestClient(service.url, service.adminKey);
      await admin.makeBoard('seen');
      await admin.put('/v1/players/ada', { ...ADA, attributes: { ...ADA.attributes, segment: 'whale' } });
      await admin.post('/v1/boards/seen/scores', { playerId: 'ada', score: 1 }, { Prefer: 'wait=10' });
      const faces = async (): Promise<unknown[]> =>
        (
          (await admin.as(undefined).get('/v1/boards/seen/entries?fields=player')).body as { entries: Row[] }
        ).entries.map(({ player }) => player);
      await expect.poll(faces).toEqual([{ ...ADA, attributes }]);
      // The profile has them all, for who has an identity.
      expect((await admin.get('/v1/players/ada')).body).toMatchObject({ attributes: { segment: 'whale' } });
    } finally {
      await service.stop();
    }
  });
});
