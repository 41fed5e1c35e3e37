// Real: the built service, PostgreSQL, Redis. The board is kept by ranges of scores from its creation on.
import { SortedArrayOracle, startStandalone, type RunningStandalone } from '@laddercast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectProblem, RestClient } from './rest-client.js';

const PLAYERS = 90;
const BOUNDARIES = [-10, 0, 10, 25];

interface Row {
  rank: number;
  playerId: string;
  score: number;
}

describe('a board by ranges of scores', () => {
  let app: RunningStandalone;
  let admin: RestClient;
  const scores = new Map<string, number>();

  beforeAll(async () => {
    app = await startStandalone();
    admin = new RestClient(app.url, app.adminKey);
    for (const [id, sharding] of [
      ['ranged', { by: 'range', boundaries: BOUNDARIES }],
      ['hashed', { by: 'hash', count: 3 }],
    ] as const) {
      await admin.makeBoard(id, { operator: 'latest', tiebreak: 'none', sharding });
    }
    // Each player crosses edges several times, and comes to stand on one every now and then.
    for (let round = 0; round < 4; round += 1) {
      for (let at = 0; at < PLAYERS; at += 1) scores.set(`p${at}`, ((at * 11 + round * 31) % 57) - 20);
      const submissions = [...scores].flatMap(([playerId, score]) =>
        ['ranged', 'hashed'].map((board) => ({ board, playerId, score })),
      );
      const response = await admin.post('/v1/scores', { submissions }, { Prefer: 'wait=10' });
      expect(response.status, response.text).toBe(200);
      const { results } = response.body as { results: { rank: { accuracy: string } | null }[] };
      if (round === 3) expect(results.every(({ rank }) => rank !== null)).toBe(true);
    }
  });
  afterAll(() => app?.stop());

  /** Higher is better, then by the bytes of the id. */
  const expected = (): Row[] =>
    SortedArrayOracle.of(
      { order: 'desc', operator: 'best', tiebreak: 'none', columns: [] },
      [...scores].map(([playerId, score]) => ({ playerId, score, columns: [], achievedAtMs: 0 })),
    ).entries.map(({ playerId, score }, at) => ({ rank: at + 1, playerId, score }));
  const get = async <Body>(path: string): Promise<Body> => {
    const response = await admin.get(path);
    expect(response.status, response.text).toBe(200);
    return response.body as Body;
  };

  it('says what it is made of', async () => {
    expect(await get('/v1/boards/ranged')).toMatchObject({ sharding: { by: 'range', boundaries: BOUNDARIES } });
  });

  it('reads like any other: pages over edges, players with neighbours, lookups, ranks of scores', async () => {
    const rows = expected();
    for (const offset of [0, 13, 40, 71, 85, 90]) {
      const page = await get<{ entries: Row[] }>(`/v1/boards/ranged/entries?offset=${offset}&limit=17`);
      expect(page).toMatchObject({ total: PLAYERS, accuracy: 'exact' });
      expect(page).not.toHaveProperty('errorBound');
      expect(page.entries.map(({ rank, playerId, score }) => ({ rank, playerId, score }))).toEqual(
        rows.slice(offset, offset + 17),
      );
    }
    for (const at of [0, 22, 45, 89]) {
      const { playerId } = rows[at]!;
      const player = await get<{ entry: Row; neighbours: Row[] }>(`/v1/boards/ranged/players/${playerId}?around=20`);
      expect(player.entry).toMatchObject({ ...rows[at], accuracy: 'exact' });
      expect(player.neighbours).toMatchObject(rows.slice(Math.max(0, at - 20), at + 21));
    }
    const playerIds = ['p3', 'nobody', 'p88'];
    const looked = await admin.post('/v1/boards/ranged/lookups', { playerIds });
    expect((looked.body as { entries: (Row | null)[] }).entries).toMatchObject(
      playerIds.map((id) => rows.find(({ playerId }) => playerId === id) ?? null),
    );
    for (const score of [-30, -10, 0, 0.5, 10, 25, 99]) {
      const rank = rows.filter((row) => row.score >= score).length + 1;
      expect(await get(`/v1/boards/ranged/rank?score=${score}`)).toMatchObject({ rank, accuracy: 'exact' });
    }
    expect(await get('/v1/boards/ranged/entries?limit=1&rankStyle=competition')).toMatchObject({ total: PLAYERS });
  });

  it('loses an entry that is removed, and takes it back', async () => {
    expect((await admin.delete('/v1/boards/ranged/players/p5')).status).toBe(200);
    const total = async () => (await get<{ total: number }>('/v1/boards/ranged/entries')).total;
    await expect.poll(total).toBe(PLAYERS - 1);
    expectProblem(await admin.get('/v1/boards/ranged/players/p5'), 'ENTRY_NOT_FOUND');
    await admin.post('/v1/boards/ranged/scores', { playerId: 'p5', score: scores.get('p5') }, { Prefer: 'wait=10' });
    const { entry } = await get<{ entry: Row }>('/v1/boards/ranged/players/p5');
    expect(entry.rank).toBe(expected().find(({ playerId }) => playerId === 'p5')!.rank);
  });

  it.each(['ranged', 'hashed'])('is proposed boundaries that part its entries evenly (%s)', async (id) => {
    const response = await admin.post(`/v1/admin/boards/${id}/boundaries?dryRun`, { shards: 4 });
    expect(response.status, response.text).toBe(200);
    const { sharding, entries } = response.body as { sharding: { boundaries: number[] }; entries: number[] };
    expect(response.body).toMatchObject({
      board: id,
      window: 'alltime',
      total: PLAYERS,
      isLimitedByTies: false,
      dryRun: true,
    });
    const bounds = [...sharding.boundaries].reverse();
    expect(sharding.boundaries).toHaveLength(3);
    // A score that is a boundary stands in the worse shard.
    const counted = [Infinity, ...bounds].map((above, at) => {
      return expected().filter(({ score }) => score <= above && !(score <= (bounds[at] ?? -Infinity))).length;
    });
    expect(entries).toEqual(counted);
    for (const count of entries) expect(Math.abs(count - PLAYERS / 4)).toBeLessThanOrEqual(3);
    expect(await get(`/v1/boards/${id}`)).toMatchObject({
      id,
      sharding: id === 'ranged' ? { by: 'range' } : { by: 'hash' },
    });
  });

  it('is told where equal scores allow fewer shards, or none', async () => {
    await admin.makeBoard('tied');
    const submit = async (ids: string[], score: number): Promise<void> => {
      const submissions = ids.map((playerId) => ({ board: 'tied', playerId, score }));
      expect((await admin.post('/v1/scores', { submissions }, { Prefer: 'wait=10' })).status).toBe(200);
    };
    const propose = (body: object) => admin.post('/v1/admin/boards/tied/boundaries?dryRun', body);
    expectProblem(await propose({ shards: 2 }), 'BOUNDARIES_IMPOSSIBLE');
    await submit(['a', 'b', 'c', 'd'], 5);
    expectProblem(await propose({ shards: 2 }), 'BOUNDARIES_IMPOSSIBLE');
    await submit(['e', 'f'], 9);
    const { body } = await propose({ shards: 5 });
    expect(body).toMatchObject({ sharding: { boundaries: [5] }, entries: [2, 4], isLimitedByTies: true });
    expect(expectProblem(await propose({ shards: 65, every: 1 }), 'VALIDATION_FAILED').errors).toHaveLength(2);
    expectProblem(await admin.post('/v1/admin/boards/none/boundaries?dryRun', { shards: 2 }), 'BOARD_NOT_FOUND');
    const key = admin.as(await admin.makeKey('read'));
    expectProblem(await key.post('/v1/admin/boards/tied/boundaries?dryRun', { shards: 2 }), 'FORBIDDEN');
  });

  it('holds still page by page', async () => {
    const ids: string[] = [];
    let path: string | null = '/v1/boards/ranged/entries?cursor=start&limit=32';
    while (path !== null) {
      const page: { entries: Row[]; next: string | null } = await get(path);
      ids.push(...page.entries.map(({ playerId }) => playerId));
      path = page.next;
    }
    expect(ids).toEqual(expected().map(({ playerId }) => playerId));
    const around = await get<{ entries: Row[] }>('/v1/boards/ranged/entries?cursor=start&aroundPlayer=p7&limit=5');
    expect(around.entries.map(({ playerId }) => playerId)).toContain('p7');
  });

  it('comes out of a board by players without a pause, and goes back', async () => {
    const served = async (): Promise<object> => {
      interface Layouts {
        generations: { state: string; sharding: object }[];
      }
      const { generations } = await get<Layouts>('/v1/admin/boards/hashed/layout');
      return generations.find(({ state }) => state === 'serving')!.sharding;
    };
    const rows = expected();
    const shown = async (): Promise<unknown> => {
      const { status, body } = await admin.get('/v1/boards/hashed/entries?limit=100');
      if (status !== 200) return status;
      return (body as { entries: Row[] }).entries.map(({ rank, playerId, score }) => ({ rank, playerId, score }));
    };
    const taken = await admin.post('/v1/admin/boards/hashed/boundaries', { shards: 5 });
    expect(taken.status, taken.text).toBe(200);
    const { sharding } = taken.body as { sharding: object };
    for (const wanted of [sharding, { by: 'hash', count: 2 }]) {
      const definition = { order: 'desc', operator: 'latest', tiebreak: 'none', sharding: wanted };
      if (wanted !== sharding) {
        const put = await admin.put('/v1/boards/hashed', definition);
        expect(put.status, put.text).toBe(200);
      }
      // What is thrown in a poll is waited for.
      const all: unknown[] = [];
      const untilServed = expect.poll(
        async () => {
          all.push(await shown());
          return served();
        },
        { timeout: 120_000, interval: 200 },
      );
      await untilServed.toEqual(wanted);
      for (const each of [...all, await shown()]) expect(each).toEqual(rows);
    }
  }, 300_000);

  it('takes what was proposed without dryRun', async () => {
    const proposed = await admin.post('/v1/admin/boards/tied/boundaries?dryRun', { shards: 2 });
    const { sharding } = proposed.body as { sharding: object };
    await admin.makeBoard('parted', { sharding });
    const submissions = ['x', 'y', 'z'].map((playerId, at) => ({ board: 'parted', playerId, score: at === 0 ? 9 : 5 }));
    await admin.post('/v1/scores', { submissions }, { Prefer: 'wait=10' });
    const taken = await admin.post('/v1/admin/boards/parted/boundaries', { shards: 2 });
    expect(taken.status, taken.text).toBe(200);
    expect(taken.body).toMatchObject({ sharding, entries: [1, 2], dryRun: false });
    expect(await get('/v1/boards/parted')).toMatchObject({ sharding });
  });
});
