// Real: the built service in one process, PostgreSQL, Redis, HTTP, and a WebSocket client that knows only the contract's rule;
// boards that tax runs of older patches.
import { startStandalone, type RunningStandalone } from '@laddercast/testing';
import { setTimeout } from 'node:timers/promises';
import type { Response } from 'supertest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LiveClient } from '../../libs/realtime/test/follower.js';
import { assertMatchesAsyncApi } from '../../libs/realtime/test/frame-schemas.js';
import { expectProblem, playerToken, RestClient } from './rest-client.js';

const WAIT = { Prefer: 'wait=10' };
const DECAY = {
  order: 'asc',
  operator: 'best',
  limits: { scoreMin: 0 },
  decay: { family: 'eu4', perPatch: 0.1 },
  push: { intervalMs: 100 },
};

interface Row {
  rank: number;
  playerId: string;
  score: number;
  rawScore: number;
  patch: string;
  patchesBehind: number;
}
interface Tax {
  latest: string;
  since: string;
  perPatch: number;
  retaxing: { to: string; done: number } | null;
}
interface Page {
  scope: string;
  total: number;
  entries: Row[];
  decay: Tax;
}
interface Submitted extends Row {
  outcome: string;
  previousScore: number | null;
  kept: boolean;
  rank: never;
}

describe('boards with decay', () => {
  let service: RunningStandalone;
  let admin: RestClient;
  let client: LiveClient;

  beforeAll(async () => {
    service = await startStandalone();
    admin = new RestClient(service.url, service.adminKey);
    for (const [patch, publishedAt] of Object.entries({
      '1.9': '2026-01-01',
      '1.28': '2026-02-01',
      '1.29': '2026-03-01',
    }))
      await publish(patch, `${publishedAt}T00:00:00.000Z`);
    await publish('1.30', '2026-04-01T00:00:00.000Z');
    const options = { headers: { authorization: `Bearer ${service.adminKey}` } };
    client = await LiveClient.connect(`${service.url.replace('http', 'ws')}/v1/live`, ['ladder.v1'], options);
  });
  afterAll(async () => {
    client?.socket.terminate();
    for (const frame of client?.frames ?? []) assertMatchesAsyncApi(frame);
    await service?.stop();
  });

  const body = async <Body>(answer: Promise<Response>, status = 200): Promise<Body> => {
    const response = await answer;
    expect(response.status, response.text).toBe(status);
    return response.body as Body;
  };
  const publish = (patch: string, publishedAt?: string, rest: object = {}, family = 'eu4'): Promise<unknown> =>
    body(admin.put(`/v1/patches/${patch}`, { family, ...(publishedAt && { publishedAt }), ...rest }), 201);
  const submit = (board: string, playerId: string, score: number, patch: string, rest: object = {}) =>
    body<Submitted>(admin.post(`/v1/boards/${board}/scores`, { playerId, score, patch, ...rest }, WAIT));
  const page = (board: string, query = ''): Promise<Page> => body(admin.get(`/v1/boards/${board}/entries?${query}`));
  const brief = ({ entries }: Page): unknown[] =>
    entries.map(({ rank, playerId, score, rawScore, patch, patchesBehind }) => [
      ...[rank, playerId, score, rawScore, patch, patchesBehind],
    ]);
  const taxed = async (board: string, latest: string): Promise<Page> => {
    await expect.poll(async () => (await page(board)).decay.latest, { timeout: 20_000 }).toBe(latest);
    return page(board);
  };

  it('shows the worked numbers of the contract, raw and taxed, and each patch by itself', async () => {
    const board = await admin.makeBoard('worked', DECAY);
    expect(await submit(board, 'old', 109, '1.28')).toMatchObject({
      ...{ outcome: 'created', score: 130.8, rawScore: 109, patch: '1.28', patchesBehind: 2 },
      ...{ previousScore: null, kept: true },
    });
    expect(await submit(board, 'mid', 109, '1.29')).toMatchObject({ score: 119.9, patchesBehind: 1 });
    expect(await submit(board, 'new', 109, '1.30')).toMatchObject({ score: 109, patchesBehind: 0 });
    expect(await submit(board, 'long', 137_384, '1.28')).toMatchObject({ score: 164_860.8 });
    expect(await submit(board, 'sum', 0.1 + 0.2, '1.30')).toMatchObject({ score: 0.30000000000000004 });
    expect(await submit(board, 'ten', 100, '1.9')).toMatchObject({ score: 130, patchesBehind: 3 });
    const all = await page(board);
    expect(brief(all)).toEqual([
      [1, 'sum', 0.30000000000000004, 0.30000000000000004, '1.30', 0],
      [2, 'new', 109, 109, '1.30', 0],
      [3, 'mid', 119.9, 109, '1.29', 1],
      [4, 'ten', 130, 100, '1.9', 3],
      [5, 'old', 130.8, 109, '1.28', 2],
      [6, 'long', 164_860.8, 137_384, '1.28', 2],
    ]);
    expect(all.decay).toMatchObject({ latest: '1.30', perPatch: 0.1, retaxing: null });
    const ofPatch = await page(board, 'scope=patch:1.28');
    expect(ofPatch.scope).toBe('patch:1.28');
    expect(brief(ofPatch)).toEqual([
      [1, 'old', 109, 109, '1.28', 2],
      [2, 'long', 137_384, 137_384, '1.28', 2],
    ]);
    const rank = (query: string) => body<{ rank: number }>(admin.get(`/v1/boards/${board}/rank?${query}`));
    expect(await rank('score=109&patch=1.28')).toMatchObject({ rank: 6 });
    expect(await rank('score=108&patch=1.28')).toMatchObject({ rank: 4 });
    expect(await rank('score=108&patch=1.28&scope=patch:1.28')).toMatchObject({ rank: 1 });
  });

  it('keeps the run of another patch, says so, and lists what can stand again', async () => {
    const board = await admin.makeBoard('runs', DECAY);
    await submit(board, 'ada', 100, '1.9', { metadata: { video: 'first' } });
    const better = await submit(board, 'ada', 105, '1.30', { metadata: { video: 'second' } });
    expect(better).toMatchObject({ outcome: 'improved', score: 105, previousScore: 130, kept: true });
    const unseen = await submit(board, 'ada', 103, '1.28');
    expect(unseen).toMatchObject({ outcome: 'unchanged', score: 105, rawScore: 105, patch: '1.30', kept: true });
    expect(await submit(board, 'ada', 104, '1.28')).toMatchObject({ outcome: 'unchanged', kept: false });
    const player = await body<{ entry: Row & { metadata: unknown }; runs: (Row & { metadata: unknown })[] }>(
      admin.get(`/v1/boards/${board}/players/ada?runs=1`),
    );
    expect(player.entry).toMatchObject({ score: 105, patch: '1.30', metadata: { video: 'second' } });
    expect(player.runs.map(({ score, rawScore, patch }) => [score, rawScore, patch])).toEqual([
      [105, 105, '1.30'],
      [123.6, 103, '1.28'],
      [130, 100, '1.9'],
    ]);
    expect(player.runs[2]!.metadata).toEqual({ video: 'first' });
  });

  it('re-ranks when a patch is published, whole, and never stops to take runs and to answer', async () => {
    await publish('a', '2026-01-01T00:00:00.000Z', {}, 'hoi4');
    const board = await admin.makeBoard('retax', { ...DECAY, decay: { family: 'hoi4', perPatch: 0.1 } });
    await submit(board, 'ada', 100, 'a');
    await submit(board, 'bob', 105, 'a');
    await expect
      .poll(async () => (await client.ask({ type: 'subscribe', id: 'top', board, channel: 'top' })).type)
      .toBe('snapshot');
    // A page that is read again and again is kept until the next tick; what it says of the tax is not.
    for (let read = 0; read < 10; read += 1) {
      expect((await page(board)).decay.retaxing).toBeNull();
      await setTimeout(250);
    }
    const heardBefore = client.frames.length;
    await publish('b', '2026-02-01T00:00:00.000Z', {}, 'hoi4');
    const promised = await page(board);
    if (promised.decay.latest === 'a') expect(promised.decay.retaxing).toMatchObject({ to: 'b' });
    expect(await submit(board, 'cat', 109, 'b')).toMatchObject({ score: 109, patchesBehind: 0 });
    expect(brief(await taxed(board, 'b'))).toEqual([
      [1, 'cat', 109, 109, 'b', 0],
      [2, 'ada', 110, 100, 'a', 1],
      [3, 'bob', 115.5, 105, 'a', 1],
    ]);
    const rows = () => [...client.list('top').rows.values()] as unknown as Row[];
    await expect
      .poll(() => rows().map(({ playerId, score }) => [playerId, score]))
      .toEqual([
        ['cat', 109],
        ['ada', 110],
        ['bob', 115.5],
      ]);
    // One snapshot, and not a delta that moves everybody.
    const heard = client.frames.slice(heardBefore).filter(({ id }) => id === 'top') as {
      type: string;
      changes?: Row[];
    }[];
    expect(heard.filter(({ type }) => type === 'snapshot')).toHaveLength(1);
    expect(heard.flatMap(({ changes = [] }) => changes).filter(({ score }) => score > 109)).toEqual([]);
    expect(await submit(board, 'ada', 101, 'b')).toMatchObject({ outcome: 'improved', previousScore: 110, score: 101 });
  });

  it('goes on under the tax of its beginning for who reads on by a cursor, also in its own world', async () => {
    await publish('a', '2026-01-01T00:00:00.000Z', {}, 'vic3');
    const board = await admin.makeBoard('cursor', { ...DECAY, decay: { family: 'vic3', perPatch: 0.1 } });
    for (const [player, score] of Object.entries({ ada: 100, bob: 105, cy: 107, dan: 109, eve: 120 }))
      await submit(board, player, score, 'a');
    const eve = admin.as(await playerToken(service.jwtSecret, 'eve'));
    await body(admin.put('/v1/admin/players/eve/sanction', { kind: 'shadow', reason: 'a test' }));
    type Cursored = Page & { next: string | null };
    const begin = (client: RestClient): Promise<Cursored> =>
      body(client.get(`/v1/boards/${board}/entries?cursor=start&limit=2`));
    await expect.poll(async () => (await begin(admin)).total, { timeout: 20_000 }).toBe(4);
    const [mine, theirs] = [await begin(eve), await begin(admin)];
    expect([mine.total, theirs.total]).toEqual([5, 4]);
    await publish('b', '2026-02-01T00:00:00.000Z', {}, 'vic3');
    await submit(board, 'fay', 90, 'b');
    await taxed(board, 'b');
    const on = async (from: Cursored, client: RestClient): Promise<Cursored> => body(client.get(from.next!));
    const second = await on(theirs, admin);
    expect(brief(second)).toEqual([
      [3, 'cy', 107, 107, 'a', 0],
      [4, 'dan', 109, 109, 'a', 0],
    ]);
    expect(second.decay).toMatchObject({ latest: 'a', retaxing: { to: 'b', done: 1 } });
    const mineOn = await on(mine, eve);
    expect(brief(mineOn)).toEqual(brief(second));
    expect(brief(await on(mineOn, eve))).toEqual([[5, 'eve', 120, 120, 'a', 0]]);
    expect(brief(await page(board)).at(-1)).toEqual([5, 'dan', 119.9, 109, 'a', 1]);
    await body(admin.delete('/v1/admin/players/eve/sanction?reason=over'));
  });

  it('counts a hotfix as its predecessor, and a patch between two others as what it is', async () => {
    await publish('1', '2026-01-01T00:00:00.000Z', {}, 'ck3');
    await publish('3', '2026-03-01T00:00:00.000Z', {}, 'ck3');
    const board = await admin.makeBoard('hotfix', { ...DECAY, decay: { family: 'ck3', perPatch: 0.1 } });
    await submit(board, 'ada', 100, '1');
    await publish('1.1', '2026-01-05T00:00:00.000Z', { sameAs: '1' }, 'ck3');
    expect(await submit(board, 'bob', 100, '1.1')).toMatchObject({ score: 110, patch: '1', patchesBehind: 1 });
    expect(await page(board, 'scope=patch:1.1')).toMatchObject({ scope: 'patch:1', total: 2 });
    expect((await page(board)).decay.latest).toBe('3');
    await publish('2', '2026-02-01T00:00:00.000Z', {}, 'ck3');
    await expect.poll(async () => (await page(board)).entries[0]!.patchesBehind, { timeout: 20_000 }).toBe(2);
    expect((await page(board)).entries.map(({ score }) => score)).toEqual([120, 120]);
    expectProblem(await admin.delete('/v1/patches/1?family=ck3'), 'PATCH_IN_USE');
  });

  it('has final standings under the tax of the end of their window, also where a patch came in its grace', async () => {
    const family = 'grace';
    await publish('1', '2026-01-01T00:00:00.000Z', {}, family);
    await publish('2', '2026-02-01T00:00:00.000Z', {}, family);
    const endsAt = new Date(Date.now() + 3000);
    const season = { season: 'short', startsAt: '2020-01-01T00:00:00Z', endsAt: endsAt.toISOString() };
    const given = {
      ...DECAY,
      decay: { family, perPatch: 0.1 },
      windows: [season],
      graceSeconds: 3,
      keepEndedSeconds: 3,
    };
    const board = await admin.makeBoard('short', given);
    await submit(board, 'ada', 100, '1');
    await submit(board, 'bob', 105, '2');
    await setTimeout(endsAt.getTime() - Date.now() + 300);
    await publish('3', undefined, {}, family);
    const of = 'window=season:short';
    const edition = async () => {
      const { body: answer } = await admin.get(`/v1/boards/${board}/entries?${of}`);
      return (answer as { window?: { edition?: number } }).window?.edition;
    };
    await expect.poll(edition, { timeout: 30_000, interval: 200 }).toBe(1);
    const final = await page(board, of);
    expect(final.decay.latest).toBe('2');
    expect(brief(final)).toEqual([
      [1, 'bob', 105, 105, '2', 0],
      [2, 'ada', 110, 100, '1', 1],
    ]);
  });

  it('lists of a frozen window the runs that were there at its freeze', async () => {
    const freezeAt = new Date(Date.now() + 4000);
    const season = { season: 'cold', startsAt: '2020-01-01T00:00:00Z', endsAt: '2090-01-01T00:00:00Z' };
    const board = await admin.makeBoard('cold', {
      ...DECAY,
      windows: ['alltime', { ...season, freezeAt: freezeAt.toISOString() }],
    });
    await submit(board, 'ada', 100, '1.28', { metadata: { n: 1 } });
    expect(Date.now()).toBeLessThan(freezeAt.getTime());
    await setTimeout(freezeAt.getTime() - Date.now() + 100);
    await submit(board, 'ada', 90, '1.30', { metadata: { n: 2 } });
    const anyone = new RestClient(service.url);
    const runsIn = async (window: string): Promise<unknown> => {
      const { body: answer } = await anyone.get(`/v1/boards/${board}/players/ada?runs=1&window=${window}`);
      return (answer as { runs?: { rawScore: number }[] }).runs?.map(({ rawScore }) => rawScore);
    };
    await expect.poll(() => runsIn('season:cold'), { timeout: 20_000 }).toEqual([100]);
    expect(await runsIn('alltime')).toEqual([90]);
  });

  it('tells the rank of a run that the board would take, and that of any taxed score', async () => {
    const limits = { scoreMin: 10, scoreMax: 200, columns: { moves: { min: 1, max: 9 } } };
    const board = await admin.makeBoard('bounded', { ...DECAY, limits, columns: [{ name: 'moves', order: 'asc' }] });
    await submit(board, 'ada', 200, '1.9', { columns: { moves: 3 } });
    const path = `/v1/boards/${board}/rank`;
    for (const score of ['-5', '9.999', '200.001', '1e301'])
      expectProblem(await admin.get(`${path}?score=${score}&patch=1.9`), 'SCORE_OUT_OF_BOUNDS');
    expectProblem(await admin.get(`${path}?score=200&patch=1.9&columns.moves=0`), 'COLUMN_OUT_OF_BOUNDS');
    const rank = async (query: string) => (await body<{ rank: number }>(admin.get(`${path}?${query}`))).rank;
    expect(await rank('score=200&patch=1.9&columns.moves=9')).toBe(2);
    expect(await rank('score=200&patch=1.9')).toBe(2);
    expect(await rank('score=200&patch=1.28')).toBe(1);
    // The entry has 260, which no run may have.
    expect(await rank('score=260&columns.moves=3')).toBe(2);
    expect(await rank('score=259')).toBe(1);
    expect(await rank('score=-5')).toBe(1);
  });

  it('refuses what cannot be taxed, and stores nothing of it', async () => {
    const put = (rest: object) => admin.put('/v1/boards/refused', { ...DECAY, ...rest });
    expectProblem(await put({ operator: 'sum' }), 'NOT_SUPPORTED');
    expectProblem(await put({ operator: 'latest' }), 'NOT_SUPPORTED');
    expectProblem(await put({ limits: {} }), 'DECAY_NEEDS_POSITIVE_SCORES');
    expectProblem(await put({ limits: { scoreMin: -1 } }), 'DECAY_NEEDS_POSITIVE_SCORES');
    expectProblem(await put({ windows: [{ rolling: '24h' }] }), 'NOT_SUPPORTED');
    expectProblem(await put({ scopes: ['global', 'guild'] }), 'NOT_SUPPORTED');
    for (const perPatch of [0, -0.1, 1.01, 0.00001]) {
      expectProblem(await put({ decay: { family: 'eu4', perPatch } }), 'VALIDATION_FAILED');
    }
    const board = await admin.makeBoard('strict', DECAY);
    const submission = (rest: object) =>
      admin.post(`/v1/boards/${board}/scores`, { playerId: 'ada', score: 5, ...rest });
    expectProblem(await submission({}), 'VALIDATION_FAILED');
    expectProblem(await submission({ patch: '9.99' }), 'PATCH_UNKNOWN');
    expectProblem(await submission({ patch: '1.30', score: -1 }), 'SCORE_OUT_OF_BOUNDS');
    expectProblem(await submission({ patch: '1.30', score: 1.1e300 }), 'SCORE_OUT_OF_BOUNDS');
    expectProblem(await admin.get(`/v1/boards/${board}/entries?scope=patch:9.99`), 'PATCH_UNKNOWN', 404);
    expectProblem(await admin.get(`/v1/boards/${board}/rank?score=5&patch=9.99`), 'PATCH_UNKNOWN', 404);
    const plain = await admin.makeBoard('plain', {});
    expectProblem(
      await admin.post(`/v1/boards/${plain}/scores`, { playerId: 'ada', score: 5, patch: '1.30' }),
      'NOT_SUPPORTED',
    );
    expect((await page(board)).total).toBe(0);
    expect((await page(board, 'scope=patch:1.30')).total).toBe(0);
    const change = { ...DECAY, decay: { family: 'eu4', perPatch: 0.2 } };
    await submit(board, 'ada', 0, '1.9');
    expect(brief(await page(board))).toEqual([[1, 'ada', 0, 0, '1.9', 3]]);
    expectProblem(await admin.put(`/v1/boards/${board}`, change), 'BOARD_NOT_EMPTY');
  });
});
