// Real: the built service in one process, PostgreSQL, Redis, HTTP.
import { startStandalone, type RunningStandalone } from '@laddercast/testing';
import type { Problem } from '@laddercast/domain';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectProblem, playerToken, RestClient } from './rest-client.js';

const definition = { order: 'asc', operator: 'best', limits: { scoreMin: 0 }, push: { intervalMs: 100, top: 50 } };
const MANY = 300;

interface Outcome {
  dryRun: boolean;
  results: { board: string; status: string; problem?: Problem }[];
  released: string[];
}

interface Standings {
  standings: { board: string; title: string | null; score: number; rank: number; window: { id: string } }[];
  unavailable: string[];
  next: string | null;
}

describe('templates of boards over HTTP', () => {
  let service: RunningStandalone;
  let anyone: RestClient;
  let admin: RestClient;
  let reader: RestClient;
  let ada: RestClient;

  beforeAll(async () => {
    service = await startStandalone();
    anyone = new RestClient(service.url);
    admin = anyone.as(service.adminKey);
    reader = anyone.as(await admin.makeKey('read'));
    ada = anyone.as(await playerToken(service.jwtSecret, 'ada'));
  });
  afterAll(() => service?.stop());

  const put = async (id: string, body: object, status = 200, query = ''): Promise<Outcome> => {
    const answer = await admin.put(`/v1/board-templates/${id}${query}`, body);
    expect(answer.status, answer.text).toBe(status);
    return answer.body as Outcome;
  };
  const linesOf = ({ results }: Outcome): string[] => results.map(({ board, status }) => `${board} ${status}`);
  const boardOf = async (id: string): Promise<Record<string, unknown>> =>
    (await admin.get(`/v1/boards/${id}`)).body as Record<string, unknown>;
  const standings = async (query: string, client = reader): Promise<Standings> => {
    const answer = await client.get(`/v1/players/ada/standings${query}`);
    expect(answer.status, answer.text).toBe(200);
    return answer.body as Standings;
  };
  const submit = async (...submissions: object[]): Promise<void> => {
    const answer = await admin.post('/v1/scores', { submissions }, { Prefer: 'wait=10' });
    expect(answer.status, answer.text).toBe(200);
    for (const result of (answer.body as { results: object[] }).results) expect(result).not.toHaveProperty('problem');
  };

  it('make and change boards; what was put can be read, and put again', async () => {
    const boards = [
      { board: 'eu4-1', title: 'Hindustan owns London' },
      { board: 'eu4-2', title: null, overrides: { push: { top: 20 }, visibility: 'private' } },
      { board: 'eu4-3' },
    ];
    const made = await admin.put('/v1/board-templates/eu4', { definition, boards });
    expect(made.status, made.text).toBe(201);
    expect(made.body).toEqual({
      dryRun: false,
      results: boards.map(({ board }) => ({ board, status: 'created' })),
      released: [],
    });
    expect(await boardOf('eu4-1')).toMatchObject({ id: 'eu4-1', template: 'eu4', title: 'Hindustan owns London' });
    expect(await boardOf('eu4-2')).toMatchObject({
      title: null,
      push: { intervalMs: 100, top: 20 },
      visibility: 'private',
    });

    const read = await admin.get('/v1/board-templates/eu4');
    expect(read.headers['etag']).toBe(made.headers['etag']);
    const { byHand, ...asPut } = read.body as { byHand: unknown[] };
    expect({ byHand, ...asPut }).toEqual({
      id: 'eu4',
      definition,
      boards: [
        { board: 'eu4-1', title: 'Hindustan owns London', overrides: {} },
        { board: 'eu4-2', title: null, overrides: { push: { top: 20 }, visibility: 'private' } },
        { board: 'eu4-3', title: null, overrides: {} },
      ],
      byHand: [],
    });
    expect(linesOf(await put('eu4', asPut))).toEqual(['eu4-1 unchanged', 'eu4-2 unchanged', 'eu4-3 unchanged']);

    const { template, ...board } = await boardOf('eu4-3');
    expect((await admin.put('/v1/boards/eu4-3', { ...board, template, change: true })).body).toMatchObject({
      template,
      change: true,
    });
    expect(((await admin.get('/v1/board-templates/eu4')).body as { byHand: unknown }).byHand).toEqual([
      { board: 'eu4-3', overrides: { change: true } },
    ]);
    expect(linesOf(await put('eu4', { definition: { ...definition, change: false }, boards }))).toEqual([
      ...['eu4-1 unchanged', 'eu4-2 unchanged', 'eu4-3 unchanged'],
    ]);
    const list = await admin.get('/v1/board-templates?limit=1');
    expect(list.body).toEqual({
      templates: [{ id: 'eu4', definition: { ...definition, change: false }, boardCount: 3 }],
      next: null,
    });
    const reset = await admin.post('/v1/admin/boards/eu4-1/reset');
    expect(reset.body).toMatchObject({ id: 'eu4-1', template: 'eu4' });
    const { boards: listed } = (await reader.get('/v1/boards')).body as { boards: { id: string; template: string }[] };
    expect(listed.map((one) => `${one.id} ${one.template}`)).toEqual(['eu4-1 eu4', 'eu4-2 eu4', 'eu4-3 eu4']);
  });

  it('answer a problem for a board that cannot follow, and what it would be without writing it', async () => {
    await put('ck3', { definition, boards: [{ board: 'ck3-1' }, { board: 'ck3-2' }] }, 201);
    await admin.makeBoard('own');
    await submit({ board: 'ck3-1', playerId: 'ada', score: 3 });
    const body = {
      definition: { ...definition, order: 'desc' },
      boards: [{ board: 'ck3-1' }, { board: 'own' }, { board: 'ck3-3' }],
    };
    const wanted = ['ck3-1 problem', 'own problem', 'ck3-3 created'];
    const tag = (await admin.get('/v1/board-templates/ck3')).headers['etag'];
    const dry = await admin.put('/v1/board-templates/ck3?dryRun', body);
    expect([dry.status, dry.headers['etag']]).toEqual([200, undefined]);
    expect(linesOf(dry.body as Outcome)).toEqual(wanted);
    expect(dry.body).toMatchObject({ dryRun: true, released: ['ck3-2'] });
    expect((await admin.get('/v1/boards/ck3-3')).status).toBe(404);
    expect((await admin.get('/v1/board-templates/ck3')).headers['etag']).toBe(tag);
    expect((await boardOf('ck3-2'))['template']).toBe('ck3');

    const done = await put('ck3', body);
    expect(linesOf(done)).toEqual(wanted);
    expect(done.results[0]!.problem).toMatchObject({
      ...{ code: 'BOARD_NOT_EMPTY', status: 409, instance: '/v1/board-templates/ck3#/boards/0' },
      detail: expect.stringContaining('order') as string,
    });
    expect(done.results[1]!.problem).toMatchObject({
      code: 'BOARD_NOT_OF_TEMPLATE',
      differing: expect.arrayContaining(['limits', 'push']) as string[],
    });
    expect((await boardOf('ck3-1'))['order']).toBe('asc');
    expect((await boardOf('ck3-2'))['template']).toBeNull();
    expect(linesOf(await put('ck3', body))).toEqual(['ck3-1 problem', 'own problem', 'ck3-3 unchanged']);
  });

  it('are put and deleted under conditions, and go with their boards where that is asked for', async () => {
    const body = { definition, boards: [{ board: 'hoi-1' }, { board: 'hoi-2' }] };
    const first = await admin.put('/v1/board-templates/hoi', body, { 'If-None-Match': '*' });
    const tag = first.headers['etag'] as string;
    expect(first.status).toBe(201);
    expectProblem(await admin.put('/v1/board-templates/hoi', body, { 'If-None-Match': '*' }), 'PRECONDITION_FAILED');
    expectProblem(await admin.put('/v1/board-templates/none', body, { 'If-Match': tag }), 'PRECONDITION_FAILED');
    const second = await admin.put(
      '/v1/board-templates/hoi',
      { definition, boards: [{ board: 'hoi-1' }] },
      { 'If-Match': tag },
    );
    expect(second.body).toMatchObject({ released: ['hoi-2'] });
    expectProblem(await admin.delete('/v1/board-templates/hoi', { 'If-Match': tag }), 'PRECONDITION_FAILED');
    expect((await admin.delete('/v1/board-templates/hoi')).status).toBe(204);
    expect(await boardOf('hoi-1')).toMatchObject({ id: 'hoi-1', template: null });
    await put('hoi', body, 201);
    expect((await admin.delete('/v1/board-templates/hoi?boards=1')).status).toBe(204);
    expectProblem(await admin.get('/v1/boards/hoi-1'), 'BOARD_NOT_FOUND');
    expectProblem(await admin.get('/v1/board-templates/hoi'), 'TEMPLATE_NOT_FOUND');
    expectProblem(await admin.delete('/v1/board-templates/hoi'), 'TEMPLATE_NOT_FOUND');
  });

  it('are not deleted with a board that a pool feeds', async () => {
    const fed = { order: 'desc', operator: 'latest' };
    await put('rated', { definition: fed, boards: [{ board: 'rated-1' }, { board: 'rated-2' }] }, 201);
    expect((await admin.put('/v1/pools/elo', { algorithm: 'elo', board: 'rated-2' })).status).toBe(201);
    expect((await boardOf('rated-2'))['template']).toBe('rated');
    expectProblem(await admin.delete('/v1/board-templates/rated?boards'), 'BOARD_IN_USE');
    expect((await boardOf('rated-1'))['template']).toBe('rated');
    const body = { definition: { ...fed, operator: 'best' }, boards: [{ board: 'rated-1' }, { board: 'rated-2' }] };
    const { results } = await put('rated', body);
    expect(results[1]).toMatchObject({ status: 'problem', problem: { code: 'BOARD_IN_USE' } });
    expect(results[0]).toMatchObject({ status: 'updated' });
    expect((await admin.delete('/v1/board-templates/rated?boards=false')).status).toBe(204);
    expect((await boardOf('rated-2'))['template']).toBeNull();
  });

  it('are refused whole where nothing could be made of them, and nothing is stored', async () => {
    const pointers = async (body: unknown, query = ''): Promise<string[]> => {
      const problem = expectProblem(await admin.put(`/v1/board-templates/bad${query}`, body), 'VALIDATION_FAILED');
      return problem.errors!.map(({ pointer }) => pointer);
    };
    const bad = [{ board: 'bad-1' }, { board: 'bad-1' }];
    expect(await pointers({ definition, boards: bad })).toEqual(['/boards/1/board']);
    expect(await pointers({ definition: { ...definition, order: 'up' }, boards: [] }, '?dryRun')).toEqual([
      '/definition/order',
    ]);
    const overrides = { push: { top: 1 } };
    expect(await pointers({ definition, boards: [{ board: 'bad-1' }, { board: 'bad-2', overrides }] })).toEqual([
      '/boards/1/overrides/push/top',
    ]);
    const boards = Array.from({ length: 2001 }, (_, at) => ({ board: `bad-${at}` }));
    expect(await pointers({ definition, boards })).toEqual(['/boards']);
    expectProblem(await admin.put('/v1/board-templates/Bad', { definition, boards: [] }), 'VALIDATION_FAILED');
    expectProblem(await admin.put('/v1/board-templates/bad?dryrun', { definition, boards: [] }), 'VALIDATION_FAILED');
    expectProblem(await admin.delete('/v1/board-templates/bad?boards=yes'), 'VALIDATION_FAILED');
    expectProblem(await admin.put('/v1/board-templates/bad', '{"definition":'), 'MALFORMED_JSON');
    const of = (more: object): object => ({ definition: { ...definition, ...more }, boards: [{ board: 'bad-1' }] });
    expectProblem(await admin.put('/v1/board-templates/bad', of({ proof: 'everyone' })), 'RUNS_NOT_KEPT');
    expectProblem(await admin.put('/v1/board-templates/bad', of({ submissionOperators: ['sum'] })), 'NOT_SUPPORTED');
    const dense = { dense: true, sharding: { by: 'hash', count: 2 } };
    expectProblem(await admin.put('/v1/board-templates/bad', of(dense)), 'RANK_STYLE_NOT_KEPT');
    const ofTeam = of({ runs: {}, integrity: { rules: ['nobodys'] } });
    expectProblem(await admin.put('/v1/board-templates/bad', ofTeam), 'RULE_UNKNOWN');
    expectProblem(await admin.get('/v1/board-templates/bad'), 'TEMPLATE_NOT_FOUND');
    expectProblem(await admin.get('/v1/boards/bad-1'), 'BOARD_NOT_FOUND');
    expectProblem(await admin.get('/v1/board-templates?cursor=A'), 'VALIDATION_FAILED');
    const other = { order: 'desc', operator: 'best', template: 'bad' };
    const { errors } = expectProblem(await admin.put('/v1/boards/own', other), 'VALIDATION_FAILED');
    expect(errors).toEqual([{ pointer: '/template', message: 'must be the template that the board is of, or absent' }]);
  });

  it('are for admins alone', async () => {
    for (const client of [reader, ada]) {
      expectProblem(await client.put('/v1/board-templates/mine', { definition, boards: [] }), 'FORBIDDEN');
      for (const path of ['', '/eu4']) expectProblem(await client.get(`/v1/board-templates${path}`), 'FORBIDDEN');
      expectProblem(await client.delete('/v1/board-templates/eu4'), 'FORBIDDEN');
    }
    expectProblem(await anyone.get('/v1/board-templates/eu4'), 'UNAUTHENTICATED');
  });

  it('show a player on all of their boards in one call, and submissions go on while they are made', async () => {
    const boards = Array.from({ length: MANY }, (_, at) => ({ board: `many-${at}`, title: `Board ${at}` }));
    await admin.makeBoard('beside');
    const took: number[] = [];
    let isMade = false;
    const playing = (async () => {
      for (let score = 1; !isMade; score += 1) {
        const startedAt = performance.now();
        await submit({ board: 'beside', playerId: 'ada', score });
        took.push(performance.now() - startedAt);
      }
    })();
    const made = await put('many', { definition, boards }, 201).finally(() => (isMade = true));
    await playing;
    expect(made.results.every(({ status }) => status === 'created')).toBe(true);
    expect(took.length).toBeGreaterThan(10);
    expect(Math.max(...took)).toBeLessThan(5000);

    const played = boards.filter((_, at) => at % 2 === 0);
    await submit(...played.map(({ board }, at) => ({ board, playerId: 'ada', score: at })));
    await submit({ board: 'many-0', playerId: 'bob', score: -0 }, { board: 'many-2', playerId: 'bob', score: 0 });
    const all = await standings('?template=many');
    expect(all.standings.map(({ board, title, score }) => `${board} ${title} ${score}`).sort()).toEqual(
      played.map(({ board, title }, at) => `${board} ${title} ${at}`).sort(),
    );
    expect(all).toMatchObject({ unavailable: [], next: null });
    expect(all.standings.find(({ board }) => board === 'many-2')!.rank).toBe(2);
  });

  it('take as many boards as there may be, each with options of its own, and a body that is no larger', async () => {
    const boards = Array.from({ length: 2000 }, (_, at) => ({
      board: `big-${at}`,
      title: `Board ${at}`,
      overrides: { push: { top: 10 + (at % 90), intervalMs: 100 + at }, format: { unit: 's', decimals: 2 } },
    }));
    const { results } = await put('big', { definition, boards }, 200, '?dryRun');
    expect(results.filter(({ status }) => status === 'created')).toHaveLength(2000);
    const columns = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`c${at}`, {}]));
    const wide = boards.map((board) => ({ ...board, overrides: { limits: { columns } } }));
    const { errors } = expectProblem(
      await admin.put('/v1/board-templates/big', { definition, boards: wide }),
      'VALIDATION_FAILED',
    );
    expect(errors).toEqual([{ pointer: '', message: 'has more than 100000 values' }]);
  });

  it('show the boards of the template that the caller may read, a part of them where that is asked for', async () => {
    await submit({ board: 'eu4-1', playerId: 'ada', score: 5 }, { board: 'eu4-2', playerId: 'ada', score: 6 });
    expect((await standings('?template=eu4')).standings.map(({ board }) => board)).toEqual(['eu4-1', 'eu4-2']);
    expect((await standings('?template=eu4', anyone)).standings.map(({ board }) => board)).toEqual(['eu4-1']);
    expect(await standings('?template=eu4&limit=1')).toMatchObject({ standings: [{ board: 'eu4-1' }], next: 'eu4-1' });
    expect(await standings('?template=eu4&limit=1&cursor=eu4-1')).toMatchObject({ standings: [{ board: 'eu4-2' }] });
    expect(await standings('?template=eu4&window=daily')).toMatchObject({ standings: [] });
    await put('empty', { definition, boards: [] }, 201);
    expect(await standings('?template=empty')).toMatchObject({ standings: [], unavailable: [], next: null });
    const path = '/v1/players/ada/standings';
    expectProblem(await anyone.get(`${path}?template=nothing`), 'TEMPLATE_NOT_FOUND');
    expectProblem(await anyone.get(`${path}?template=Nothing`), 'VALIDATION_FAILED');
    const both = expectProblem(await anyone.get(`${path}?template=eu4&boards=eu4-1`), 'VALIDATION_FAILED');
    expect(both.errors).toEqual([{ pointer: '?boards', message: 'is not a known parameter' }]);
  });

  it('count a call for all boards of a template by how many they are', async () => {
    const remaining = async (query: string): Promise<number> => {
      const { headers } = await ada.get(`/v1/players/me/standings${query}`);
      return Number(/r=(\d+)/.exec(headers['ratelimit'] as string)![1]);
    };
    const spentBy = async (query: string): Promise<number> => {
      const before = await remaining('?limit=1');
      return before - (await remaining(query));
    };
    // 25 boards for one; the bucket fills again meanwhile.
    const spent = await spentBy('?template=many');
    expect(spent).toBeGreaterThan(6);
    expect(spent).toBeLessThanOrEqual(12);
    expect(await spentBy('?template=eu4')).toBeLessThanOrEqual(1);
  });
});
