// Real: the built service in one process, with its PostgreSQL and Redis.
import { startStandalone, type RunningStandalone } from '@laddercast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectProblem, playerToken, RestClient } from './rest-client.js';

interface Row {
  rank: number;
  playerId: string;
  displayName: string | null;
  score: number;
  metadata: unknown;
}

/** The contract promises a second; a machine that is busy with other tests takes longer. */
const SOON = { interval: 20 };

describe('guilds', () => {
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

  const guild = async (id: string, ...players: string[]): Promise<void> => {
    await writer.put(`/v1/guilds/${encodeURIComponent(id)}`, { displayName: `The ${id}` });
    for (const player of players) {
      const response = await writer.put(`/v1/guilds/${encodeURIComponent(id)}/members/${player}`);
      expect(response.status, response.text).toBe(200);
    }
  };
  const submit = async (board: string, scores: Record<string, number>): Promise<void> => {
    const submissions = Object.entries(scores).map(([playerId, score]) => ({ board, playerId, score }));
    const response = await writer.post('/v1/scores', { submissions }, { Prefer: 'wait=10' });
    expect(response.status, response.text).toBe(200);
  };
  const rows = async (path: string): Promise<Row[]> => {
    const response = await anonymous.get(path);
    expect(response.status, response.text).toBe(200);
    return (response.body as { entries: Row[] }).entries;
  };
  const table = async (board: string): Promise<unknown[]> =>
    (await rows(`/v1/boards/${board}/guilds`)).map((row) => [row.rank, row.playerId, row.score, row.metadata]);

  it('are created, renamed, read and deleted', async () => {
    const created = await writer.put('/v1/guilds/red', { displayName: 'The Reds' });
    expect([created.status, created.body]).toEqual([201, { guildId: 'red', displayName: 'The Reds', memberCount: 0 }]);
    const renamed = await writer.put('/v1/guilds/red', { displayName: 'Reds' });
    expect([renamed.status, renamed.body]).toEqual([200, { guildId: 'red', displayName: 'Reds', memberCount: 0 }]);
    expect((await (await as('ada')).get('/v1/guilds/red')).body).toEqual(renamed.body);
    expectProblem(await anonymous.get('/v1/guilds/red'), 'UNAUTHENTICATED');
    expectProblem(await reader.put('/v1/guilds/red', {}), 'FORBIDDEN');
    expectProblem(await (await as('ada')).put('/v1/guilds/red', {}), 'FORBIDDEN');
    expectProblem(await writer.put('/v1/guilds/red', { displayName: '' }), 'VALIDATION_FAILED');
    expectProblem(await writer.put(`/v1/guilds/${encodeURIComponent('a\u0001')}`, {}), 'VALIDATION_FAILED');
    expectProblem(await reader.get('/v1/guilds/none'), 'GUILD_NOT_FOUND');
    expect((await writer.delete('/v1/guilds/red')).status).toBe(204);
    expectProblem(await writer.delete('/v1/guilds/red'), 'GUILD_NOT_FOUND');
  });

  it('take players in and let them go; a player is in one', async () => {
    await guild('blue', 'ada', 'bob', 'cy');
    await guild('Grün/1');
    const moved = await writer.put(`/v1/guilds/${encodeURIComponent('Grün/1')}/members/ada`);
    expect([moved.status, moved.body]).toEqual([
      200,
      { guildId: 'Grün/1', playerId: 'ada', joinedAt: expect.any(String) as string, leftGuildId: 'blue' },
    ]);
    expect((await reader.get('/v1/players/ada')).body).toMatchObject({ guildId: 'Grün/1' });
    await writer.put('/v1/players/bob', { displayName: 'Bob', listed: false });
    const first = (await reader.get('/v1/guilds/blue/members?limit=1')).body as { members: object[]; next: string };
    expect(first.members).toMatchObject([{ playerId: 'bob', displayName: 'Bob' }]);
    const second = (await reader.get(`/v1/guilds/blue/members?limit=1&cursor=${first.next}`)).body as typeof first;
    expect(second).toMatchObject({ members: [{ playerId: 'cy', displayName: null }], next: null });
    const seenBy = async (client: RestClient): Promise<string[]> => {
      const { members } = (await client.get('/v1/guilds/blue/members')).body as { members: { playerId: string }[] };
      return members.map(({ playerId }) => playerId);
    };
    expect(await seenBy(await as('cy'))).toEqual(['cy']);
    expect(await seenBy(await as('bob'))).toEqual(['bob', 'cy']);
    expect(await seenBy(writer)).toEqual(['cy']);
    expectProblem(await writer.delete('/v1/guilds/blue'), 'GUILD_NOT_EMPTY');
    expectProblem(await (await as('cy')).put('/v1/guilds/blue/members/me'), 'FORBIDDEN');
    expectProblem(await (await as('cy')).delete('/v1/guilds/blue/members/bob'), 'FORBIDDEN');
    expect((await (await as('cy')).delete('/v1/guilds/blue/members/me')).status).toBe(204);
    expect((await writer.delete('/v1/guilds/blue/members/bob')).status).toBe(204);
    expect((await writer.delete('/v1/guilds/blue/members/bob')).status).toBe(204);
    expectProblem(await writer.put('/v1/guilds/none/members/bob'), 'GUILD_NOT_FOUND');
    expect((await writer.delete('/v1/guilds/blue')).status).toBe(204);
  });

  it('are ranked by their members’ sum, and follow scores, joins and leaves', async () => {
    await guild('g1', 'a1', 'a2');
    await guild('g2', 'b1');
    await admin.makeBoard('war', { operator: 'sum', scopes: ['global', 'guild'] });
    await submit('war', { a1: 10, a2: 20, b1: 25, loner: 100 });
    await expect
      .poll(() => table('war'), SOON)
      .toEqual([
        [1, 'g1', 30, { members: 2 }],
        [2, 'g2', 25, { members: 1 }],
      ]);
    await submit('war', { b1: 10 });
    await expect
      .poll(() => table('war'), SOON)
      .toEqual([
        [1, 'g2', 35, { members: 1 }],
        [2, 'g1', 30, { members: 2 }],
      ]);
    await writer.put('/v1/guilds/g1/members/loner');
    await expect
      .poll(() => table('war'), SOON)
      .toEqual([
        [1, 'g1', 130, { members: 3 }],
        [2, 'g2', 35, { members: 1 }],
      ]);
    await expect
      .poll(async () => (await rows('/v1/boards/war/entries?scope=guild:g1')).map(({ playerId }) => playerId), SOON)
      .toEqual(['loner', 'a2', 'a1']);
    await (await as('b1')).delete('/v1/guilds/g2/members/me');
    await expect.poll(() => table('war'), SOON).toEqual([[1, 'g1', 130, { members: 3 }]]);
    const page = (await anonymous.get('/v1/boards/war/guilds?limit=1&rankStyle=competition')).body as object;
    expect(page).toMatchObject({ scope: 'guilds', total: 1, next: null, prev: null, rankStyle: 'competition' });
  });

  it('are paged by their own links', async () => {
    await admin.makeBoard('pages', { scopes: ['global', 'guild'] });
    for (const n of [1, 2, 3]) await guild(`page${n}`, `pager${n}`);
    await submit('pages', { pager1: 1, pager2: 2, pager3: 3 });
    await expect.poll(async () => (await rows('/v1/boards/pages/guilds')).length, SOON).toBe(3);
    const first = (await anonymous.get('/v1/boards/pages/guilds?limit=2')).body as { next: string };
    const second = (await anonymous.get(first.next)).body as { entries: Row[]; prev: string };
    expect(second.entries.map(({ playerId }) => playerId)).toEqual(['page1']);
    expect((await rows(second.prev)).map(({ playerId }) => playerId)).toEqual(['page3', 'page2']);
  });

  it('show another name on the list within a second', async () => {
    await admin.makeBoard('renamed', { scopes: ['global', 'guild'] });
    await guild('named', 'only');
    await submit('renamed', { only: 1 });
    const name = async (): Promise<string | null | undefined> =>
      (await rows('/v1/boards/renamed/guilds'))[0]?.displayName;
    await expect.poll(name, SOON).toBe('The named');
    await writer.put('/v1/guilds/named', { displayName: 'Others' });
    await expect.poll(name, SOON).toBe('Others');
  });

  it('are not ranked where the board does not say so', async () => {
    await admin.makeBoard('solo');
    expectProblem(await anonymous.get('/v1/boards/solo/guilds'), 'SCOPE_NOT_FOUND');
    expectProblem(await anonymous.get('/v1/boards/none/guilds'), 'BOARD_NOT_FOUND');
    expectProblem(await anonymous.get('/v1/boards/war/guilds?window=weekly'), 'WINDOW_NOT_FOUND');
  });
});
