// Real: the built service over HTTP, with PostgreSQL and Redis.
import { startStandalone, type RunningStandalone } from '@laddercast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { playerToken, RestClient } from './rest-client.js';
import { sql } from './sql.js';

const SEASON = { season: 's1', startsAt: '2020-01-01T00:00:00Z', endsAt: '2090-01-01T00:00:00Z' };
const SETTLED = { interval: 50 };

type Row = [rank: number, name: string, score: number];

describe('guilds whose members score next to nothing, or as much as there is', () => {
  let app: RunningStandalone;
  let admin: RestClient;

  beforeAll(async () => {
    app = await startStandalone();
    admin = new RestClient(app.url, app.adminKey);
    await admin.makeBoard('tiny', { scopes: ['global', 'guild'], windows: [SEASON], submitters: 'players' });
  });
  afterAll(() => app?.stop());

  async function join(guild: string, scores: Record<string, number>): Promise<void> {
    await admin.put(`/v1/guilds/${guild}`, { displayName: guild });
    for (const [player, score] of Object.entries(scores)) {
      await admin.put(`/v1/guilds/${guild}/members/${player}`);
      const own = admin.as(await playerToken(app.jwtSecret, player));
      const response = await own.post('/v1/boards/tiny/scores', { playerId: player, score });
      expect(response.status, response.text).toBe(200);
    }
  }

  const rows = async (list: string): Promise<Row[]> => {
    const { body } = await admin.get(`/v1/boards/tiny/${list}`);
    const { entries = [] } = body as { entries?: { rank: number; playerId: string; score: number }[] };
    return entries.map(({ rank, playerId, score }) => [rank, playerId, score]);
  };

  const GUILDS: Row[] = [
    [1, 'vast', Number.MAX_VALUE],
    [2, 'lone', 1e-300],
    [3, 'tiny', 1e-310 + 5e-324],
    [4, 'least', 1e-323],
  ];
  const MEMBERS: Row[] = [
    [1, 'vast-1', 1.7e308],
    [2, 'vast-2', 1.7e308],
    [3, 'lone-1', 1e-300],
    [4, 'tiny-1', 1e-310],
    [5, 'tiny-2', 5e-324],
    [6, 'least-1', 5e-324],
    [7, 'least-2', 5e-324],
  ];

  it('have exact totals, and their season settles with them', async () => {
    await join('tiny', { 'tiny-1': 1e-310, 'tiny-2': 5e-324 });
    await join('lone', { 'lone-1': 1e-300 });
    await join('least', { 'least-1': 5e-324, 'least-2': 5e-324 });
    await join('vast', { 'vast-1': 1.7e308, 'vast-2': 1.7e308 });
    await expect.poll(() => rows('guilds'), SETTLED).toEqual(GUILDS);
    const letters = await admin.get('/v1/admin/dead-letters');
    expect((letters.body as { deadLetters: unknown[] }).deadLetters).toEqual([]);
    const closed = await admin.post('/v1/admin/boards/tiny/close-window', { window: 'season:s1' });
    expect(closed.status, closed.text).toBe(200);
    const { scopes } = closed.body as {
      scopes: { scope: string; top: { rank: number; playerId: string; score: number }[] }[];
    };
    const written = scopes.find(({ scope }) => scope === 'guilds')!.top;
    expect(written.map(({ rank, playerId, score }) => [rank, playerId, score])).toEqual(GUILDS);
    await expect.poll(() => rows('guilds?window=season:s1'), SETTLED).toEqual(GUILDS);
    expect(await rows('entries?window=season:s1')).toEqual(MEMBERS);
  });

  it('are right again when the events that their totals had missed are replayed', async () => {
    await admin.makeBoard('missed', { scopes: ['global', 'guild'] });
    const submit = async (playerId: string, score: number): Promise<void> => {
      const response = await admin.post('/v1/boards/missed/scores', { playerId, score });
      expect(response.status, response.text).toBe(200);
    };
    const total = async (): Promise<unknown> => {
      const { body } = await admin.get('/v1/boards/missed/guilds');
      return (body as { entries: { playerId: string; score: number }[] }).entries.map((row) => [
        row.playerId,
        row.score,
      ]);
    };
    await submit('lone-1', 1);
    await expect.poll(total, SETTLED).toEqual([['lone', 1]]);
    await sql(app.databaseUrl, 'ALTER FUNCTION ladder_nearest RENAME TO missing');
    await submit('lone-1', 3);
    const letters = async (): Promise<{ id: string; replayedAt: string | null }[]> =>
      ((await admin.get('/v1/admin/dead-letters?group=guild')).body as { deadLetters: never[] }).deadLetters;
    await expect.poll(async () => (await letters()).length, SETTLED).toBe(1);
    await sql(app.databaseUrl, 'ALTER FUNCTION missing RENAME TO ladder_nearest');
    expect(await total()).toEqual([['lone', 1]]);
    for (const { id } of await letters()) {
      expect((await admin.post(`/v1/admin/dead-letters/${id}/replay`)).body).toEqual({ id, outcome: 'replayed' });
    }
    await expect.poll(total, SETTLED).toEqual([['lone', 3]]);
  });
});
