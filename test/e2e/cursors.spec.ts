// Real: the built service in one process, PostgreSQL, Redis, HTTP. Changes are submitted while lists are being read.
import { RedisConnection } from '@laddercast/projections';
import { requiredService, startStandalone, type RunningStandalone } from '@laddercast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectProblem, playerToken, RestClient } from './rest-client.js';

const ENTRIES = 2000;

interface Row {
  rank: number;
  playerId: string;
  score: number;
  metadata: unknown;
}

interface Page {
  entries: Row[];
  total: number;
  boardVersion: number;
  asOf: string;
  next: string | null;
  prev: string | null;
  cursorExpiresAt?: string | null;
}

const sleepUntil = (ms: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, Math.max(0, ms - Date.now())));
const cursorOf = (path: string): string => new URLSearchParams(path.split('?')[1]).get('cursor')!;
const idsOf = ({ entries }: Page): string[] => entries.map(({ playerId }) => playerId);

describe('pages by cursor', () => {
  let service: RunningStandalone;
  let admin: RestClient;
  let anyone: RestClient;

  beforeAll(async () => {
    service = await startStandalone();
    anyone = new RestClient(service.url);
    admin = anyone.as(service.adminKey);
    await admin.makeBoard('big', { sharding: { by: 'hash', count: 3 } });
    const players = Array.from({ length: ENTRIES }, (_, at) => ({ playerId: `p${at}`, score: 10_000 - (at >> 1) }));
    await submit('big', players);
  });
  afterAll(() => service?.stop());

  async function submit(board: string, runs: { playerId: string; score: number; metadata?: unknown }[]): Promise<void> {
    for (let at = 0; at < runs.length; at += 500) {
      const submissions = runs.slice(at, at + 500).map((run) => ({ board, ...run }));
      const answer = await admin.post('/v1/scores', { submissions }, { Prefer: 'wait=10' });
      expect(answer.status, answer.text).toBe(200);
    }
  }

  async function read(path: string, client = anyone): Promise<Page> {
    const answer = await client.get(path);
    expect(answer.status, answer.text).toBe(200);
    return answer.body as Page;
  }

  it('show one moment of a list, both ways, while it is being written', async () => {
    const before: Row[] = [];
    for (let offset = 0; offset < ENTRIES; offset += 500)
      before.push(...(await read(`/v1/boards/big/entries?limit=500&offset=${offset}&rankStyle=competition`)).entries);
    const first = await read('/v1/boards/big/entries?cursor=start&limit=70&rankStyle=competition');
    let writes = 0;
    let isReading = true;
    const writer = (async () => {
      while (isReading) {
        const at = (writes * 37) % ENTRIES;
        const runs = Array.from({ length: 20 }, (_, n) => ({
          playerId: `p${(at + n) % ENTRIES}`,
          score: 9000 + at + n,
        }));
        const added = Array.from({ length: 5 }, (_, n) => ({ playerId: `new${writes}-${n}`, score: 8000 + at }));
        await submit('big', [...runs, ...added]);
        await admin.delete(`/v1/boards/big/players/p${(at + 700) % ENTRIES}`);
        writes += 1;
      }
    })();
    const pages = [first];
    for (let page = first; page.next !== null; pages.push(page))
      page = await read(page.next.replace('limit=70', 'limit=90'));
    await expect.poll(() => writes).toBeGreaterThan(3);
    for (let page = pages.at(-1)!; page.prev !== null; pages.push(page)) page = await read(page.prev);
    isReading = false;
    await writer;
    const turn = pages.findIndex(({ next }) => next === null);
    const forth = pages.slice(0, turn + 1).flatMap(({ entries }) => entries);
    const back = pages
      .slice(turn)
      .reverse()
      .flatMap(({ entries }) => entries);
    expect(forth).toEqual(before);
    expect(back).toEqual(before);
    const { total, boardVersion, asOf, cursorExpiresAt } = first;
    for (const page of pages) expect(page).toMatchObject({ total, boardVersion, asOf, cursorExpiresAt });
    expect(total).toBe(ENTRIES);
    expect(Date.parse(cursorExpiresAt!) - Date.parse(asOf)).toBe(300_000);
    expect((await read('/v1/boards/big/entries')).total).not.toBe(ENTRIES);
  });

  it('go on in the shards of then when the board is sharded anew, and these are fed no more', async () => {
    await admin.makeBoard('moved', { sharding: { by: 'hash', count: 2 } });
    const players = Array.from({ length: 300 }, (_, at) => `p${at}`);
    await submit(
      'moved',
      players.map((playerId, at) => ({ playerId, score: 1000 - at })),
    );
    const first = await read('/v1/boards/moved/entries?cursor=start&limit=50');
    const pages = [first];
    const further = async (): Promise<void> => {
      pages.push(await read(pages.at(-1)!.next!));
      await submit('moved', [{ playerId: `p${299 - pages.length}`, score: 2000 }]);
    };
    const statesOf = async (): Promise<string[]> => {
      const { body } = await admin.get('/v1/admin/boards/moved/layout');
      return (body as { generations: { state: string; generation: number }[] }).generations
        .map(({ state, generation }) => `${generation} ${state}`)
        .sort();
    };
    await admin.put('/v1/boards/moved', { order: 'desc', operator: 'best', sharding: { by: 'hash', count: 5 } });
    await further();
    await expect.poll(statesOf, { timeout: 60_000, interval: 100 }).toEqual(['1 retiring', '2 serving']);
    await further();
    const live = await read('/v1/boards/moved/entries?limit=1');
    expect(live.entries[0]!.score).toBe(2000);
    // Of the new shards: nobody shares a checkpoint over generations.
    expect((await read('/v1/boards/moved/entries?cursor=start&limit=1')).entries[0]!.score).toBe(2000);
    // What is held still is kept, and changes no more.
    await expect.poll(statesOf, { timeout: 90_000, interval: 500 }).toEqual(['1 removing', '2 serving']);
    while (pages.at(-1)!.next !== null) await further();
    expect(pages.flatMap(idsOf)).toEqual(players);
    for (const { boardVersion, asOf } of pages) {
      expect([boardVersion, asOf]).toEqual([first.boardVersion, first.asOf]);
    }
  });

  it('jump to a rank, a score and a player, live and to stay', async () => {
    await admin.makeBoard('jumps', { sharding: { by: 'hash', count: 2 } });
    await submit(
      'jumps',
      Array.from({ length: 40 }, (_, at) => ({ playerId: `p${at}`, score: 100 - at })),
    );
    const between = (from: number, to: number): string[] =>
      Array.from({ length: to - from }, (_, at) => `p${from + at}`);
    for (const start of ['', '&cursor=start']) {
      const jump = (to: string): Promise<Page> => read(`/v1/boards/jumps/entries?limit=5&${to}${start}`);
      for (const to of ['aroundRank=11', 'aroundScore=90', 'aroundScore=90.5', 'aroundPlayer=p10']) {
        const page = await jump(to);
        expect(idsOf(page), to).toEqual(between(8, 13));
        expect(page.entries[0]!.rank).toBe(9);
        expect(idsOf(await read(page.next!))).toEqual(between(13, 18));
        expect(idsOf(await read(page.prev!))).toEqual(between(3, 8));
        expect('cursorExpiresAt' in page).toBe(start !== '');
      }
      for (const to of ['aroundRank=2', 'aroundScore=5000', 'aroundPlayer=p0'])
        expect(idsOf(await jump(to))).toEqual(between(0, 5));
      for (const to of ['aroundRank=999', 'aroundScore=-1', 'aroundPlayer=p39']) {
        const page = await jump(to);
        expect(idsOf(page)).toEqual(between(35, 40));
        expect(page.next).toBeNull();
      }
      const path = `/v1/boards/jumps/entries?aroundPlayer=nobody${start}`;
      const problem = expectProblem(await anyone.get(path), 'ENTRY_NOT_FOUND');
      const player = expectProblem(await anyone.get('/v1/boards/jumps/players/nobody'), 'ENTRY_NOT_FOUND');
      expect(problem).toEqual({ ...player, instance: path.split('?')[0], requestId: problem.requestId });
    }
    const me = anyone.as(await playerToken(service.jwtSecret, 'p20'));
    expect(idsOf(await read('/v1/boards/jumps/entries?limit=1&aroundPlayer=me', me))).toEqual(['p20']);
    // Who came after the moment that is shared is shown by a newer one.
    await submit('jumps', [{ playerId: 'late', score: 70.5 }]);
    const page = await read('/v1/boards/jumps/entries?limit=1&cursor=start&aroundPlayer=late');
    expect(idsOf(page)).toEqual(['late']);
    // With four open there is no newer one: the page is around the place where the player came to stand.
    let shown: string[];
    let late = 0;
    do {
      late += 1;
      await submit('jumps', [{ playerId: `late${late}`, score: 75.9 - late / 100 }]);
      shown = idsOf(await read(`/v1/boards/jumps/entries?limit=1&cursor=start&aroundPlayer=late${late}`));
    } while (shown[0] === `late${late}` && late < 6);
    expect(shown).toEqual(['p25']);
    const { boardVersion } = await read('/v1/boards/jumps/entries?aroundRank=1');
    const tooNew = await anyone.get(`/v1/boards/jumps/entries?cursor=start&minVersion=${boardVersion}`);
    expectProblem(tooNew, 'PROJECTION_BEHIND');
    expect(tooNew.headers['retry-after']).toBe('60');
  });

  it('are of guilds and of regions as well', async () => {
    await admin.makeBoard('scopes', { scopes: ['global', 'guild', 'region'] });
    for (const at of [0, 1, 2]) {
      await admin.put(`/v1/guilds/g${at}`, { displayName: `Guild ${at}` });
      await admin.put(`/v1/guilds/g${at}/members/m${at}`);
      await admin.put(`/v1/players/m${at}`, { region: 'EU' });
    }
    await submit(
      'scopes',
      [0, 1, 2].map((at) => ({ playerId: `m${at}`, score: 10 - at })),
    );
    await expect.poll(async () => (await read('/v1/boards/scopes/guilds')).total).toBe(3);
    for (const [path, ids] of [
      ['guilds?', ['g0', 'g1', 'g2']],
      ['entries?scope=region:EU&', ['m0', 'm1', 'm2']],
    ] as const) {
      const first = await read(`/v1/boards/scopes/${path}limit=2&cursor=start`);
      await submit('scopes', [{ playerId: 'm2', score: 50 + ids.length }]);
      expect(first).toMatchObject({ total: 3, scope: path.startsWith('guilds') ? 'guilds' : 'region:EU' });
      expect(idsOf(first).slice(0, 1)).not.toEqual([]);
      const second = await read(first.next!);
      expect([...idsOf(first), ...idsOf(second)].sort()).toEqual(ids);
      expect(await read(second.prev!)).toMatchObject({ entries: first.entries.map(({ playerId }) => ({ playerId })) });
    }
    const empty = await read('/v1/boards/scopes/entries?scope=region:XX&cursor=start');
    expect(empty).toMatchObject({ entries: [], total: 0, next: null, prev: null });
  });

  it('say of the runs of then what is known, and hide who is not listed', async () => {
    await admin.makeBoard('shown', { tiebreak: 'none' });
    await submit(
      'shown',
      ['ada', 'bob', 'cy', 'dee'].map((playerId, at) => ({ playerId, score: 9 - at, metadata: { at } })),
    );
    await admin.put('/v1/players/bob', { listed: false });
    const first = await read('/v1/boards/shown/entries?cursor=start&limit=2');
    expect(first.entries).toMatchObject([{ rank: 1, playerId: 'ada', metadata: { at: 0 } }]);
    // The row that the next page follows is bob's.
    expect(Buffer.from(cursorOf(first.next!), 'base64url').toString()).not.toContain(
      Buffer.from('bob').toString('base64url'),
    );
    await submit('shown', [{ playerId: 'cy', score: 100, metadata: { at: 100 } }]);
    await admin.put('/v1/players/dee', { displayName: 'Dee' });
    await expect
      .poll(async () => (await read(first.next!)).entries)
      .toMatchObject([
        { rank: 3, playerId: 'cy', score: 7, metadata: null, achievedAt: null },
        { rank: 4, playerId: 'dee', displayName: 'Dee', metadata: { at: 3 }, achievedAt: expect.any(String) as string },
      ]);
    const second = await read(first.next!);
    expect(await read(second.prev!)).toMatchObject({ entries: [{ playerId: 'ada' }], prev: null });
    const bob = anyone.as(await playerToken(service.jwtSecret, 'bob'));
    const around = await read('/v1/boards/shown/entries?cursor=start&limit=1&aroundPlayer=bob', bob);
    expect(around.entries).toMatchObject([{ rank: 2, playerId: 'bob' }]);
    expectProblem(await anyone.get('/v1/boards/shown/entries?cursor=start&aroundPlayer=bob'), 'ENTRY_NOT_FOUND');
  });

  it('are refused where they are not of this list', async () => {
    await admin.makeBoard('here', { windows: ['alltime', 'daily'] });
    await admin.makeBoard('there', {});
    for (const board of ['here', 'there'])
      await submit(
        board,
        ['a', 'b', 'c'].map((playerId) => ({ playerId, score: 1 })),
      );
    const { next } = await read('/v1/boards/here/entries?cursor=start&limit=1&window=daily');
    const cursor = cursorOf(next!);
    const parts = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown[];
    const forged = (at: number, part: unknown): string =>
      Buffer.from(JSON.stringify(parts.map((one, index) => (index === at ? part : one)))).toString('base64url');
    const page = (query: string, board = 'here'): Promise<import('supertest').Response> =>
      anyone.get(`/v1/boards/${board}/entries?${query}`);
    expect((await page(`cursor=${cursor}&window=daily&scope=global&limit=2`)).status).toBe(200);
    const broken = ['x', 'Start', '', `${cursor}=`, cursor.slice(1), `${cursor}A`, 'x'.repeat(3000)];
    const wrong: [number, unknown][] = [
      [0, 2],
      [2, '1'],
      [2, -1],
      [5, ''],
      [6, 9],
      [7, 2],
      [8, 0],
      [9, 65],
      [9, 1e9],
      [12, 'short'],
      [13, 4],
      [14, -1],
      [15, 1],
      [16, 'x'],
      [17, 'AA'],
      [17, 7],
    ];
    for (const one of [...broken, ...wrong.map(([at, part]) => forged(at, part))]) {
      expectProblem(await page(`cursor=${encodeURIComponent(one)}`), 'VALIDATION_FAILED');
    }
    expectProblem(await page(`cursor=${cursor}`, 'there'), 'VALIDATION_FAILED');
    for (const beside of [
      'window=alltime',
      'scope=region:EU',
      'rankStyle=competition',
      'minVersion=1',
      'offset=1',
      'aroundRank=1',
    ]) {
      expectProblem(await page(`cursor=${cursor}&${beside}`), 'VALIDATION_FAILED');
    }
    for (const query of [
      'cursor=start&offset=0',
      'aroundRank=1&aroundScore=1',
      'offset=1&aroundRank=1',
      'aroundRank=0',
      'aroundScore=x',
      'aroundPlayer=',
    ]) {
      expectProblem(await page(query), 'VALIDATION_FAILED');
    }
    expectProblem(await page('aroundPlayer=me'), 'UNAUTHENTICATED');
    for (const [at, part] of [
      [8, 7],
      [9, 2],
      [12, 'AAAAAAAAAAAA'],
      [13, 3],
      [14, 5],
      [2, 999_999],
    ] as const) {
      expectProblem(await page(`cursor=${forged(at, part)}`), 'CURSOR_EXPIRED');
    }
  });

  it('give no right: boards that became private, or were reset', async () => {
    await admin.makeBoard('closed', {});
    await submit(
      'closed',
      ['a', 'b', 'c'].map((playerId) => ({ playerId, score: 1 })),
    );
    const { next } = await read('/v1/boards/closed/entries?cursor=start&limit=1');
    await admin.put('/v1/boards/closed', { order: 'desc', operator: 'best', visibility: 'private' });
    await expect.poll(async () => (await anyone.get(next!)).status).toBe(401);
    expect((await admin.get(next!)).status).toBe(200);
    expect((await admin.post('/v1/admin/boards/closed/reset')).status).toBeLessThan(300);
    await expect.poll(async () => (await admin.get(next!)).status).toBe(410);
    expectProblem(await admin.get(next!), 'CURSOR_EXPIRED');
  });

  it('show of a frozen window what everyone may see, and its standings as long as they are those', async () => {
    const started = Date.now();
    const [freezeAt, endsAt] = [started + 8000, started + 18_000];
    const at = (ms: number): string => new Date(ms).toISOString();
    const season = { season: 's1', startsAt: at(started - 3_600_000), endsAt: at(endsAt), freezeAt: at(freezeAt) };
    await admin.makeBoard('cup', { windows: [season], graceSeconds: 0, keepEndedSeconds: 3 });
    await submit(
      'cup',
      ['a', 'b', 'c', 'd'].map((playerId, n) => ({ playerId, score: 9 - n })),
    );
    const open = '/v1/boards/cup/entries?window=season:s1&cursor=start&limit=2';
    const running = await read(open);
    expect(idsOf(await read(running.next!))).toEqual(['c', 'd']);
    await sleepUntil(freezeAt + 50);
    // While the frozen standings are being written, no reader can be told what it will see.
    await expect.poll(async () => (await anyone.get(running.next!)).status).toBe(410);
    expectProblem(await anyone.get(running.next!), 'CURSOR_EXPIRED');
    await expect.poll(async () => (await anyone.get(open)).status).toBe(200);
    await submit('cup', [{ playerId: 'd', score: 100 }]);
    const frozen = await read(open);
    expect(frozen).toMatchObject({ cursorExpiresAt: null, total: 4 });
    const last = await read(frozen.next!);
    expect(idsOf(last)).toEqual(['c', 'd']);
    expect(last.next).toBeNull();
    expect(idsOf(await read(last.prev!.replace('limit=2', 'limit=1')))).toEqual(['b']);
    // The checkpoint of a moment ago is older than what was seen: a newer one is opened.
    const { boardVersion } = await read('/v1/boards/cup/entries?window=season:s1', admin);
    const ofAdmin = await read(`${open}&minVersion=${boardVersion}`, admin);
    expect(ofAdmin.boardVersion).toBeGreaterThanOrEqual(boardVersion);
    expect(idsOf(ofAdmin)).toEqual(['d', 'a']);
    expectProblem(await anyone.get(ofAdmin.next!), 'CURSOR_EXPIRED');
    expectProblem(await admin.get(frozen.next!), 'CURSOR_EXPIRED');
    await sleepUntil(endsAt + 50);
    expectProblem(await anyone.get(frozen.next!), 'CURSOR_EXPIRED');
    await expect.poll(async () => (await read(open)).cursorExpiresAt, { interval: 500 }).toBeNull();
    const final = await read(open);
    expect([...idsOf(final), ...idsOf(await read(final.next!))]).toEqual(['d', 'a', 'b', 'c']);
  });

  it('go on as it stood where a moment is asked for', async () => {
    await admin.makeBoard('past', { windows: ['daily'], graceSeconds: 0 });
    await submit('past', [
      { playerId: 'a', score: 9 },
      { playerId: 'b', score: 8 },
    ]);
    const closed = await admin.post('/v1/admin/boards/past/close-window', { window: 'daily' });
    expect(closed.status, closed.text).toBe(200);
    const { id } = (closed.body as { window: { id: string } }).window;
    const asOf = encodeURIComponent(new Date().toISOString());
    const first = await read(`/v1/boards/past/entries?window=${id}&asOf=${asOf}&cursor=start&limit=1`);
    expect(idsOf(first)).toEqual(['a']);
    expect(idsOf(await read(first.next!))).toEqual(['b']);
  });

  it('expire when Redis lost what they are of', async () => {
    const { next } = await read('/v1/boards/big/entries?cursor=start&limit=10');
    const redis = new RedisConnection({ url: requiredService('TEST_REDIS_URL') });
    await redis.connect();
    await redis.command('FLUSHALL');
    await redis.close();
    // Whether it is the list or the whole store that is gone shows when the ranks are back.
    expect([410, 503]).toContain((await anyone.get(next!)).status);
    await expect.poll(async () => (await anyone.get('/v1/boards/big/entries?offset=1500')).status).toBe(200);
    expectProblem(await anyone.get(next!), 'CURSOR_EXPIRED');
  });
});
