// Real: the built service in one process, with its PostgreSQL and Redis.
import { startStandalone, type RunningStandalone } from '@laddercast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectProblem, playerToken, RestClient } from './rest-client.js';

interface Row {
  rank: number;
  playerId: string;
  displayName: string | null;
}

/** The contract promises a second; a machine that is busy with other tests takes longer. */
const SOON = { interval: 20 };

describe('players', () => {
  let service: RunningStandalone;
  let anonymous: RestClient;
  let admin: RestClient;
  let writer: RestClient;
  let reader: RestClient;
  const as = async (player: string): Promise<RestClient> => anonymous.as(await playerToken(service.jwtSecret, player));

  beforeAll(async () => {
    service = await startStandalone();
    anonymous = new RestClient(service.url);
    admin = anonymous.as(service.adminKey);
    writer = anonymous.as(await admin.makeKey('scores:write'));
    reader = anonymous.as(await admin.makeKey('read'));
  });
  afterAll(() => service?.stop());

  const put = async (player: string, profile: object): Promise<void> => {
    const response = await writer.put(`/v1/players/${encodeURIComponent(player)}`, profile);
    expect(response.status, response.text).toBe(200);
  };
  const submit = async (board: string, scores: Record<string, number>): Promise<void> => {
    const submissions = Object.entries(scores).map(([playerId, score]) => ({ board, playerId, score }));
    const response = await writer.post('/v1/scores', { submissions }, { Prefer: 'wait=10' });
    expect(response.status, response.text).toBe(200);
  };
  const rows = async (path: string, client = anonymous): Promise<Row[]> => {
    const response = await client.get(path);
    expect(response.status, response.text).toBe(200);
    return (response.body as { entries: Row[] }).entries;
  };
  const ids = async (path: string, client = anonymous): Promise<string[]> =>
    (await rows(path, client)).map(({ playerId }) => playerId);

  it('have a profile that a PUT replaces whole, and that others see where it is listed', async () => {
    const profile = {
      displayName: 'São Tomé 🏆',
      region: 'EU',
      avatarUrl: 'https://cdn.example/a.png?size=64',
      attributes: { country: 'GB', 'favourite-colour': 'dark red' },
      listed: false,
    };
    const answer = { playerId: 'ada', ...profile, guildId: null };
    const first = await writer.put('/v1/players/ada', profile);
    expect([first.status, first.body]).toEqual([200, answer]);
    expect((await reader.get('/v1/players/ada')).body).toEqual(answer);
    const ada = await as('ada');
    expect((await ada.get('/v1/players/me')).body).toEqual(answer);
    expectProblem(await (await as('bob')).get('/v1/players/ada'), 'PLAYER_NOT_FOUND');
    expectProblem(await writer.get('/v1/players/ada'), 'PLAYER_NOT_FOUND');
    await put('ada', { displayName: 'Ada' });
    expect((await (await as('bob')).get('/v1/players/ada')).body).toEqual({
      playerId: 'ada',
      displayName: 'Ada',
      region: null,
      avatarUrl: null,
      attributes: {},
      guildId: null,
    });
    await put('ada', { displayName: null, region: null, avatarUrl: null, attributes: null, listed: null });
    expect((await ada.get('/v1/players/ada')).body).toMatchObject({ displayName: null, attributes: {}, listed: true });
    expectProblem(await reader.get('/v1/players/nobody'), 'PLAYER_NOT_FOUND');
  });

  it('are written by keys with the right alone', async () => {
    expectProblem(await anonymous.get('/v1/players/ada'), 'UNAUTHENTICATED');
    expectProblem(await anonymous.put('/v1/players/ada', {}), 'UNAUTHENTICATED');
    expectProblem(await reader.put('/v1/players/ada', {}), 'FORBIDDEN');
    expectProblem(await (await as('ada')).put('/v1/players/me', {}), 'FORBIDDEN');
    expectProblem(await admin.get('/v1/players/me'), 'NOT_A_PLAYER');
    expect((await admin.put('/v1/players/ada', {})).status).toBe(200);
  });

  it('are refused what is not well formed, each fault with its pointer', async () => {
    const many = Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`a${i}`, 'x']));
    const cases: [unknown, string][] = [
      [7, ''],
      [[], ''],
      [{ surprise: 1 }, '/surprise'],
      [{ displayName: '' }, '/displayName'],
      [{ displayName: 'x'.repeat(65) }, '/displayName'],
      [{ displayName: 'a\u0000b' }, '/displayName'],
      [{ displayName: '\ud800' }, '/displayName'],
      [{ displayName: 7 }, '/displayName'],
      [{ region: '' }, '/region'],
      [{ region: 'x'.repeat(65) }, '/region'],
      [{ avatarUrl: 'javascript:alert(1)' }, '/avatarUrl'],
      [{ avatarUrl: 'https://' }, '/avatarUrl'],
      [{ avatarUrl: `https://x.example/${'x'.repeat(512)}` }, '/avatarUrl'],
      [{ attributes: [] }, '/attributes'],
      [{ attributes: many }, '/attributes'],
      [{ attributes: { Country: 'GB' } }, '/attributes/Country'],
      [{ attributes: { region: 'EU' } }, '/attributes/region'],
      [{ attributes: { 'a/b': 'x' } }, '/attributes/a~1b'],
      [{ attributes: { country: 7 } }, '/attributes/country'],
      [{ attributes: { country: '' } }, '/attributes/country'],
      [{ listed: 'no' }, '/listed'],
    ];
    for (const [body, pointer] of cases) {
      const sent = JSON.stringify(body);
      const problem = expectProblem(await writer.put('/v1/players/ada', sent), 'VALIDATION_FAILED');
      expect(
        problem.errors!.map((fault) => fault.pointer),
        sent,
      ).toContain(pointer);
    }
    const several = await writer.put('/v1/players/ada', { displayName: 1, region: 2, listed: 3 });
    expect(expectProblem(several, 'VALIDATION_FAILED').errors).toHaveLength(3);
    expect((await writer.put('/v1/players/ada', { displayName: '🏆'.repeat(64) })).status).toBe(200);
    expectProblem(await writer.put(`/v1/players/${'x'.repeat(129)}`, {}), 'VALIDATION_FAILED');
  });

  it('show a new name on every list within a second, without another score', async () => {
    await admin.makeBoard('names', { push: { intervalMs: 100, top: 10 } });
    await submit('names', Object.fromEntries(Array.from({ length: 15 }, (_, i) => [`n${i + 1}`, 100 - i])));
    const nameOf = async (player: string, path: string): Promise<string | null | undefined> =>
      (await rows(path)).find(({ playerId }) => playerId === player)?.displayName;
    // The top comes from what ticks keep in memory, the end from the shards, with names remembered from before.
    expect(await nameOf('n1', '/v1/boards/names/entries?limit=2')).toBeNull();
    expect(await nameOf('n15', '/v1/boards/names/entries?limit=2&offset=13')).toBeNull();
    for (const name of ['One', 'Another']) {
      await Promise.all([put('n1', { displayName: name }), put('n15', { displayName: name })]);
      await expect.poll(() => nameOf('n1', '/v1/boards/names/entries?limit=2'), SOON).toBe(name);
      await expect.poll(() => nameOf('n15', '/v1/boards/names/entries?limit=2&offset=13'), SOON).toBe(name);
      const found = await anonymous.post('/v1/boards/names/lookups', { playerIds: ['n15'] });
      expect((found.body as { entries: Row[] }).entries[0]!.displayName).toBe(name);
    }
  });

  it('are ranked in their region and country, and move within a second when these change', async () => {
    await admin.makeBoard('regions', { scopes: ['global', 'region', { attribute: 'country' }] });
    await put('r1', { region: 'EU', attributes: { country: 'GB' } });
    await put('r2', { region: 'EU', attributes: { country: 'DE' } });
    await submit('regions', { r1: 10, r2: 20, r3: 30 });
    const eu = '/v1/boards/regions/entries?scope=region:EU';
    const us = '/v1/boards/regions/entries?scope=region:US';
    await expect.poll(() => ids(eu), SOON).toEqual(['r2', 'r1']);
    await expect.poll(() => ids('/v1/boards/regions/entries?scope=country:GB'), SOON).toEqual(['r1']);
    await put('r2', { region: 'US', attributes: { country: 'US' } });
    await expect.poll(() => ids(us), SOON).toEqual(['r2']);
    await expect.poll(() => ids(eu), SOON).toEqual(['r1']);
    expect(await ids('/v1/boards/regions/entries')).toEqual(['r3', 'r2', 'r1']);
    await submit('regions', { r2: 40 });
    await expect.poll(() => ids('/v1/boards/regions/entries'), SOON).toEqual(['r2', 'r3', 'r1']);
    expect(await ids(eu)).toEqual(['r1']);
  });

  it('are given the scopes that a board gets while it runs', async () => {
    await admin.makeBoard('later');
    await put('l1', { region: 'EU' });
    await submit('later', { l1: 1, l2: 2 });
    const changed = await admin.put('/v1/boards/later', {
      order: 'desc',
      operator: 'best',
      scopes: ['global', 'region'],
    });
    expect(changed.status, changed.text).toBe(200);
    await expect.poll(() => ids('/v1/boards/later/entries?scope=region:EU')).toEqual(['l1']);
  });

  it('who are not listed are ranked, and shown to themselves and to keys that ask, but in no list of others', async () => {
    await admin.makeBoard('shy');
    await submit('shy', { s1: 30, s2: 20, s3: 10 });
    await expect.poll(() => ids('/v1/boards/shy/entries'), SOON).toEqual(['s1', 's2', 's3']);
    await put('s2', { listed: false });
    const shown = async (path: string, client = anonymous): Promise<[number, string][]> =>
      (await rows(path, client)).map(({ rank, playerId }) => [rank, playerId]);
    const gap = [
      [1, 's1'],
      [3, 's3'],
    ];
    await expect.poll(() => shown('/v1/boards/shy/entries'), SOON).toEqual(gap);
    await expect.poll(() => shown('/v1/boards/shy/entries?limit=2&offset=1'), SOON).toEqual([[3, 's3']]);
    const s2 = await as('s2');
    const own = (await s2.get('/v1/boards/shy/players/me?around=1')).body as { entry: Row; neighbours: Row[] };
    expect(own.entry.rank).toBe(2);
    expect(own.neighbours.map(({ playerId }) => playerId)).toEqual(['s1', 's2', 's3']);
    const others = (await (await as('s3')).get('/v1/boards/shy/players/s3?around=2')).body as { neighbours: Row[] };
    expect(others.neighbours.map(({ playerId }) => playerId)).toEqual(['s1', 's3']);
    expectProblem(await (await as('s3')).get('/v1/boards/shy/players/s2'), 'ENTRY_NOT_FOUND');
    expectProblem(await anonymous.get('/v1/boards/shy/players/s2'), 'ENTRY_NOT_FOUND');
    expect((await reader.get('/v1/boards/shy/players/s2')).body).toMatchObject({ entry: { rank: 2 } });
    const lookup = (client: RestClient) => client.post('/v1/boards/shy/lookups', { playerIds: ['s1', 's2'] });
    expect((await lookup(anonymous)).body).toMatchObject({ entries: [{ playerId: 's1' }, null] });
    expect((await lookup(reader)).body).toMatchObject({ entries: [{ playerId: 's1' }, { playerId: 's2' }] });
    await put('s2', {});
    await expect.poll(() => ids('/v1/boards/shy/entries'), SOON).toEqual(['s1', 's2', 's3']);
  });
});
