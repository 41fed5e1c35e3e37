// Real: the built service in one process, its PostgreSQL (whose clock is moved) and Redis, HTTP.
import { DatabaseClock, startStandalone, type RunningStandalone } from '@laddercast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectProblem, playerToken, RestClient } from './rest-client.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

interface Point {
  at: string;
  score: number | null;
  columns: Record<string, number>;
  version: number;
  rank: { rank: number; total: number; accuracy: string; errorBound: number | null; asOf: string } | null;
}
interface History {
  board: string;
  window: { id: string };
  playerId: string;
  everyMinutes: number;
  points: Point[];
  next: string | null;
}
interface Row {
  playerId: string;
  rank: number;
  change?: number | null;
}

const at = (ms: number): string => new Date(ms).toISOString();
const encoded = encodeURIComponent;

describe('players over time', () => {
  let service: RunningStandalone;
  let clock: DatabaseClock;
  let admin: RestClient;
  let server: RestClient;
  let anyone: RestClient;

  beforeAll(async () => {
    service = await startStandalone();
    clock = await DatabaseClock.of(service.databaseUrl);
    anyone = new RestClient(service.url);
    admin = anyone.as(service.adminKey);
    server = anyone.as(await admin.makeKey('scores:write', 'read'));
  });
  afterAll(async () => {
    await clock?.close();
    await service?.stop();
  });

  const submit = async (board: string, playerId: string, score: number, more: object = {}): Promise<void> => {
    const body = { playerId, score, ...more };
    const answer = await server.post(`/v1/boards/${board}/scores`, body, { Prefer: 'wait=10' });
    expect(answer.status, answer.text).toBe(200);
  };

  const read = async (client: RestClient, board: string, player: string, query = ''): Promise<History> => {
    const answer = await client.get(`/v1/boards/${board}/players/${encoded(player)}/history${query}`);
    expect(answer.status, answer.text).toBe(200);
    return answer.body as History;
  };

  /** Waits until the newest point of the player has this score. */
  const recorded = async (board: string, player: string, score: number | null, query = ''): Promise<Point[]> => {
    await expect.poll(async () => (await read(admin, board, player, query)).points[0]?.score).toBe(score);
    return (await read(admin, board, player, query)).points;
  };

  describe('on a board that records them', () => {
    const startMs = Math.floor(Date.now() / DAY_MS) * DAY_MS - 10 * DAY_MS + 6 * HOUR_MS;

    it('are one point for each stretch in which something changed, the newest first, with the rank of then', async () => {
      const columns = [{ name: 'moves', order: 'asc' }];
      const options = { history: { everyMinutes: 1 }, columns, windows: ['alltime', { rolling: '720h' }] };
      await admin.makeBoard('moves', options);
      expect((await admin.get('/v1/boards/moves')).body).toMatchObject({ history: { everyMinutes: 1, keepDays: 90 } });
      await clock.stopAt(startMs);
      await submit('moves', 'ada', 10, { columns: { moves: 3 } });
      await recorded('moves', 'ada', 10);
      await clock.stopAt(startMs + 30_000);
      await submit('moves', 'ada', 20, { columns: { moves: 4 } });
      await recorded('moves', 'ada', 20);
      await clock.stopAt(startMs + MINUTE_MS);
      await submit('moves', 'bob', 30, { columns: { moves: 1 } });
      await submit('moves', 'ada', 25, { columns: { moves: 5 } });
      await recorded('moves', 'ada', 25);
      await clock.stopAt(startMs + 3 * MINUTE_MS + 7);
      expect((await admin.delete('/v1/boards/moves/players/ada')).status).toBe(200);
      const points = await recorded('moves', 'ada', null);
      expect(points.map(({ at: time, score, columns: by }) => [time, score, by])).toEqual([
        [at(startMs + 3 * MINUTE_MS + 7), null, {}],
        [at(startMs + MINUTE_MS), 25, { moves: 5 }],
        [at(startMs + 30_000), 20, { moves: 4 }],
      ]);
      expect(points.map(({ rank }) => rank && { ...rank, asOf: null })).toEqual([
        null,
        { rank: 2, total: 2, accuracy: 'exact', errorBound: 0, asOf: null },
        { rank: 1, total: 1, accuracy: 'exact', errorBound: 0, asOf: null },
      ]);
      expect(points[1]!.rank!.asOf >= points[1]!.at).toBe(true);
      expect((await recorded('moves', 'ada', null, '?window=rolling:720h')).length).toBe(3);
    });

    it('come page by page, and from and to a time', async () => {
      const whole = await read(anyone, 'moves', 'ada');
      expect(whole).toMatchObject({
        board: 'moves',
        playerId: 'ada',
        everyMinutes: 1,
        window: { id: 'alltime' },
        next: null,
      });
      const paged: Point[] = [];
      for (let query = '?limit=1'; ;) {
        const page = await read(anyone, 'moves', 'ada', query);
        expect(page.points).toHaveLength(1);
        paged.push(...page.points);
        if (page.next === null) break;
        query = `?limit=1&cursor=${page.next}`;
      }
      expect(paged).toEqual(whole.points);
      const between = `?from=${at(startMs + 30_000)}&to=${at(startMs + MINUTE_MS)}`;
      expect((await read(anyone, 'moves', 'ada', between)).points).toEqual(whole.points.slice(2));
      expect((await read(anyone, 'moves', 'nobody')).points).toEqual([]);
      for (const [query, pointer] of [
        ['?cursor=start', '?cursor'],
        ['?from=yesterday', '?from'],
        [`?from=${at(startMs)}&to=${at(startMs - 1)}`, '?from'],
        ['?limit=501', '?limit'],
      ] as const) {
        const problem = expectProblem(
          await anyone.get(`/v1/boards/moves/players/ada/history${query}`),
          'VALIDATION_FAILED',
        );
        expect(problem.errors!.map((fault) => fault.pointer)).toEqual([pointer]);
      }
      expectProblem(await anyone.get('/v1/boards/moves/players/ada/history?window=daily'), 'WINDOW_NOT_FOUND');
    });

    it('are nobody’s business where the player is not listed, or the board is private', async () => {
      await admin.put('/v1/players/bob', { listed: false });
      const bob = anyone.as(await playerToken(service.jwtSecret, 'bob'));
      const ada = anyone.as(await playerToken(service.jwtSecret, 'ada'));
      for (const client of [anyone, ada]) expect((await read(client, 'moves', 'bob')).points).toEqual([]);
      for (const client of [bob, server]) expect((await read(client, 'moves', 'bob')).points).toHaveLength(1);
      expect((await read(bob, 'moves', 'me')).playerId).toBe('bob');
      await admin.makeBoard('secret', { visibility: 'private', history: {} });
      expectProblem(await anyone.get('/v1/boards/secret/players/ada/history'), 'UNAUTHENTICATED');
    });

    it('are not told of a frozen window by what came after, but to admins', async () => {
      // It stands until all is there.
      const nowMs = Date.now();
      await clock.stopAt(nowMs);
      const season = { season: 's', startsAt: at(nowMs - HOUR_MS), endsAt: at(nowMs + HOUR_MS) };
      const freezeAtMs = nowMs + MINUTE_MS;
      await admin.makeBoard('cup', {
        history: { everyMinutes: 1 },
        change: true,
        windows: [{ ...season, freezeAt: at(freezeAtMs) }],
      });
      await submit('cup', 'cid', 5);
      await submit('cup', 'ada', 9);
      await recorded('cup', 'ada', 9);
      await recorded('cup', 'cid', 5);
      await clock.goOnFrom(freezeAtMs + 50);
      await server.post('/v1/boards/cup/scores', { playerId: 'ada', score: 99 });
      expect((await recorded('cup', 'ada', 99))[0]!.rank).toMatchObject({ rank: 1 });
      expect((await read(server, 'cup', 'ada')).points.map(({ score }) => score)).toEqual([9]);
      expect((await read(server, 'cup', 'cid')).points.map(({ score }) => score)).toEqual([5]);
      // Pages of the frozen standings say as the others do that no day was kept.
      for (const query of ['offset=0', 'cursor=start']) {
        const path = `/v1/boards/cup/entries?window=season:s&${query}`;
        await expect.poll(async () => (await server.get(path)).status).toBe(200);
        const { entries } = (await server.get(path)).body as { entries: Row[] };
        expect(entries.map(({ playerId, change }) => [playerId, change])).toEqual([
          ['ada', null],
          ['cid', null],
        ]);
      }
    });
  });

  it('are not recorded unless a board asks for it, and then it says how', async () => {
    await admin.makeBoard('plain');
    const problem = expectProblem(await anyone.get('/v1/boards/plain/players/ada/history'), 'HISTORY_NOT_KEPT');
    expect(problem.detail).toContain('"history": { "everyMinutes": 60, "keepDays": 90 }');
  });

  describe('since the day began', () => {
    // In a zone where it is about noon, so that no day ends while this runs.
    const offset = 12 - new Date().getUTCHours();
    const timeZone = offset === 0 ? 'UTC' : `Etc/GMT${offset > 0 ? '-' : '+'}${Math.abs(offset)}`;
    const dayStartMs = Math.floor((Date.now() + offset * HOUR_MS) / DAY_MS) * DAY_MS - offset * HOUR_MS;
    const changesIn = (rows: (Row | null)[]): Record<string, number | null | undefined> =>
      Object.fromEntries(rows.map((row) => [row!.playerId, row!.change]));

    it('say how far they have moved, wherever they are read', async () => {
      await clock.stopAt(dayStartMs - 1000);
      await admin.put('/v1/players/fay', { region: 'EU' });
      await admin.makeBoard('arrows', {
        change: true,
        timeZone,
        scopes: ['global', 'region'],
        windows: ['alltime', 'daily'],
      });
      for (const [player, score] of [
        ['fay', 30],
        ['gus', 20],
        ['hal', 10],
      ] as const)
        await submit('arrows', player, score);
      // Until the list is served from memory: what is remembered of its pages has no day to count from.
      for (let read = 0; read < 20; read += 1) {
        const { entries } = (await admin.get('/v1/boards/arrows/entries')).body as { entries: Row[] };
        expect(entries.filter(({ change }) => change !== null)).toEqual([]);
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      await clock.stopAt(dayStartMs);
      // The schedule looks at the clock four times a second.
      const dayIsKept = async (): Promise<unknown> => {
        await new Promise((resolve) => setTimeout(resolve, 1100));
        const { entries } = (await admin.get('/v1/boards/arrows/entries')).body as { entries: Row[] };
        return entries[0]!.change;
      };
      await expect.poll(dayIsKept).toBe(0);
      await clock.goOnFrom(Date.now());
      await submit('arrows', 'hal', 40);
      await submit('arrows', 'ida', 5);
      const expected = { hal: 2, fay: -1, gus: -1, ida: null };
      const get = async (path: string): Promise<unknown> => (await admin.get(`/v1/boards/arrows/${path}`)).body;
      // From the shards, and from the snapshot in memory.
      const list = async (): Promise<Row[]> => ((await get('entries')) as { entries: Row[] }).entries;
      await expect.poll(async () => (await list()).length).toBe(4);
      for (let read = 0; read < 30; read += 1) {
        expect(changesIn(await list())).toEqual(expected);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      expect(
        changesIn(((await get('entries?offset=1&limit=2&rankStyle=competition')) as { entries: Row[] }).entries),
      ).toEqual({
        fay: -1,
        gus: -1,
      });
      for (const path of ['entries?cursor=start&limit=4', 'entries?aroundPlayer=fay', 'entries?aroundRank=2']) {
        expect(changesIn(((await get(path)) as { entries: Row[] }).entries)).toEqual(expected);
      }
      const player = (await get('players/fay?rankStyle=competition')) as { entry: Row; neighbours: Row[] };
      expect(player.entry.change).toBe(-1);
      expect(changesIn(player.neighbours)).toEqual(expected);
      const last = (await get('players/nobody?fallback=last')) as { neighbours: Row[] };
      expect(changesIn(last.neighbours)).toEqual(expected);
      const lookup = { playerIds: ['ida', 'hal', 'nobody'] };
      const looked = (await admin.post('/v1/boards/arrows/lookups', lookup)).body as { entries: (Row | null)[] };
      expect(looked.entries.map((row) => row && row.change)).toEqual([null, 2, null]);
      expect(changesIn(((await get('entries?scope=region:EU')) as { entries: Row[] }).entries)).toEqual({ fay: null });
      expect(changesIn(((await get('entries?window=daily')) as { entries: Row[] }).entries)).toEqual({
        hal: null,
        ida: null,
      });
    });

    it('say nothing on boards that do not ask', async () => {
      await admin.makeBoard('still');
      await submit('still', 'ada', 1);
      const { entries } = (await admin.get('/v1/boards/still/entries')).body as { entries: Row[] };
      expect(entries[0]).not.toHaveProperty('change');
    });
  });
});
