// Real: the built service in one process, PostgreSQL, Redis, HTTP.
import { startStandalone, type RunningStandalone } from '@laddercast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectProblem, RestClient } from './rest-client.js';

const PLAYERS = 1100;
const LOOKUPS_MAX = 500;

interface Entry {
  rank: number;
  playerId: string;
  score: number;
  percentile: number;
}

/** Pairs of players share each score; the earlier one stands higher. */
const scoreOf = (player: number): number => 10_000 - Math.floor(player / 2);

describe.each([1, 16])('over %i shards', (shards) => {
  let service: RunningStandalone;
  let admin: RestClient;
  let anyone: RestClient;

  const submit = async (board: string, scores: Record<string, number>, more: object = {}): Promise<void> => {
    const startedAtMs = Date.now() - 10_000;
    const all = Object.entries(scores).map(([playerId, score], index) => {
      return { board, playerId, score, achievedAt: new Date(startedAtMs + index).toISOString(), ...more };
    });
    for (let from = 0; from < all.length; from += 1000) {
      const submissions = all.slice(from, from + 1000);
      const answer = await admin.post('/v1/scores', { submissions }, { Prefer: 'wait=10' });
      for (const result of (answer.body as { results: object[] }).results) expect(result).not.toHaveProperty('problem');
    }
  };
  const makeBoard = (id: string, more: object = {}): Promise<string> =>
    admin.makeBoard(id, { sharding: { by: 'hash', count: shards }, ...more });
  const lookUp = async (board: string, body: object, query = ''): Promise<(Entry | null)[]> => {
    const answer = await anyone.post(`/v1/boards/${board}/lookups${query}`, body);
    expect(answer.status, answer.text).toBe(200);
    return (answer.body as { entries: (Entry | null)[] }).entries;
  };
  const player = async (board: string, id: string, query = ''): Promise<Entry> => {
    const answer = await anyone.get(`/v1/boards/${board}/players/${id}${query}`);
    expect(answer.status, answer.text).toBe(200);
    return (answer.body as { entry: Entry }).entry;
  };
  const without = async (board: string, query = ''): Promise<Record<string, unknown>> =>
    expectProblem(await anyone.get(`/v1/boards/${board}/players/nobody${query}`), 'ENTRY_NOT_FOUND');

  beforeAll(async () => {
    service = await startStandalone();
    anyone = new RestClient(service.url);
    admin = anyone.as(service.adminKey);
    await makeBoard('many');
    await submit('many', Object.fromEntries(Array.from({ length: PLAYERS }, (_, i) => [`p${i}`, scoreOf(i)])));
  });
  afterAll(() => service?.stop());

  it('500 players are looked up in the order asked, null where there is no entry, and no more than 500', async () => {
    const asked = Array.from({ length: LOOKUPS_MAX }, (_, i) => `p${(i * 37) % (PLAYERS + 100)}`);
    const number = (id: string): number => Number(id.slice(1));
    const entries = await lookUp('many', { playerIds: asked });
    expect(entries.map((entry) => entry && [entry.playerId, entry.rank, entry.score])).toEqual(
      asked.map((id) => (number(id) < PLAYERS ? [id, number(id) + 1, scoreOf(number(id))] : null)),
    );
    expect(entries).toContain(null);
    const shared = await lookUp('many', { playerIds: asked }, '?rankStyle=competition');
    expect(shared.map((entry) => entry?.rank)).toEqual(
      asked.map((id) => (number(id) < PLAYERS ? 2 * Math.floor(number(id) / 2) + 1 : undefined)),
    );
    const tooMany = { playerIds: [...asked, 'p0'] };
    expectProblem(await anyone.post('/v1/boards/many/lookups', tooMany), 'VALIDATION_FAILED');
    expectProblem(await anyone.post('/v1/boards/many/lookups', { playerIds: [] }), 'VALIDATION_FAILED');
  });

  it.each(['ordinal', 'competition'])(
    'players are ordered among themselves where it is asked for, %s',
    async (style) => {
      const asked = Array.from({ length: LOOKUPS_MAX }, (_, i) => `p${(i * 613) % PLAYERS}`);
      asked[250] = 'nobody';
      const ranked = await lookUp('many', { playerIds: asked, ranked: true }, `?rankStyle=${style}`);
      const numbers = asked.flatMap((id) => (id === 'nobody' ? [] : [Number(id.slice(1))])).sort((a, b) => a - b);
      const rankOf = (i: number): number => (style === 'ordinal' ? i : 2 * Math.floor(i / 2)) + 1;
      expect(ranked.map((entry) => [entry!.playerId, entry!.rank])).toEqual(numbers.map((i) => [`p${i}`, rankOf(i)]));
    },
  );

  it('a player who is named twice is there twice, and once among those ordered', async () => {
    const playerIds = ['p5', 'nobody', 'p3', 'p5', 'nobody', 'p5'];
    const ids = (entries: (Entry | null)[]): unknown[] => entries.map((entry) => entry && entry.playerId);
    expect(ids(await lookUp('many', { playerIds }))).toEqual(['p5', null, 'p3', 'p5', null, 'p5']);
    expect(ids(await lookUp('many', { playerIds, ranked: true }))).toEqual(['p3', 'p5']);
  });

  it('percentiles are 100 for the first and 0 for the last, and 0 for who is alone', async () => {
    await makeBoard('one');
    await submit('one', { a: 5 });
    expect(await player('one', 'a')).toMatchObject({ rank: 1, percentile: 0 });
    await makeBoard('two');
    await submit('two', { a: 5, b: 5 });
    expect(await player('two', 'a')).toMatchObject({ rank: 1, percentile: 100 });
    expect(await player('two', 'b')).toMatchObject({ rank: 2, percentile: 0 });
    expect(await player('two', 'b', '?rankStyle=competition')).toMatchObject({ rank: 1, percentile: 100 });
    for (const i of [0, 1, 549, PLAYERS - 1]) {
      const percentile = (100 * (PLAYERS - (i + 1))) / (PLAYERS - 1);
      expect((await player('many', `p${i}`)).percentile).toBe(percentile);
    }
    expect((await player('many', `p${PLAYERS - 1}`)).percentile).toBe(0);
  });

  it('who has no entry is told how many have one, and what the last of them has', async () => {
    const last = { rank: PLAYERS, score: scoreOf(PLAYERS - 1), columns: {} };
    expect(await without('many')).toMatchObject({ total: PLAYERS, scoreToBeat: last });
    const shared = { ...last, rank: PLAYERS - 1 };
    expect(await without('many', '?rankStyle=competition')).toMatchObject({ total: PLAYERS, scoreToBeat: shared });
    await makeBoard('empty');
    expect(await without('empty')).toMatchObject({ total: 0, scoreToBeat: null });
    await makeBoard('runs', {
      order: 'asc',
      columns: [{ name: 'falls', order: 'desc' }],
      windows: ['alltime', 'daily'],
    });
    await submit('runs', { a: 9.58, b: 9.58 }, { columns: { falls: 2 } });
    await submit('runs', { c: 9.58 }, { columns: { falls: 1 } });
    const toBeat = { rank: 3, score: 9.58, columns: { falls: 1 } };
    for (const window of ['alltime', 'daily']) {
      expect(await without('runs', `?window=${window}`)).toMatchObject({ total: 3, scoreToBeat: toBeat });
    }
    // Whoever does better by the least there is stands above it.
    await submit('runs', { nobody: 9.58 }, { columns: { falls: 1 + Number.EPSILON } });
    expect(await player('runs', 'nobody')).toMatchObject({ rank: 3 });
    expect(await player('runs', 'c')).toMatchObject({ rank: 4 });
  });

  it('who has no entry on a full board is told of the last entry that is kept', async () => {
    await makeBoard('full', { limits: { entriesMax: 3 } });
    await submit('full', { a: 50, b: 40, c: 30, d: 20, e: 10 });
    // Whether the entries beyond the limit are still there or not.
    const toBeat = { rank: 3, score: 30, columns: {} };
    expect(await without('full')).toMatchObject({ scoreToBeat: toBeat });
    await expect.poll(async () => (await without('full'))['total']).toBe(3);
    expect(await without('full')).toMatchObject({ total: 3, scoreToBeat: toBeat });
  });

  it('who has no entry can see the end of the list instead', async () => {
    const answer = await anyone.get('/v1/boards/many/players/nobody?fallback=last&above=1&below=1');
    const { entry, neighbours } = answer.body as { entry: null; neighbours: Entry[] };
    expect([entry, neighbours.map(({ rank }) => rank)]).toEqual([null, [PLAYERS - 2, PLAYERS - 1, PLAYERS]]);
  });

  it('who has no entry is told of nothing to beat in a window that is over', async () => {
    // One is read from its final standings, the other from the ranks that are kept for a while.
    for (const keepEndedSeconds of [0, 90_000]) {
      const board = await makeBoard(`over-${keepEndedSeconds}`, { windows: ['alltime', 'daily'], keepEndedSeconds });
      await submit(board, { a: 1 });
      const closed = await admin.post(`/v1/admin/boards/${board}/close-window`, { window: 'daily' });
      const { id } = (closed.body as { window: { id: string } }).window;
      const reading = async (): Promise<unknown> => {
        const { status, body } = await anyone.get(`/v1/boards/${board}/players/nobody?window=${id}`);
        const { total, scoreToBeat } = body as Record<string, unknown>;
        return { status, total, scoreToBeat };
      };
      await expect.poll(reading).toEqual({ status: 404, total: 1, scoreToBeat: null });
    }
  });
});
