// Real: the built service in one process, PostgreSQL, Redis, HTTP and a WebSocket.
import { startStandalone, type RunningStandalone } from '@laddercast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LiveClient } from '../../libs/realtime/test/follower.js';
import { assertMatchesAsyncApi } from '../../libs/realtime/test/frame-schemas.js';
import { expectProblem, RestClient } from './rest-client.js';

const SEASON = { season: 's1', startsAt: '2020-01-01T00:00:00Z', endsAt: '2090-01-01T00:00:00Z' };
const WINDOW = 'season:s1';
const SOON = { timeout: 30_000, interval: 100 };

interface Shown {
  window: { edition?: number; revising?: boolean };
  total: number;
  entries: { playerId: string; rank: number; score: number }[];
}

describe('POST /v1/admin/boards/{board}/restate', () => {
  let app: RunningStandalone;
  let admin: RestClient;

  beforeAll(async () => {
    app = await startStandalone();
    admin = new RestClient(app.url, app.adminKey);
  }, 90_000);
  afterAll(() => app?.stop());

  const done = async (answer: ReturnType<RestClient['get']>): Promise<unknown> => {
    const { status, text, body } = await answer;
    expect(status, text).toBeLessThan(300);
    return body as unknown;
  };
  /** A board of the value that a pool of the same id feeds, with three games in a season that is not over. */
  async function fed(id: string, value = 'rating', more: object = {}): Promise<void> {
    const scopes = ['global', 'region', 'guild'];
    await admin.makeBoard(id, { order: 'desc', operator: 'latest', windows: ['alltime', SEASON], scopes, ...more });
    await done(admin.put(`/v1/pools/${id}`, { algorithm: 'elo', boards: [{ board: id, value }] }));
    for (const guild of ['red', 'blue']) await done(admin.put(`/v1/guilds/${id}-${guild}`, { displayName: guild }));
    for (const [at, name] of ['ada', 'bob', 'cy', 'dee'].entries()) {
      await done(admin.put(`/v1/players/${id}-${name}`, { region: 'EU' }));
      await done(admin.put(`/v1/guilds/${id}-${at < 2 ? 'red' : 'blue'}/members/${id}-${name}`));
    }
    for (const [gameId, winner, loser] of [
      ['g1', 'ada', 'bob'],
      ['g2', 'ada', 'cy'],
      ['g3', 'bob', 'dee'],
    ] as const) {
      const players = [winner, loser].map((name, at) => ({ playerId: `${id}-${name}`, place: at + 1 }));
      await done(admin.post('/v1/games', { pool: id, gameId, players }, { Prefer: 'wait=10' }));
    }
    await expect.poll(async () => (await read(id)).total, SOON).toBe(4);
  }
  /** Until its standings are written. */
  async function end(id: string): Promise<void> {
    await done(admin.post(`/v1/admin/boards/${id}/close-window`, { window: WINDOW }));
    await expect.poll(async () => (await read(id)).window.edition, SOON).toBe(1);
  }
  const voided = (id: string, ...gameIds: string[]): Promise<unknown> =>
    done(admin.post(`/v1/pools/${id}/voids`, { gameIds, reason: 'a bot' }));
  const restate = (id: string, body?: object, client = admin): ReturnType<RestClient['post']> =>
    client.post(`/v1/admin/boards/${id}/restate?window=${WINDOW}`, body);
  const read = async (id: string, query = ''): Promise<Shown> =>
    (await done(admin.get(`/v1/boards/${id}/entries?window=${WINDOW}${query}`))) as Shown;
  const lines = ({ entries }: Shown): string[] =>
    entries.map(({ rank, playerId, score }) => `${rank} ${playerId.split('-').at(-1)} ${score}`);

  it('has every read answer what the pool says now, as the next edition', async () => {
    await fed('read');
    await end('read');
    const before = lines(await read('read'));
    expect(before).toHaveLength(4);
    await voided('read', 'g1', 'g2');
    // A void alone leaves it as it was written.
    expect(lines(await read('read'))).toEqual(before);
    expect((await read('read')).window).toMatchObject({ edition: 1 });
    const answer = await restate('read', { reason: 'Games of a bot.' });
    expect(answer.text).toContain('"outcome":"restated"');
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      ...{ board: 'read', window: WINDOW, pool: 'read', outcome: 'restated', playersRead: 4, entries: 4, edition: 2 },
    });
    const after = await read('read');
    expect(after.window).toMatchObject({ edition: 2 });
    expect(after.window).not.toHaveProperty('revising');
    expect(lines(after)).toEqual(['1 bob 1516', '2 dee 1484']);
    expect(lines(await read('read', '&scope=region:EU'))).toEqual(['1 bob 1516', '2 dee 1484']);
    expect(lines(await read('read', '&edition=1'))).toEqual(before);
    const of = `?window=${WINDOW}`;
    const guilds = (await done(admin.get(`/v1/boards/read/guilds${of}`))) as Shown;
    expect(lines(guilds)).toEqual(['1 red 1516', '2 blue 1484']);
    expect((await done(admin.get(`/v1/boards/read/players/read-bob${of}`))) as Shown).toMatchObject({
      entry: { rank: 1, score: 1516 },
      total: 2,
    });
    expectProblem(await admin.get(`/v1/boards/read/players/read-ada${of}`), 'ENTRY_NOT_FOUND');
    expect((await admin.get(`/v1/boards/read/export${of}`)).text.split('\r\n').slice(1, -1)).toHaveLength(2);
    const { windows } = (await done(admin.get('/v1/boards/read/windows?state=settled'))) as { windows: object[] };
    expect(windows).toMatchObject([{ id: WINDOW, entries: 2 }]);
    const { acts } = (await done(admin.get('/v1/admin/audit?action=standings.restate'))) as {
      acts: { auditId: number; details: object }[];
    };
    expect(acts).toMatchObject([
      {
        subject: `window:read/${WINDOW}`,
        details: { reason: 'Games of a bot.', entries: 4, pool: 'read', window: WINDOW },
      },
    ]);
    expect(await done(admin.get(`/v1/boards/read/windows/${WINDOW}/editions`))).toMatchObject({
      editions: [
        { edition: 2, reason: 'Games of a bot.', acts: [acts[0]!.auditId] },
        { edition: 1, reason: null, acts: [] },
      ],
    });
    // The same again, without body: nothing.
    const again = await restate('read');
    expect([again.status, again.body]).toMatchObject([200, { outcome: 'unchanged', entries: 0, edition: 2 }]);
    const { acts: same } = (await done(admin.get('/v1/admin/audit?action=standings.restate'))) as { acts: object[] };
    expect(same).toHaveLength(1);
  });

  it('has it told to who watches the window, once', async () => {
    await fed('live', 'wins');
    await end('live');
    const url = `${app.url.replace('http', 'ws')}/v1/live`;
    const client = await LiveClient.connect(url, ['ladder.v1'], {
      headers: { authorization: `Bearer ${app.adminKey}` },
    });
    try {
      const list = { type: 'subscribe', channel: 'top', board: 'live', window: WINDOW, limit: 10 } as const;
      expect(await client.ask({ ...list, id: 's' })).toMatchObject({ type: 'snapshot', total: 4 });
      await voided('live', 'g3');
      await done(restate('live', {}));
      const told = (): object[] => client.frames.filter(({ type }) => type === 'standings-revised');
      await expect.poll(told, SOON).toEqual([{ type: 'standings-revised', id: 's', window: WINDOW, edition: 2 }]);
      await expect.poll(() => client.list('s').total, SOON).toBe(3);
      await done(restate('live', {}));
      expect(told()).toHaveLength(1);
      for (const frame of client.frames) assertMatchesAsyncApi(frame);
    } finally {
      client.socket.terminate();
    }
  });

  it('is for the scope admin, and says what it is refused for', async () => {
    await fed('refused');
    const problem = async (code: Parameters<typeof expectProblem>[1], board: string, query: string): Promise<unknown> =>
      expectProblem(await admin.post(`/v1/admin/boards/${board}/restate${query}`, {}), code);
    await problem('VALIDATION_FAILED', 'refused', '');
    await problem('VALIDATION_FAILED', 'refused', '?window=');
    await problem('VALIDATION_FAILED', 'refused', `?window=${'x'.repeat(72)}`);
    await problem('VALIDATION_FAILED', 'refused', `?window=${WINDOW}&reason=x`);
    await problem('BOARD_NOT_FOUND', 'none', `?window=${WINDOW}`);
    await problem('WINDOW_NOT_FOUND', 'refused', '?window=season:s2');
    await problem('WINDOW_NOT_FOUND', 'refused', '?window=daily:2026-11-20');
    await problem('WINDOW_UNENDING', 'refused', '?window=alltime');
    await problem('WINDOW_NOT_SETTLED', 'refused', `?window=${WINDOW}`);
    await admin.makeBoard('plain', { windows: [SEASON] });
    await problem('BOARD_NOT_FED', 'plain', `?window=${WINDOW}`);
    await end('refused');
    for (const body of [
      { reason: '' },
      { reason: 7 },
      { reason: null },
      { reason: 'x'.repeat(501) },
      { surprise: 1 },
      [],
    ]) {
      expectProblem(await restate('refused', body), 'VALIDATION_FAILED');
    }
    const keys = await Promise.all(['read', 'moderate', 'scores:write'].map((scope) => admin.makeKey(scope)));
    for (const key of keys) expectProblem(await restate('refused', {}, admin.as(key)), 'FORBIDDEN');
    expectProblem(await restate('refused', {}, admin.as(undefined)), 'UNAUTHENTICATED');
    // What was refused changed nothing.
    expect((await read('refused')).window).toMatchObject({ edition: 1 });
    expect((await restate('refused')).body).toMatchObject({ outcome: 'unchanged', edition: 1 });
    const limits = { entriesMax: 100 };
    const definition = { order: 'desc', operator: 'latest', windows: ['alltime', SEASON], limits };
    await done(admin.put('/v1/boards/refused', { ...definition, scopes: ['global', 'region', 'guild'] }));
    await problem('NOT_SUPPORTED', 'refused', `?window=${WINDOW}`);
  });
});
