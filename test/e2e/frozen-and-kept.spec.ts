// Real: the built service in one process, PostgreSQL, Redis, HTTP. Seasons of some seconds, by the real clock.
import { DatabaseClock, startStandalone, type RunningStandalone } from '@laddercast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectProblem, playerToken, RestClient } from './rest-client.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

interface Page {
  entries: { rank: number; playerId: string; score: number }[];
  window: { id: string; startsAt: string; endsAt: string; resetsAt: string | null };
  total: number;
  boardVersion: number;
  asOf: string;
  next: string | null;
}

const at = (ms: number): string => new Date(ms).toISOString();
const sleepUntil = (ms: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, Math.max(0, ms - Date.now())));
const scoresOf = ({ entries }: Page): [string, number][] => entries.map(({ playerId, score }) => [playerId, score]);

describe('a board at other times than now', () => {
  let service: RunningStandalone;
  let admin: RestClient;
  let server: RestClient;
  let anyone: RestClient;

  beforeAll(async () => {
    service = await startStandalone();
    anyone = new RestClient(service.url);
    admin = anyone.as(service.adminKey);
    server = anyone.as(await admin.makeKey('scores:write', 'read'));
  });
  afterAll(() => service?.stop());

  /** Submits, and waits until it is ranked. */
  const submit = async (client: RestClient, board: string, playerId: string, score: number): Promise<unknown> => {
    const path = `/v1/boards/${board}/scores`;
    const answer = await client.post(path, { playerId, score }, { Prefer: 'wait=10' });
    expect(answer.status, answer.text).toBe(200);
    return (answer.body as { rank: unknown }).rank;
  };

  const read = async (client: RestClient, path: string): Promise<Page> => {
    const answer = await client.get(path);
    expect(answer.status, answer.text).toBe(200);
    return answer.body as Page;
  };

  /** What anyone is shown once it is these scores; until then nothing but the standings of the freeze, or nothing at all. */
  const untilShown = async (path: string, scores: unknown[]): Promise<Page> => {
    const before: string[] = [];
    let page: Page | undefined;
    const shown = async (): Promise<unknown> => {
      const { status, body } = await anyone.get(path);
      if (status !== 200) return status;
      if (page) before.push(scoresOf(page).join());
      return scoresOf((page = body as Page));
    };
    await expect.poll(shown).toEqual(scores);
    expect(before.filter((text) => text !== 'ada,100,bob,50')).toEqual([]);
    return page!;
  };

  it('is frozen for everyone but admins, and shows all that happened when the season is over', async () => {
    await admin.put('/v1/players/ada', { region: 'EU' });
    const started = Date.now();
    const [freezeAt, endsAt] = [started + 8000, started + 24_000];
    const season = { season: 's1', startsAt: at(started - HOUR_MS), endsAt: at(endsAt), freezeAt: at(freezeAt) };
    const scopes = ['global', 'region'];
    await admin.makeBoard('cup', { windows: [season], scopes, graceSeconds: 0, keepEndedSeconds: 3 });
    const path = '/v1/boards/cup/entries?window=season:s1';
    expect(await submit(server, 'cup', 'ada', 100)).toMatchObject({ after: 1 });
    await submit(server, 'cup', 'bob', 50);
    const before = await read(anyone, path);
    expect(before.window).toMatchObject({ id: 'season:s1', endsAt: at(endsAt), resetsAt: at(endsAt) });
    await sleepUntil(freezeAt + 20);
    // Reads that come while the standings are being written are told when to come again.
    const toldWhen: unknown[] = [];
    await expect
      .poll(
        async () => {
          const { status, headers } = await anyone.get(path);
          if (status !== 200) toldWhen.push(`${status} ${headers['retry-after']}`);
          return status;
        },
        { interval: 20 },
      )
      .toBe(200);
    expect(toldWhen.filter((told) => told !== '503 1')).toEqual([]);

    expect(await submit(server, 'cup', 'cy', 500)).toBeNull();
    expect(await submit(server, 'cup', 'ada', 400)).toBeNull();
    expect(await submit(admin, 'cup', 'dee', 600)).toMatchObject({ after: 1, total: 4 });
    // Neither does the answer to a repetition tell.
    const repeated = { submissionId: 'again', playerId: 'cy', score: 1 };
    await server.post('/v1/boards/cup/scores', repeated);
    const second = (await server.post('/v1/boards/cup/scores', repeated)).body as object;
    expect(second).toMatchObject({ replayed: true, rank: null });
    const batch = { submissions: [{ board: 'cup', playerId: 'cy', score: 501 }] };
    const [result] = ((await server.post('/v1/scores', batch)).body as { results: { rank: unknown }[] }).results;
    expect(result).toMatchObject({ outcome: 'improved', rank: null });

    const frozen = await read(anyone, path);
    expect(scoresOf(frozen)).toEqual([
      ['ada', 100],
      ['bob', 50],
    ]);
    expect(frozen).toMatchObject({ total: 2, asOf: at(freezeAt) });
    expect(scoresOf(await read(anyone, `${path}&scope=region:EU`))).toEqual([['ada', 100]]);
    for (const client of [anyone, server, anyone.as(await playerToken(service.jwtSecret, 'cy'))]) {
      expectProblem(await client.get('/v1/boards/cup/players/cy?window=season:s1'), 'ENTRY_NOT_FOUND');
      expect(((await client.get('/v1/boards/cup/rank?score=75')).body as { rank: number }).rank).toBe(2);
    }
    const final = [
      ['dee', 600],
      ['cy', 501],
      ['ada', 400],
      ['bob', 50],
    ];
    await expect.poll(async () => scoresOf(await read(admin, path))).toEqual(final);
    const live = await admin.get(path);
    expect(scoresOf(live.body as Page)).toEqual(final);
    expect(live.headers['cache-control']).toBe('no-cache');
    // What admins saw is not what anybody is shown after them.
    for (let times = 0; times < 5; times += 1) expect(scoresOf(await read(anyone, path))).toEqual(scoresOf(frozen));

    await sleepUntil(endsAt + 500);
    const ended = await untilShown(`${path}&minVersion=${frozen.boardVersion}`, final);
    expect(ended.window.resetsAt).toBeNull();
    expectProblem(await server.post('/v1/boards/cup/scores', { playerId: 'late', score: 1 }), 'WINDOW_CLOSED');
    await sleepUntil(endsAt + 3500);
    const settled = await untilShown(`${path}&minVersion=${ended.boardVersion}`, final);
    expect(settled.entries).toEqual(ended.entries);
    const versions = [before, frozen, ended, settled].map(({ boardVersion }) => boardVersion);
    expect(versions).toEqual([...versions].sort((a, b) => a - b));
    expect(scoresOf(await read(anyone, `${path}&scope=region:EU`))).toEqual([['ada', 400]]);
  });

  it('is read as it stood, where it keeps that, and as far as it keeps it', async () => {
    const clock = await DatabaseClock.of(service.databaseUrl);
    // A second before a minute that is over: what is kept then is of a time that has been.
    const minuteMs = Math.floor((Date.now() - 5000) / MINUTE_MS) * MINUTE_MS;
    try {
      await clock.stopAt(minuteMs - 1000);
      await admin.makeBoard('kept', { snapshot: { top: 2, keepEveryMinutes: 1 }, scopes: ['global', 'region'] });
      await admin.put('/v1/players/eve', { region: 'EU' });
      for (const [player, score] of [
        ['eve', 10],
        ['fay', 20],
        ['guy', 5],
      ] as const) {
        await submit(server, 'kept', player, score);
      }
      await clock.goOnFrom(minuteMs - 1000);
      // Asked for moments that are over: of one to come the answer is the board as it stands.
      let asOf = '';
      const keptAt = async (): Promise<number> => {
        asOf = `asOf=${at((await clock.nowMs()) - 300)}`;
        return Date.parse(((await anyone.get(`/v1/boards/kept/entries?${asOf}`)).body as Partial<Page>).asOf ?? at(0));
      };
      await expect.poll(keptAt).toBeGreaterThanOrEqual(minuteMs);
      const path = `/v1/boards/kept/entries?limit=1&${asOf}`;
      await submit(server, 'kept', 'guy', 1000);
      const live = await read(anyone, '/v1/boards/kept/entries');
      expect(scoresOf(live)[0]).toEqual(['guy', 1000]);

      const first = await read(anyone, `${path}&minVersion=${live.boardVersion}`);
      expect(scoresOf(first)).toEqual([['fay', 20]]);
      expect(first).toMatchObject({ total: 3 });
      expect(Date.parse(first.asOf)).toBeGreaterThanOrEqual(minuteMs);
      expect(first.boardVersion).toBeLessThan(live.boardVersion);
      const second = await read(anyone, first.next!);
      expect(scoresOf(second)).toEqual([['eve', 10]]);
      expect(second.asOf).toBe(first.asOf);
      expect((await read(anyone, second.next!)).entries).toEqual([]);
      expect(scoresOf(await read(anyone, `${path}&scope=region:EU`))).toEqual([['eve', 10]]);

      const eve = await anyone.get(`/v1/boards/kept/players/eve?${asOf}`);
      expect(eve.body).toMatchObject({
        entry: { rank: 2, score: 10 },
        neighbours: [{ playerId: 'fay' }, { playerId: 'eve' }],
      });
      const guy = expectProblem(await anyone.get(`/v1/boards/kept/players/guy?${asOf}`), 'ENTRY_NOT_FOUND');
      expect(guy['total']).toBe(3);
      expect(((await anyone.get(`/v1/boards/kept/rank?score=15&${asOf}`)).body as { rank: number }).rank).toBe(2);
      expectProblem(await anyone.get(`/v1/boards/kept/rank?score=1&${asOf}`), 'SNAPSHOT_GONE');
      const lookup = await anyone.post(`/v1/boards/kept/lookups?${asOf}`, { playerIds: ['guy', 'fay'] });
      expect((lookup.body as Page).entries).toMatchObject([null, { rank: 1, score: 20 }]);
      expectProblem(await anyone.get(`/v1/boards/kept/entries?asOf=${at(minuteMs - HOUR_MS)}`), 'SNAPSHOT_GONE');
    } finally {
      await clock.goOnFrom(Date.now());
      await clock.close();
    }
  });

  it('takes another end of a season while it runs, and none once it is over', async () => {
    const startsAt = at(Date.now() - HOUR_MS);
    const season = (name: string, endsAt: number) => ({ season: name, startsAt, endsAt: at(endsAt) });
    const options = { order: 'desc', operator: 'best', graceSeconds: 0, keepEndedSeconds: 60 };
    const put = (windows: object[]) => admin.put('/v1/boards/moved', { ...options, windows });
    const soon = Date.now() + 8000;
    const [long, short] = [season('long', Date.now() + HOUR_MS), season('short', soon)];
    expect((await put([long, short])).status).toBe(201);
    await submit(server, 'moved', 'ada', 1);
    // The one ends earlier, the other later than it was to.
    const [earlier, later] = [season('long', soon), season('short', Date.now() + 2 * HOUR_MS)];
    expect((await put([earlier, later])).status).toBe(200);
    expect((await admin.get('/v1/boards/moved')).body).toMatchObject({ windows: [earlier, later] });
    const path = '/v1/boards/moved/entries?window=season:';
    await expect.poll(async () => (await read(anyone, `${path}long`)).window.endsAt).toBe(earlier.endsAt);
    expect((await read(anyone, `${path}short`)).window.endsAt).toBe(later.endsAt);
    await sleepUntil(soon + 1000);
    const { body } = await server.post('/v1/boards/moved/scores', { playerId: 'bob', score: 2 });
    expect((body as { windows: string[] }).windows).toEqual(['season:short']);
    await expect.poll(async () => (await read(anyone, `${path}long`)).total).toBe(1);
    await expect
      .poll(async () => ((await put([season('long', soon + HOUR_MS), later])).body as { code: string }).code)
      .toBe('WINDOW_CLOSED');
    const earlierStart = { ...later, startsAt: at(Date.now() - 2 * HOUR_MS) };
    expectProblem(await put([earlier, earlierStart]), 'BOARD_NOT_EMPTY');
    // A season that is taken off the board is still read by its name.
    expect((await put([later])).status).toBe(200);
    expect(scoresOf(await read(anyone, `${path}long`))).toEqual([['ada', 1]]);
  });
});
