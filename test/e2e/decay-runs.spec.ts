// Real: the built service in one process, with its PostgreSQL and Redis; boards that tax runs of older patches and keep each run:
// what is voided, restored, held and verified on them.
import { startStandalone, type RunningStandalone } from '@laddercast/testing';
import type { Response } from 'supertest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ExportReader, parseCsv } from './exports.js';
import { expectProblem, playerToken, RestClient } from './rest-client.js';

const SEASON = { season: 's1', startsAt: '2020-01-01T00:00:00Z', endsAt: '2090-01-01T00:00:00Z' };
const FIRST = 'https://replays.example/first';
/** How soon an act shows; more than the second that is promised, for machines that do much else. */
const SOON = { timeout: 5000, interval: 50 };

interface Row {
  rank: number;
  playerId: string;
  score: number;
  rawScore: number;
  patch: string;
  patchesBehind: number;
  verified: boolean;
  proof: string | null;
  metadata: unknown;
}
interface Run {
  submissionId: string;
  score: number | null;
  state: string;
  patch: string | null;
  entryOf: string[];
}
interface Acted {
  outcome: string;
  windows: { window: string; before: { score: number } | null; after: { score: number } | null; revising: boolean }[];
}

describe('boards with decay that keep runs', () => {
  let service: RunningStandalone;
  let admin: RestClient;
  let moderator: RestClient;

  beforeAll(async () => {
    service = await startStandalone();
    admin = new RestClient(service.url, service.adminKey);
    moderator = admin.as(await admin.makeKey('moderate'));
    for (const [patch, month] of Object.entries({ '1.28': '02', '1.29': '03', '1.30': '04' }))
      await publish('eu4', patch, `2026-${month}-01T00:00:00.000Z`);
  });
  afterAll(() => service?.stop());

  const body = async <Body>(answer: Promise<Response>, status = 200): Promise<Body> => {
    const response = await answer;
    expect(response.status, response.text).toBe(status);
    return response.body as Body;
  };
  const publish = (family: string, patch: string, publishedAt?: string): Promise<unknown> =>
    body(admin.put(`/v1/patches/${patch}`, { family, ...(publishedAt && { publishedAt }) }), 201);
  const keeping = (id: string, more: object = {}): Promise<string> =>
    admin.makeBoard(id, {
      ...{ order: 'asc', operator: 'best', limits: { scoreMin: 0 }, decay: { family: 'eu4', perPatch: 0.1 } },
      ...{ runs: { keepDays: 30 }, proof: 'everyone', ...more },
    });
  const submit = (board: string, submissionId: string, playerId: string, score: number, patch: string, more = {}) =>
    body<Row & { outcome: string; previousScore: number | null; kept: boolean }>(
      admin.post(
        `/v1/boards/${board}/scores`,
        { submissionId, playerId, score, patch, ...more },
        { Prefer: 'wait=10' },
      ),
    );
  const act = (board: string, id: string, kind: 'verify' | 'void' | 'restore'): Promise<Acted> => {
    const path = `/v1/boards/${board}/submissions/${id}`;
    if (kind === 'void') return body(moderator.delete(`${path}?reason=cheated`));
    if (kind === 'restore') return body(moderator.post(`${path}/restore?reason=mistaken`));
    return body(moderator.put(`${path}/verification`, { verified: true, reason: 'watched' }));
  };
  const scores = ({ outcome, windows }: Acted): unknown[] => [
    outcome,
    ...windows.map(({ before, after }) => [before?.score ?? null, after?.score ?? null]),
  ];
  const rows = async (board: string, query = ''): Promise<Row[]> =>
    (await body<{ entries: Row[] }>(admin.get(`/v1/boards/${board}/entries?${query}`))).entries;
  const brief = async (board: string, query = ''): Promise<unknown[]> =>
    (await rows(board, query)).map(({ playerId, score, rawScore, patch, patchesBehind }) => [
      ...[playerId, score, rawScore, patch, patchesBehind],
    ]);
  const runsOf = async (board: string, client = moderator, path = 'runs'): Promise<Run[]> =>
    (await body<{ runs: Run[] }>(client.get(`/v1/boards/${board}/${path}`))).runs;

  it('let the next run stand under the tax when the standing one is voided, and have it back to the last bit', async () => {
    await keeping('void');
    await submit('void', 'first', 'ada', 100, '1.28', { metadata: { n: 1 }, proof: FIRST });
    await submit('void', 'worse', 'ada', 103, '1.28', { metadata: { n: 2 } });
    await submit('void', 'present', 'ada', 105, '1.30', { metadata: { n: 3 }, verified: true });
    await submit('void', 'bobs', 'bob', 110, '1.29');
    const everything = async (): Promise<unknown> => [
      await rows('void'),
      await rows('void', 'scope=patch:1.28'),
      await rows('void', 'scope=patch:1.30'),
      (await body<{ runs: unknown }>(admin.get('/v1/boards/void/players/ada?runs=1'))).runs,
    ];
    const before = await everything();
    expect(await brief('void')).toEqual([
      ['ada', 105, 105, '1.30', 0],
      ['bob', 121, 110, '1.29', 1],
    ]);

    expect(scores(await act('void', 'present', 'void'))).toEqual(['voided', [105, 120]]);
    await expect
      .poll(() => brief('void'), SOON)
      .toEqual([
        ['ada', 120, 100, '1.28', 2],
        ['bob', 121, 110, '1.29', 1],
      ]);
    await expect.poll(() => brief('void', 'scope=patch:1.30'), SOON).toEqual([]);
    expect(await brief('void', 'scope=patch:1.28')).toEqual([['ada', 100, 100, '1.28', 2]]);
    // One that did not stand in its own patch, either.
    expect(scores(await act('void', 'first', 'void'))).toEqual(['voided', [120, 123.6]]);
    await expect
      .poll(() => brief('void'), SOON)
      .toEqual([
        ['bob', 121, 110, '1.29', 1],
        ['ada', 123.6, 103, '1.28', 2],
      ]);
    expect(scores(await act('void', 'worse', 'void'))).toEqual(['voided', [123.6, null]]);
    await expect.poll(() => brief('void'), SOON).toEqual([['bob', 121, 110, '1.29', 1]]);
    await expect.poll(() => brief('void', 'scope=patch:1.28'), SOON).toEqual([]);

    for (const id of ['present', 'worse', 'first']) expect((await act('void', id, 'restore')).outcome).toBe('restored');
    await expect.poll(everything, SOON).toEqual(before);
    expect(scores(await act('void', 'first', 'restore'))).toEqual(['unchanged']);
    // What stands does not change, but what would come back does.
    expect(scores(await act('void', 'first', 'void'))).toEqual(['voided', [105, 105]]);
    const { runs } = await body<{ runs: Row[] }>(admin.get('/v1/boards/void/players/ada?runs=1'));
    expect(runs.map(({ score, rawScore }) => [score, rawScore])).toEqual([
      [105, 105],
      [123.6, 103],
    ]);
  });

  it('say wherever they are read whether the run that stands was looked at, and its proof', async () => {
    await keeping('looked', { submitters: 'players' });
    const ada = admin.as(await playerToken(service.jwtSecret, 'ada'));
    const own = (submissionId: string, score: number, patch: string, more = {}) =>
      body(
        ada.post(
          '/v1/boards/looked/scores',
          { submissionId, playerId: 'ada', score, patch, ...more },
          { Prefer: 'wait=10' },
        ),
      );
    await own('a1', 100, '1.28', { proof: FIRST });
    await own('a2', 105, '1.30');
    const actOn = (id: string, kind: 'verify' | 'void') => {
      const path = `/v1/boards/looked/submissions/${id}`;
      return kind === 'void'
        ? body(moderator.delete(`${path}?reason=cheated&player=ada`))
        : body(moderator.put(`${path}/verification?player=ada`, { verified: true, reason: 'watched' }));
    };
    const exports = new ExportReader(service.url);
    const everywhere = async (): Promise<unknown[]> => {
      const player = await body<{ entry: Row; neighbours: Row[] }>(admin.get('/v1/boards/looked/players/ada'));
      const lookup = await body<{ entries: Row[] }>(
        admin.post('/v1/boards/looked/lookups', { playerIds: ['ada'] }, {}),
      );
      const { standings } = await body<{ standings: (Row & { board: string })[] }>(
        admin.get('/v1/players/ada/standings'),
      );
      const [header, record] = parseCsv((await exports.text('looked', '')).text);
      const all = [...(await rows('looked')), player.entry, ...player.neighbours, ...lookup.entries];
      all.push(...standings.filter(({ board }) => board === 'looked'));
      const shown = all.map(({ score, verified, proof }) => [score, verified, proof]);
      const inFile = ['score', 'verified', 'proof'].map((name) => record![header!.indexOf(name)]);
      return [...new Set([...shown, inFile].map((one) => one.map((value) => value ?? '').join(' ')))];
    };
    await expect.poll(everywhere, SOON).toEqual(['105 false ']);
    await actOn('a2', 'verify');
    await expect.poll(everywhere, SOON).toEqual(['105 true ']);
    await actOn('a2', 'void');
    await expect.poll(everywhere, SOON).toEqual([`120 false ${FIRST}`]);
    await actOn('a1', 'verify');
    await expect.poll(everywhere, SOON).toEqual([`120 true ${FIRST}`]);
    const listed = (await runsOf('looked')).map(({ submissionId, patch, state, entryOf, score }) => [
      ...[submissionId, patch, state, entryOf, score],
    ]);
    expect(listed).toEqual([
      ['a2', '1.30', 'voided', [], 105],
      ['a1', '1.28', 'counted', ['alltime'], 100],
    ]);
    expect((await runsOf('looked', ada, 'players/ada/runs')).map(({ patch }) => patch)).toEqual(['1.30', '1.28']);
  });

  it('rest on the first of two runs that are equal in all that ranks, and on the other once that is voided', async () => {
    await keeping('equal');
    const achievedAt = '2026-11-01T00:00:00.000Z';
    await submit('equal', 'one', 'ada', 90, '1.30', { achievedAt });
    await submit('equal', 'two', 'ada', 90, '1.30', { achievedAt, proof: FIRST, verified: true });
    const shown = async (): Promise<unknown[]> => {
      const standing = (await runsOf('equal')).filter(({ entryOf }) => entryOf.length > 0);
      const seen = (await rows('equal')).map(({ score, verified, proof }) => [score, verified, proof]);
      return [...standing.map(({ submissionId }) => submissionId), ...seen];
    };
    await expect.poll(shown, SOON).toEqual(['one', [90, false, null]]);
    expect(scores(await act('equal', 'one', 'void'))).toEqual(['voided', [90, 90]]);
    await expect.poll(shown, SOON).toEqual(['two', [90, true, FIRST]]);
    await act('equal', 'one', 'restore');
    await expect.poll(shown, SOON).toEqual(['one', [90, false, null]]);
  });

  it('have a shadowed player find in its own export what is known of the run that stands', async () => {
    await keeping('shadowed');
    await submit('shadowed', 's1', 'cy', 100, '1.28', { metadata: { n: 1 }, proof: FIRST, verified: true });
    await submit('shadowed', 's2', 'cy', 121, '1.30', { metadata: { n: 2 } });
    const shadow = { kind: 'shadow', reason: 'a test', boards: ['shadowed'] };
    await body(moderator.put('/v1/admin/players/cy/sanction', shadow));
    await expect.poll(() => rows('shadowed'), SOON).toEqual([]);
    const token = await playerToken(service.jwtSecret, 'cy');
    const own = await new ExportReader(service.url).rows('shadowed', '?window=alltime', token);
    expect(own).toMatchObject([
      { playerId: 'cy', score: 120, rawScore: 100, patch: '1.28', metadata: { n: 1 }, verified: true, proof: FIRST },
    ]);
    const ofPatch = await new ExportReader(service.url).rows('shadowed', '?window=alltime&scope=patch:1.30', token);
    expect(ofPatch).toMatchObject([
      {
        playerId: 'cy',
        score: 121,
        rawScore: 121,
        patch: '1.30',
        patchesBehind: 0,
        metadata: { n: 2 },
        verified: false,
      },
    ]);
    // The entry was written when the other run stood, of which nothing may be told here.
    await act('shadowed', 's1', 'void');
    const after = await new ExportReader(service.url).rows('shadowed', '?window=alltime', token);
    expect(after).toMatchObject([{ score: 121, metadata: { n: 2 }, verified: false, proof: null }]);
  });

  it('hold runs by their raw score, answer what they would be worth, and count them once they are accepted', async () => {
    await publish('held', '1', '2026-01-01T00:00:00.000Z');
    await publish('held', '2', '2026-02-01T00:00:00.000Z');
    const decay = { family: 'held', perPatch: 0.1 };
    await keeping('held', { decay, integrity: { holdAbove: 50 } });
    // 44 is worth 48.4, and 46 is worth 50.6: both are better than 50 as they are.
    const held = await submit('held', 'h1', 'ada', 46, '1');
    expect(held).toMatchObject({ outcome: 'held', score: 50.6, rawScore: 46, patch: '1', patchesBehind: 1 });
    expect(held).toMatchObject({ kept: false, previousScore: null, rank: null });
    expectProblem(await admin.delete('/v1/patches/1?family=held'), 'PATCH_IN_USE');
    expect(await submit('held', 'h2', 'ada', 60, '2')).toMatchObject({ outcome: 'created', score: 60, kept: true });
    expect(await submit('held', 'h3', 'ada', 49, '2')).toMatchObject({ outcome: 'held', previousScore: 60, score: 49 });
    expect(await brief('held')).toEqual([['ada', 60, 60, '2', 0]]);
    expect(scores(await act('held', 'h1', 'verify'))).toEqual(['verified', [60, 50.6]]);
    await expect.poll(() => brief('held'), SOON).toEqual([['ada', 50.6, 46, '1', 1]]);
    expect(await rows('held')).toMatchObject([{ verified: true }]);
    const flags = async () =>
      (await body<{ flags: { flagId: string }[] }>(moderator.get('/v1/admin/flags?board=held&state=open'))).flags;
    await expect.poll(async () => (await flags()).length, SOON).toBe(1);
    const [flag] = await flags();
    await body(moderator.post(`/v1/admin/flags/${flag!.flagId}`, { decision: 'accept', reason: 'a good run' }));
    await expect.poll(() => brief('held'), SOON).toEqual([['ada', 49, 49, '2', 0]]);

    await keeping('verified', { decay, counts: 'verified' });
    expect(await submit('verified', 'v1', 'ada', 10, '1')).toMatchObject({ outcome: 'held', score: 11, kept: false });
    expect((await rows('verified')).length).toBe(0);
    expect(scores(await act('verified', 'v1', 'verify'))).toEqual(['verified', [null, 11]]);
    await expect.poll(() => brief('verified', 'scope=patch:1'), SOON).toEqual([['ada', 10, 10, '1', 1]]);
  });

  it('revise the standings of a window that ended, under the tax of its end', { timeout: 120_000 }, async () => {
    for (const [patch, day] of [
      ['1', '01'],
      ['2', '02'],
    ] as const)
      await publish('ended', patch, `2026-01-${day}T00:00:00.000Z`);
    await keeping('ended', { decay: { family: 'ended', perPatch: 0.1 }, windows: [SEASON] });
    await submit('ended', 'e1', 'ada', 100, '1');
    await submit('ended', 'e2', 'ada', 105, '2');
    await submit('ended', 'e3', 'bob', 108, '2');
    await body(admin.post('/v1/admin/boards/ended/close-window', { window: 'season:s1' }));
    await publish('ended', '3');
    const of = 'window=season:s1';
    const shown = async (): Promise<{ edition: number; revising?: boolean }> =>
      (await body<{ window: { edition: number } }>(admin.get(`/v1/boards/ended/entries?${of}`))).window;
    const edition = async (): Promise<number> => (await shown()).edition;
    const first = [
      ['ada', 105, 105, '2', 0],
      ['bob', 108, 108, '2', 0],
    ];
    expect([await edition(), await brief('ended', of)]).toEqual([1, first]);
    const voided = await act('ended', 'e2', 'void');
    expect(voided.windows).toMatchObject([{ before: { score: 105 }, after: { score: 110 }, revising: true }]);
    expect(await shown()).toSatisfy(({ edition: number, revising = false }) => revising || number === 2);
    await expect.poll(edition, { timeout: 60_000, interval: 200 }).toBe(2);
    expect(await brief('ended', of)).toEqual([
      ['bob', 108, 108, '2', 0],
      ['ada', 110, 100, '1', 1],
    ]);
    // Which runs there were beside the standing one is not kept of an edition before the last.
    const before = await admin.get(`/v1/boards/ended/players/ada?${of}&edition=1&runs=1`);
    expect(expectProblem(before, 'NOT_SUPPORTED')).toMatchObject({ option: 'runs' });
    // What no standings show is no reason to write them again.
    expect((await act('ended', 'e1', 'verify')).windows).toMatchObject([{ revising: false }]);
    await act('ended', 'e2', 'restore');
    await expect.poll(edition, { timeout: 60_000, interval: 200 }).toBe(3);
    expect(await brief('ended', of)).toEqual(first);
    const spare = await act('ended', 'e1', 'void');
    expect(spare.windows).toMatchObject([{ before: { score: 105 }, after: { score: 105 }, revising: false }]);
  });

  it('begin to keep runs where entries are, and end it, without another entry', async () => {
    const definition = { limits: { scoreMin: 0 }, decay: { family: 'eu4', perPatch: 0.1 } };
    const put = (more: object) =>
      body(admin.put('/v1/boards/late', { order: 'asc', operator: 'best', ...definition, ...more }));
    await keeping('late', { runs: null, proof: 'moderators' });
    await submit('late', 'l1', 'ada', 100, '1.28');
    await submit('late', 'l2', 'ada', 105, '1.30');
    await put({ runs: { keepDays: 7 } });
    await submit('late', 'l3', 'ada', 90, '1.29');
    expect(scores(await act('late', 'l3', 'void'))).toEqual(['voided', [99, 105]]);
    expectProblem(await moderator.delete('/v1/boards/late/submissions/l2?reason=late'), 'RUN_GONE');
    await act('late', 'l3', 'restore');
    await put({ runs: null });
    await expect.poll(() => brief('late'), SOON).toEqual([['ada', 99, 90, '1.29', 1]]);
    expectProblem(await moderator.delete('/v1/boards/late/submissions/l3?reason=late'), 'RUNS_NOT_KEPT');
    await put({ runs: { keepDays: 7 } });
    await submit('late', 'l4', 'ada', 95, '1.30');
    expect(scores(await act('late', 'l4', 'void'))).toEqual(['voided', [95, 99]]);
    await expect.poll(() => rows('late'), SOON).toMatchObject([{ score: 99, patch: '1.29', verified: false }]);
    const { runs } = await body<{ runs: Row[] }>(admin.get('/v1/boards/late/players/ada?runs=1'));
    expect(runs.map(({ rawScore }) => rawScore)).toEqual([90, 105]);
  });

  it('refuse an entry for each run', async () => {
    const given = { order: 'asc', operator: 'best', limits: { scoreMin: 0 }, decay: { family: 'eu4', perPatch: 0.1 } };
    const asked = { ...given, runs: { keepDays: 7 }, entriesPer: 'run' };
    const refused = await admin.put('/v1/boards/each', asked);
    expectProblem(refused, 'NOT_SUPPORTED');
    expect(refused.body).toMatchObject({ option: 'entriesPer' });
  });
});
