// Real: the built service in one process, PostgreSQL, Redis, HTTP, and WebSocket clients that know only the contract's rule;
// boards where each run is an entry.
import { startStandalone, type RunningStandalone } from '@laddercast/testing';
import type { Response } from 'supertest';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { LiveClient } from '../../libs/realtime/test/follower.js';
import { assertMatchesAsyncApi } from '../../libs/realtime/test/frame-schemas.js';
import { expectProblem, playerToken, RestClient } from './rest-client.js';

const WAIT = { Prefer: 'wait=10' };
const WHY = 'reason=a%20test';
const PER_RUN = { runs: { keepDays: 30 }, entriesPer: 'run', entriesPerPlayerMax: 2, push: { intervalMs: 100 } };

interface Row {
  rank: number;
  playerId: string;
  entryId: string;
  score: number;
}
interface Submitted {
  outcome: string;
  entryId: string;
  displaced?: string;
  score: number;
  previousScore: number | null;
  replayed: boolean;
  rank: { before: number | null; after: number; total: number; accuracy: string } | null;
}

describe('entries of runs', () => {
  let service: RunningStandalone;
  let admin: RestClient;
  let moderator: RestClient;
  let clients: LiveClient[] = [];

  beforeAll(async () => {
    service = await startStandalone();
    admin = new RestClient(service.url, service.adminKey);
    moderator = admin.as(await admin.makeKey('moderate'));
  });
  afterEach(() => {
    for (const client of clients) client.socket.terminate();
    for (const frame of clients.flatMap(({ frames }) => frames)) assertMatchesAsyncApi(frame);
    clients = [];
  });
  afterAll(() => service?.stop());

  const submit = async (board: string, submissionId: string, playerId: string, score: number): Promise<Submitted> => {
    const response = await admin.post(`/v1/boards/${board}/scores`, { submissionId, playerId, score }, WAIT);
    expect(response.status, response.text).toBe(200);
    return response.body as Submitted;
  };
  const body = async <Body>(answer: Promise<Response>): Promise<Body> => {
    const response = await answer;
    expect(response.status, response.text).toBe(200);
    return response.body as Body;
  };
  const brief = (rows: readonly Row[]): unknown[] =>
    rows.map(({ rank, playerId, entryId, score }) => [rank, playerId, entryId, score]);
  const page = (board: string, query = ''): Promise<{ entries: Row[]; total: number; next: string | null }> =>
    body(admin.get(`/v1/boards/${board}/entries?${query}`));
  const expectPage = (board: string, rows: unknown[], query = ''): Promise<void> =>
    expect.poll(async () => brief((await page(board, query)).entries)).toEqual(rows);
  const connect = async (token = service.adminKey): Promise<LiveClient> => {
    const options = { headers: { authorization: `Bearer ${token}` } };
    const client = await LiveClient.connect(`${service.url.replace('http', 'ws')}/v1/live`, ['ladder.v1'], options);
    clients.push(client);
    return client;
  };
  const rowsOf = (client: LiveClient, id: string): unknown[] =>
    ([...client.list(id).rows.values()] as unknown as Row[])
      .sort((a, b) => a.rank - b.rank)
      .map(({ rank, playerId, entryId }) => [rank, playerId, entryId]);

  it('stand as the best of each player: submissions, pages, look-ups and live frames tell them apart', async () => {
    const board = await admin.makeBoard('per-run', PER_RUN);
    const client = await connect();
    await expect
      .poll(async () => (await client.ask({ type: 'subscribe', id: 'top', board, channel: 'top' })).type)
      .toBe('snapshot');

    expect(await submit(board, 'a1', 'ada', 10)).toMatchObject({
      outcome: 'created',
      entryId: 'a1',
      previousScore: null,
    });
    // A tick sees it before it is pushed out.
    await expect.poll(() => rowsOf(client, 'top')).toEqual([[1, 'ada', 'a1']]);
    const second = await submit(board, 'a2', 'ada', 30);
    expect(second).toMatchObject({ outcome: 'created', rank: { before: null, after: 1, total: 2 } });
    expect(second).not.toHaveProperty('displaced');
    await submit(board, 'b1', 'bob', 20);
    expect(await submit(board, 'a3', 'ada', 25)).toMatchObject({
      ...{ outcome: 'created', entryId: 'a3', displaced: 'a1', score: 25, previousScore: null },
      rank: { before: null, after: 2, total: 3, accuracy: 'exact' },
    });
    const unchanged = await submit(board, 'a4', 'ada', 5);
    expect(unchanged).toMatchObject({ outcome: 'unchanged', entryId: 'a2', score: 30, previousScore: 30 });
    expect(unchanged.rank).toMatchObject({ before: 1, after: 1, total: 3 });
    expect(await submit(board, 'a3', 'ada', 25)).toMatchObject({ replayed: true, displaced: 'a1', rank: { after: 2 } });

    const all = [
      [1, 'ada', 'a2', 30],
      [2, 'ada', 'a3', 25],
      [3, 'bob', 'b1', 20],
    ];
    await expectPage(board, all);
    expect(await page(board)).toMatchObject({ total: 3 });
    await expect.poll(() => page(board)).toMatchObject({ total: 3, players: 2 });
    for (const path of ['players/ada', 'rank?score=26', 'entries?cursor=start&limit=1', 'percentiles?at=50'])
      expect(await body(admin.get(`/v1/boards/${board}/${path}`)), path).toMatchObject({ total: 3, players: 2 });
    const ofAda = await body<{ entry: Row; entries: Row[]; neighbours: Row[] }>(
      admin.get(`/v1/boards/${board}/players/ada?above=1&below=1`),
    );
    expect(ofAda.entry).toMatchObject({ rank: 1, entryId: 'a2' });
    expect(brief(ofAda.entries)).toEqual(all.slice(0, 2));
    expect(brief(ofAda.neighbours)).toEqual(all.slice(0, 2));
    const looked = await body<{ entries: (Row | null)[] }>(
      admin.post(`/v1/boards/${board}/lookups`, { playerIds: ['bob', 'cy', 'ada'] }),
    );
    expect(looked.entries.map((row) => row?.entryId ?? null)).toEqual(['b1', null, 'a2']);
    expect(await body(admin.get(`/v1/boards/${board}/rank?score=26`))).toMatchObject({ rank: 2 });
    await expectPage(board, all.slice(1, 3), 'offset=1');

    await expect.poll(() => rowsOf(client, 'top')).toEqual(all.map((row) => row.slice(0, 3)));
    expect(client.list('top').gaps).toBe(0);
    const shifted = client.frames.flatMap(({ changes = [] }) => changes).filter((change) => change.entryId === 'a1');
    expect(shifted.at(-1)).toMatchObject({ playerId: 'ada', rank: null });

    const exported = await admin.get(`/v1/boards/${board}/export?format=csv`);
    expect(exported.text.split('\r\n')[0]).toMatch(/,metadata,entryId,verified$/);
    expect(
      exported.text
        .split('\r\n')
        .slice(1, 4)
        .map((line) => line.split(',')[2]),
    ).toEqual(['ada', 'ada', 'bob']);
    expect(exported.text).toMatch(/a2,false/);
  });

  it('come and go with acts on runs, and with an operator', async () => {
    const board = await admin.makeBoard('per-run-acts', { ...PER_RUN, counts: 'all' });
    for (const [id, score] of [
      ['r1', 1],
      ['r2', 2],
      ['r3', 3],
      ['r4', 4],
    ] as const)
      await submit(board, id, 'ada', score);
    const voided = await body<{ outcome: string; windows: object[] }>(
      moderator.delete(`/v1/boards/${board}/submissions/r4?${WHY}`),
    );
    expect(voided).toMatchObject({
      ...{ outcome: 'voided' },
      windows: [{ window: 'alltime', before: { score: 4 }, after: { score: 2 }, revising: false }],
    });
    await expectPage(board, [
      [1, 'ada', 'r3', 3],
      [2, 'ada', 'r2', 2],
    ]);
    await body(moderator.post(`/v1/boards/${board}/submissions/r4/restore?${WHY}`));
    await expectPage(board, [
      [1, 'ada', 'r4', 4],
      [2, 'ada', 'r3', 3],
    ]);
    const { runs } = await body<{ runs: { submissionId: string; entryOf: string[] }[] }>(
      moderator.get(`/v1/boards/${board}/runs?player=ada`),
    );
    expect(runs.map(({ submissionId, entryOf }) => [submissionId, entryOf])).toEqual([
      ['r4', ['alltime']],
      ['r3', ['alltime']],
      ['r2', []],
      ['r1', []],
    ]);
    const { submissionId } = await body<{ submissionId: string }>(
      admin.put(`/v1/boards/${board}/players/ada`, { score: 9, reason: 'a test' }),
    );
    await expectPage(board, [[1, 'ada', submissionId, 9]]);
    expectProblem(
      await admin.post(`/v1/boards/${board}/scores`, { submissionId, playerId: 'ada', score: 10 }),
      'SUBMISSION_ID_REUSED',
    );
    await submit(board, 'r5', 'ada', 10);
    await expectPage(board, [
      [1, 'ada', 'r5', 10],
      [2, 'ada', submissionId, 9],
    ]);
    await body(admin.delete(`/v1/boards/${board}/players/ada`));
    await expectPage(board, []);
  });

  it('of a banned player are gone, and of a shadowed one are in its own world alone', async () => {
    const board = await admin.makeBoard('per-run-bans', PER_RUN);
    for (const [id, player, score] of [
      ['c1', 'cleo', 10],
      ['c2', 'cleo', 30],
      ['d1', 'dan', 20],
    ] as const)
      await submit(board, id, player, score);
    const all = [
      [1, 'cleo', 'c2', 30],
      [2, 'dan', 'd1', 20],
      [3, 'cleo', 'c1', 10],
    ];
    await expectPage(board, all);
    const sanction = (kind: string): Promise<Response> =>
      moderator.put('/v1/admin/players/cleo/sanction', { kind, reason: 'a test' });
    await body(sanction('ban'));
    await expectPage(board, [[1, 'dan', 'd1', 20]]);
    const reader = admin.as(await admin.makeKey('read'));
    expectProblem(await reader.get(`/v1/boards/${board}/players/cleo`), 'ENTRY_NOT_FOUND');
    const seen = await body<{ entries: Row[]; sanction: object }>(moderator.get(`/v1/boards/${board}/players/cleo`));
    expect(brief(seen.entries)).toEqual([all[0], all[2]]);
    expect(seen.sanction).toMatchObject({ kind: 'ban' });
    await body(sanction('shadow'));
    await expectPage(board, [[1, 'dan', 'd1', 20]]);
    const own = admin.as(await playerToken(service.jwtSecret, 'cleo'));
    // Who is shadowed is known to readers within a second.
    const world = (): Promise<{ entries: Row[]; total: number }> => body(own.get(`/v1/boards/${board}/entries`));
    await expect.poll(async () => brief((await world()).entries)).toEqual(all);
    expect((await world()).total).toBe(3);
    const itself = await body<{ entry: Row; entries: Row[] }>(own.get(`/v1/boards/${board}/players/cleo`));
    expect(itself.entry).toMatchObject({ rank: 1, entryId: 'c2' });
    expect(brief(itself.entries)).toEqual([all[0], all[2]]);
    expect(await submit(board, 'c3', 'cleo', 15)).toMatchObject({
      outcome: 'created',
      displaced: 'c1',
      rank: { after: 3, total: 3 },
    });
    await expectPage(board, [[1, 'dan', 'd1', 20]]);
    await body(moderator.delete(`/v1/admin/players/cleo/sanction?${WHY}`));
    await expectPage(board, [
      [1, 'cleo', 'c2', 30],
      [2, 'dan', 'd1', 20],
      [3, 'cleo', 'c3', 15],
    ]);
  });

  it('show each player once among friends, those it follows and a circle, by its best', async () => {
    const board = await admin.makeBoard('per-run-friends', PER_RUN);
    for (const [id, player, score] of [
      ['e1', 'eve', 10],
      ['e2', 'eve', 30],
      ['f1', 'fay', 20],
      ['g1', 'gus', 25],
    ] as const)
      await submit(board, id, player, score);
    for (const player of ['eve', 'fay']) await admin.put(`/v1/circles/pals/members/${player}`);
    await admin.put('/v1/players/eve/friends/fay');
    await admin.put('/v1/players/eve/follows/fay');
    for (const path of ['circles/pals', 'friends/eve', 'follows/eve'])
      await expect
        .poll(async () => {
          const circle = await body<{ entries: (Row & { globalRank: number })[] }>(
            admin.get(`/v1/boards/${board}/${path}`),
          );
          return { ...circle, entries: circle.entries.map((row) => [row.rank, row.globalRank, row.entryId]) };
        })
        .toMatchObject({
          total: 2,
          players: 2,
          entries: [
            [1, 1, 'e2'],
            [2, 3, 'f1'],
          ],
        });
  });

  it('are named by their players and ids in what closing a window would write, and writes', async () => {
    const season = { season: 's1', startsAt: '2020-01-01T00:00:00Z', endsAt: '2090-01-01T00:00:00Z' };
    const board = await admin.makeBoard('preview', { ...PER_RUN, runs: { keepDays: 30 }, windows: [season] });
    await submit(board, 'p1', 'ada', 20);
    await submit(board, 'p2', 'ada', 10);
    const top = [
      { rank: 1, playerId: 'ada', entryId: 'p1', score: 20 },
      { rank: 2, playerId: 'ada', entryId: 'p2', score: 10 },
    ];
    for (const query of ['?dryRun', '']) {
      const closed = await admin.post(`/v1/admin/boards/${board}/close-window${query}`, { window: 'season:s1' });
      expect(closed.body).toMatchObject({ scopes: [{ scope: 'global', total: 2, top }] });
    }
  });

  it('are asked for with what goes with them alone, and only of an empty board', async () => {
    const refused: [object, string, string?][] = [
      [{ entriesPer: 'run' }, 'RUNS_NOT_KEPT', 'entriesPer'],
      [{ entriesPerPlayerMax: 5 }, 'NOT_SUPPORTED', 'entriesPerPlayerMax'],
      [{ ...PER_RUN, operator: 'latest' }, 'NOT_SUPPORTED', 'operator'],
      [{ ...PER_RUN, scopes: ['global', 'guild'] }, 'NOT_SUPPORTED', 'scopes'],
      [{ ...PER_RUN, history: {} }, 'NOT_SUPPORTED', 'history'],
      [{ ...PER_RUN, change: true }, 'NOT_SUPPORTED', 'change'],
      [{ ...PER_RUN, windows: [{ rolling: '24h' }] }, 'NOT_SUPPORTED', 'windows'],
      [{ ...PER_RUN, limits: { entryLifetimeSeconds: 3600 } }, 'NOT_SUPPORTED', 'limits.entryLifetimeSeconds'],
    ];
    for (const [options, code, option] of refused) {
      const answer = await admin.put('/v1/boards/refused', { order: 'desc', operator: 'best', ...options });
      expect(expectProblem(answer, code as 'NOT_SUPPORTED')).toMatchObject({ option });
    }
    const bad = { order: 'desc', operator: 'best', ...PER_RUN };
    for (const entriesPerPlayerMax of [0, 101, 1.5])
      expectProblem(await admin.put('/v1/boards/refused', { ...bad, entriesPerPlayerMax }), 'VALIDATION_FAILED');
    expectProblem(await admin.get('/v1/boards/refused'), 'BOARD_NOT_FOUND');

    const board = await admin.makeBoard('per-player', { runs: { keepDays: 30 } });
    expect((await admin.put(`/v1/boards/${board}`, bad)).status).toBe(200);
    await submit(board, 'h1', 'hal', 1);
    for (const change of [{ entriesPer: 'player', entriesPerPlayerMax: null }, { entriesPerPlayerMax: 3 }])
      expectProblem(await admin.put(`/v1/boards/${board}`, { ...bad, ...change }), 'BOARD_NOT_EMPTY');
    expect((await admin.get(`/v1/boards/${board}`)).body).toMatchObject({ entriesPer: 'run', entriesPerPlayerMax: 2 });
  });
});
