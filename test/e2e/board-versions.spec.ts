// Real: the built service in one process, PostgreSQL, Redis, HTTP: for one name of a list `boardVersion` never falls.
import { setTimeout as delay } from 'node:timers/promises';
import { startStandalone, type RunningStandalone } from '@laddercast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RestClient } from './rest-client.js';

interface List {
  boardVersion: number;
  total: number;
  window: { id: string; edition?: number };
  entries: { playerId: string; score: number }[];
}

let app: RunningStandalone;
let admin: RestClient;

beforeAll(async () => {
  app = await startStandalone();
  admin = new RestClient(app.url, app.adminKey);
});
afterAll(() => app?.stop());

async function read(path: string): Promise<List> {
  const response = await admin.get(path);
  expect(response.status, `${path}: ${response.text}`).toBe(200);
  return response.body as List;
}

async function submit(board: string, playerId: string, score: number, headers = {}): Promise<void> {
  const response = await admin.post(`/v1/boards/${board}/scores`, { playerId, score }, headers);
  expect(response.status, response.text).toBe(200);
}

/** Scores of players in every shard, projected when it resolves. */
async function fill(board: string, players: number): Promise<void> {
  for (let at = 0; at < players; at += 1) await submit(board, `p${at}`, at, { Prefer: 'wait=10' });
}

const expectRising = (versions: readonly number[]): void =>
  expect(versions).toEqual([...versions].sort((a, b) => a - b));

describe('boardVersion of one process', () => {
  it('does not fall when a list is read from the shards, and then near its top, while scores arrive', async () => {
    await admin.makeBoard('mixed', { push: { intervalMs: 1000, top: 100 } });
    await fill('mixed', 3);
    // So that the top is in memory.
    await read('/v1/boards/mixed/entries?limit=10');
    await delay(1500);
    const seen: number[] = [];
    for (let at = 0; at < 60; at += 1) {
      await submit('mixed', `w${at}`, at);
      seen.push((await read('/v1/boards/mixed/entries?limit=500')).boardVersion);
      seen.push((await read('/v1/boards/mixed/entries?limit=10')).boardVersion);
      const { boardVersion } = (await admin.get('/v1/boards/mixed/players/p0')).body as List;
      seen.push(boardVersion, (await read('/v1/boards/mixed/entries?limit=1')).boardVersion);
    }
    expectRising(seen);
    // What is in memory serves again once it has caught up.
    const last = seen.at(-1)!;
    await expect.poll(async () => (await read(`/v1/boards/mixed/entries?limit=10&minVersion=${last}`)).total).toBe(63);
  });

  it('has who waited see the own score in the next top list', async () => {
    await admin.makeBoard('waited', { push: { intervalMs: 5000, top: 100 } });
    await fill('waited', 2);
    await read('/v1/boards/waited/entries?limit=10');
    await delay(6000);
    for (let at = 0; at < 10; at += 1) {
      await read('/v1/boards/waited/entries?limit=10');
      await submit('waited', 'mia', 1000 + at, { Prefer: 'wait=10' });
      const { entries } = await read('/v1/boards/waited/entries?limit=10');
      expect(entries[0]).toMatchObject({ playerId: 'mia', score: 1000 + at });
    }
  });
});

describe('boardVersion of one name', () => {
  const SHARDED = { sharding: { by: 'hash', count: 4 }, windows: ['alltime', 'daily'], scopes: ['global', 'region'] };
  const NAMES = ['window=alltime', 'window=daily', 'window=daily&scope=region:EU', 'window=alltime&scope=region:EU'];

  /** The generation after the first. */
  const SERVING = { generation: 2, state: 'serving' };

  /** Reads every name of a list, each no older than it was; what they say is kept for the next time. */
  async function readAll(board: string, versions: Map<string, number>): Promise<List[]> {
    const lists: List[] = [];
    for (const name of NAMES) {
      for (const limit of [500, 10]) {
        const least = versions.get(name) ?? 0;
        const list = await read(`/v1/boards/${board}/entries?${name}&limit=${limit}&minVersion=${least}`);
        expect(list.boardVersion, name).toBeGreaterThanOrEqual(least);
        versions.set(name, list.boardVersion);
        lists.push(list);
      }
    }
    return lists;
  }

  async function begin(board: string): Promise<Map<string, number>> {
    for (let at = 0; at < 12; at += 1) await admin.put(`/v1/players/p${at}`, { region: 'EU' });
    await admin.makeBoard(board, SHARDED);
    const versions = new Map<string, number>();
    expect((await readAll(board, versions)).map(({ total }) => total)).toEqual(Array(8).fill(0));
    await fill(board, 12);
    expect((await readAll(board, versions))[0]!.total).toBe(12);
    return versions;
  }

  it.each([
    ['reset', async (board: string) => [await admin.post(`/v1/admin/boards/${board}/reset`)]],
    [
      'remade',
      async (board: string) => [
        await admin.delete(`/v1/boards/${board}`),
        await admin.put(`/v1/boards/${board}`, { order: 'desc', operator: 'best', ...SHARDED, sharding: undefined }),
      ],
    ],
    [
      'remade-after-another-sharding',
      async (board: string, versions: Map<string, number>) => {
        const definition = { order: 'desc', operator: 'best', ...SHARDED };
        const put = await admin.put(`/v1/boards/${board}`, { ...definition, sharding: { by: 'hash', count: 2 } });
        const layout = async (): Promise<unknown> => (await admin.get(`/v1/admin/boards/${board}/layout`)).body;
        const moved = { generations: expect.arrayContaining([expect.objectContaining(SERVING)]) };
        await expect.poll(layout, { timeout: 90_000 }).toMatchObject(moved);
        await readAll(board, versions);
        return [put, await admin.delete(`/v1/boards/${board}`), await admin.put(`/v1/boards/${board}`, definition)];
      },
    ],
  ])('does not fall when the board is %s, and the empty lists are read at once', async (board, empty) => {
    const versions = await begin(board);
    for (const { status, text } of await empty(board, versions)) expect(status, text).toBeLessThan(300);
    const emptied = await readAll(board, versions);
    expect(emptied.map(({ total }) => total)).toEqual(Array(8).fill(0));
    await fill(board, 1);
    const lists = await readAll(board, versions);
    expect(lists[0]!.total).toBe(1);
    expect(lists[0]!.boardVersion).toBeGreaterThan(emptied[0]!.boardVersion);
  });

  it('does not fall when the next window begins because this one is closed', async () => {
    const versions = await begin('closed');
    // What is thrown in a poll is waited for.
    const faults: string[] = [];
    const totals = async (): Promise<number[]> => {
      try {
        return (await readAll('closed', versions)).map(({ total }) => total);
      } catch (error) {
        faults.push((error as Error).message);
        return [];
      }
    };
    for (let round = 0; round < 3; round += 1) {
      const closed = await admin.post('/v1/admin/boards/closed/close-window', { window: 'daily' });
      expect(closed.status, closed.text).toBe(200);
      // Who waits for a submission waits for the list of everybody.
      await expect.poll(totals).toEqual([12, 12, 0, 0, 0, 0, 12, 12]);
      // In one shard of four.
      await submit('closed', 'p0', 100 + round, { Prefer: 'wait=10' });
      await expect.poll(async () => (await totals())[2]).toBe(1);
      await fill('closed', 12);
      await expect.poll(async () => (await totals())[2]).toBe(12);
    }
    expect(faults).toEqual([]);
  });

  it('does not fall when a board gets fewer shards whose ended window was revised a moment ago', async () => {
    const season = {
      season: 's',
      startsAt: new Date(Date.now() - 60_000).toISOString(),
      endsAt: '2090-01-01T00:00:00Z',
    };
    const definition = { ...SHARDED, scopes: ['global'], windows: ['alltime', season], runs: { keepDays: 30 } };
    await admin.makeBoard('revised', definition);
    await fill('revised', 12);
    const voided = await admin.post('/v1/boards/revised/scores', { playerId: 'p0', score: 99, submissionId: 'voided' });
    expect(voided.status, voided.text).toBe(200);
    await admin.post('/v1/admin/boards/revised/close-window', { window: 'season:s' });
    expect((await admin.delete('/v1/boards/revised/submissions/voided?reason=x')).status).toBe(200);
    const path = '/v1/boards/revised/entries?window=season:s';
    await expect.poll(async () => (await read(path)).window.edition, { timeout: 60_000 }).toBe(2);
    const { boardVersion } = await read(path);
    const fewer = { order: 'desc', operator: 'best', ...definition, sharding: { by: 'hash', count: 1 } };
    expect((await admin.put('/v1/boards/revised', fewer)).status).toBe(200);
    const layout = async (): Promise<unknown> => (await admin.get('/v1/admin/boards/revised/layout')).body;
    const moved = { generations: expect.arrayContaining([expect.objectContaining(SERVING)]) };
    await expect.poll(layout, { timeout: 90_000 }).toMatchObject(moved);
    expect((await read(path)).boardVersion).toBeGreaterThanOrEqual(boardVersion);
  });

  it('never locks out who polls with minVersion over the hour at which the next window begins', async () => {
    await admin.makeBoard('minutes', { ...SHARDED, scopes: ['global'], windows: [{ cron: '* * * * *' }] });
    await fill('minutes', 12);
    const seen: number[] = [];
    const windows = new Set<string>();
    const afterMs = Date.now() + 120_000;
    for (let at = 0; windows.size < 2 || at % 20 !== 0; at += 1) {
      const limit = at % 2 === 0 ? 500 : 10;
      const list = await read(`/v1/boards/minutes/entries?window=cron&limit=${limit}&minVersion=${seen.at(-1) ?? 0}`);
      seen.push(list.boardVersion);
      windows.add(list.window.id);
      expect(Date.now()).toBeLessThan(afterMs);
      await delay(50);
    }
    expectRising(seen);
  });
});
