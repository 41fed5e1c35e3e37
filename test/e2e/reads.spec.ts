// Real: the built service, PostgreSQL, Redis; Redis is asked itself what it was asked.
import { redisCommandsRun, startStandalone, type RunningStandalone } from '@laddercast/testing';
import supertest from 'supertest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const PLAYERS = 120;

describe('reads', () => {
  let app: RunningStandalone;
  let admin: { Authorization: string };

  beforeAll(async () => {
    app = await startStandalone();
    admin = { Authorization: `Bearer ${app.adminKey}` };
    const board = {
      order: 'desc',
      operator: 'best',
      sharding: { by: 'hash', count: 3 },
      windows: ['alltime', 'daily'],
    };
    await supertest(app.url).put('/v1/boards/reads').set(admin).send(board).expect(201);
    // Ten players share each score; the earlier one stands higher.
    const startedAtMs = Date.now() - 1000;
    const submissions = Array.from({ length: PLAYERS }, (_, i) => ({
      board: 'reads',
      playerId: `p${i}`,
      score: 1000 - Math.floor(i / 10),
      metadata: { i },
      achievedAt: new Date(startedAtMs + i).toISOString(),
    }));
    await supertest(app.url).post('/v1/scores').set(admin).set('Prefer', 'wait=10').send({ submissions }).expect(200);
  });
  afterAll(() => app?.stop());

  const get = (path: string) => supertest(app.url).get(`/v1/boards/reads${path}`);

  /** How often Redis ran what lists are read with. */
  const listCommands = (): Promise<number> => redisCommandsRun(/^(zrange|zrank|zcount|zcard|hget|hmget|evalsha|eval)/i);

  it('serves the top from memory in any style: 300 reads ask Redis nothing', async () => {
    await expect
      .poll(async () => {
        const before = await listCommands();
        for (let i = 0; i < 300; i += 1) {
          await get(`/entries?limit=10${i % 2 ? '&rankStyle=competition' : ''}`).expect(200);
        }
        return (await listCommands()) - before;
      })
      // The ticks themselves look at the shards once in a while; three hundred reads from the shards would be 900 calls.
      .toBeLessThan(150);
    const { body } = await get('/entries?limit=3').expect(200);
    expect(body.entries).toMatchObject([0, 1, 2].map((i) => ({ rank: i + 1, playerId: `p${i}`, metadata: { i } })));
  });

  it('pages deep into the shards, and links one page to the next', async () => {
    const first = await get('/entries?limit=70&window=alltime').expect(200);
    expect(first.body.prev).toBeNull();
    const second = await supertest(app.url)
      .get(first.body.next as string)
      .expect(200);
    expect(second.body.next).toBeNull();
    const all = [...first.body.entries, ...second.body.entries] as { rank: number; playerId: string }[];
    expect(all.map(({ rank }) => rank)).toEqual(Array.from({ length: PLAYERS }, (_, i) => i + 1));
    expect(new Set(all.map(({ playerId }) => playerId)).size).toBe(PLAYERS);
  });

  it.each([
    [3, 5],
    [5, 5],
    [7, 3],
    [118, 50],
    [119, 1],
    [500, 7],
  ])('links pages both ways from offset %i by %i, and shows no row twice and all of them', async (offset, limit) => {
    const page = async (path: string): Promise<{ ranks: number[]; next: string | null; prev: string | null }> => {
      const { body } = await supertest(app.url).get(path).expect(200);
      return { ...body, ranks: (body.entries as { rank: number }[]).map(({ rank }) => rank) };
    };
    const here = await page(`/v1/boards/reads/entries?limit=${limit}&offset=${offset}`);
    let ranks = here.ranks;
    for (let path = here.prev; path !== null;) {
      const before = await page(path);
      ranks = [...before.ranks, ...ranks];
      path = before.prev;
    }
    for (let path = here.next; path !== null;) {
      const after = await page(path);
      ranks = [...ranks, ...after.ranks];
      path = after.next;
    }
    expect(ranks).toEqual(Array.from({ length: PLAYERS }, (_, i) => i + 1));
  });

  it('ranks by competition where it is asked for: equal scores share the best rank', async () => {
    const { body } = await get('/entries?limit=25&rankStyle=competition').expect(200);
    expect((body.entries as { rank: number }[]).map(({ rank }) => rank)).toEqual(
      Array.from({ length: 25 }, (_, i) => 10 * Math.floor(i / 10) + 1),
    );
    const player = await get('/players/p57?rankStyle=competition&around=0').expect(200);
    expect(player.body.entry.rank).toBe(51);
  });

  it('says the rank that a score would get, in both styles', async () => {
    expect((await get('/rank?score=1000').expect(200)).body).toMatchObject({
      rank: 11,
      total: PLAYERS,
      accuracy: 'exact',
    });
    expect((await get('/rank?score=1000&rankStyle=competition').expect(200)).body.rank).toBe(1);
    expect((await get('/rank?score=-5e-324').expect(200)).body.rank).toBe(PLAYERS + 1);
  });

  it('looks up many players at once, in the order asked or ranked among themselves', async () => {
    const ask = (body: object) => supertest(app.url).post('/v1/boards/reads/lookups').send(body).expect(200);
    const asked = await ask({ playerIds: ['p99', 'nobody', 'p0'] });
    expect((asked.body.entries as ({ rank: number } | null)[]).map((entry) => entry?.rank ?? null)).toEqual([
      100,
      null,
      1,
    ]);
    const ranked = await ask({ playerIds: ['p99', 'nobody', 'p0'], ranked: true });
    expect((ranked.body.entries as { playerId: string }[]).map(({ playerId }) => playerId)).toEqual(['p0', 'p99']);
  });

  it('knows percentiles, and shows the end of the list to who has no entry', async () => {
    expect((await get('/players/p0').expect(200)).body.entry.percentile).toBe(100);
    expect((await get(`/players/p${PLAYERS - 1}`).expect(200)).body.entry.percentile).toBe(0);
    expect((await get('/players/nobody').expect(404)).body).toMatchObject({ code: 'ENTRY_NOT_FOUND', total: PLAYERS });
    const last = await get('/players/nobody?fallback=last&around=1').expect(200);
    expect(last.body.entry).toBeNull();
    expect((last.body.neighbours as { rank: number }[]).map(({ rank }) => rank)).toEqual([118, 119, 120]);
  });

  it('tells caches what they may keep, and answers 304 to who has it already', async () => {
    const first = await get('/entries?limit=10').expect(200);
    expect(first.headers['cache-control']).toBe('public, max-age=1');
    await get('/entries?limit=10').set('If-None-Match', first.headers['etag']!).expect(304);
    const known = await get('/entries?limit=10').set(admin).expect(200);
    expect(known.headers['cache-control']).toBe('no-cache');
  });

  it('waits for a version, and does not answer with an older one', async () => {
    const { body } = await get('/entries').expect(200);
    await get(`/entries?minVersion=${body.boardVersion}`).expect(200);
    const behind = await get(`/entries?minVersion=${body.boardVersion + 1000}`).expect(503);
    expect(behind.body.code).toBe('PROJECTION_BEHIND');
    expect(behind.headers['retry-after']).toBe('1');
  });

  it('keeps the windows apart', async () => {
    await supertest(app.url)
      .post('/v1/boards/reads/scores')
      .set(admin)
      .set('Prefer', 'wait=10')
      .send({ playerId: 'old', score: 5, achievedAt: '2020-01-01T00:00:00.000Z' })
      .expect(200);
    expect((await get('/players/old').expect(200)).body.entry.rank).toBe(PLAYERS + 1);
    await get('/players/old?window=daily').expect(404);
    const daily = await get('/entries?window=daily&limit=1').expect(200);
    expect(daily.body.window.id).toMatch(/^daily:\d{4}-\d\d-\d\d$/);
    expect(daily.body.window.resetsAt).toBe(daily.body.window.endsAt);
    expect(daily.body.total).toBe(PLAYERS);
  });
});
