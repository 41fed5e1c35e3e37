// Real: the built service in one process, with its PostgreSQL and Redis. What is tried comes from its own document, which
// openapi.spec.ts holds against the routes of the server: a route that is added is tried here without being named.
import { PostgresDatabase } from '@laddercast/ledger';
import { startStandalone, type RunningStandalone } from '@laddercast/testing';
import type { Response } from 'supertest';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { GOOD, type Call } from './openapi-calls.js';
import { ServedDocument, type Document, type Operation } from './openapi-document.js';
import { expectProblem, playerToken, RestClient } from './rest-client.js';

/** Reads that have a body. */
const READS_BY_POST = ['lookupPlayers', 'lookupRatings', 'predictGame'];
/** Reads that need the scope moderate. */
const OF_MODERATORS = ['listRuns', 'listRunsOfPlayer'];
/** What the processes themselves write, on their own time, and what follows from the other tables. */
const RESTLESS = [
  ...['outbox', 'log_offsets', 'projected_positions', 'leases', 'lane_writers', 'layout_progress', 'layout_removals'],
  ...['entry_history', 'guild_totals'],
];

let service: RunningStandalone;
let database: PostgresDatabase;
let served: ServedDocument;
let anonymous: RestClient;
let admin: RestClient;
let writer: RestClient;
let reader: RestClient;
let moderator: RestClient;
let ada: RestClient;

const PLAYERS_OF_GAMES = [
  { playerId: 'ada', place: 1 },
  { playerId: 'bob', place: 2 },
];
const OF_PRIVATE_BOARDS = { visibility: 'private', scopes: ['global', 'guild'], history: {}, runs: { keepDays: 30 } };

beforeAll(async () => {
  service = await startStandalone();
  database = new PostgresDatabase({ url: service.databaseUrl });
  await database.open({ migrate: false });
  anonymous = new RestClient(service.url);
  served = new ServedDocument((await anonymous.get('/openapi.json')).body as Document);
  admin = anonymous.as(service.adminKey);
  writer = anonymous.as(await admin.makeKey('scores:write'));
  reader = anonymous.as(await admin.makeKey('read'));
  moderator = anonymous.as(await admin.makeKey('moderate'));
  ada = anonymous.as(await playerToken(service.jwtSecret, 'ada', 300));
  await admin.makeBoard('players', { submitters: 'players', windows: ['alltime', 'daily'] });
  await admin.makeBoard('secret', { ...OF_PRIVATE_BOARDS, submitters: 'players' });
  for (const board of ['players', 'secret']) {
    for (const [playerId, score] of [
      ['ada', 5],
      ['bob', 7],
      ['cy', 9],
    ] as const) {
      const run = { playerId, score, submissionId: `of ${playerId}` };
      expect((await admin.post(`/v1/boards/${board}/scores`, run, { Prefer: 'wait=10' })).status).toBe(200);
    }
  }
  await admin.put('/v1/pools/played', { algorithm: 'elo' });
  for (const gameId of ['g1', 'g2', 'g3']) {
    expect((await admin.post('/v1/games', { pool: 'played', gameId, players: PLAYERS_OF_GAMES })).status).toBe(200);
  }
  await admin.put('/v1/players/bob', { displayName: 'Bob', region: 'EU' });
  await admin.put('/v1/guilds/red', { displayName: 'Red' });
  for (const player of ['ada', 'bob']) await admin.put(`/v1/guilds/red/members/${player}`);
  await admin.put('/v1/players/bob/friends/cy');
  await admin.put('/v1/players/bob/follows/cy');
  await admin.put('/v1/circles/team/members/bob');
  // The entries of who joins a guild are written once more, in their own time.
  const inGuild = async (): Promise<number> =>
    ((await admin.get('/v1/boards/secret/entries?scope=guild:red')).body as { total: number }).total;
  await vi.waitUntil(async () => (await inGuild()) === 2, { timeout: 60_000 });
});
afterAll(async () => {
  await database?.close();
  await service?.stop();
});

const isWrite = ({ method, operationId }: Operation): boolean =>
  method !== 'GET' && !READS_BY_POST.includes(operationId);

/** Calls an operation as its good request does, with these values in its path. */
async function call(
  client: RestClient,
  { operationId, method, path }: Operation,
  params: Record<string, string>,
  body?: unknown,
): Promise<Response> {
  const good: Call | undefined = GOOD[operationId];
  expect(good, `openapi-calls.ts knows no good request of ${operationId}`).toBeDefined();
  const given = { ...good!.params, ...params };
  const url = path.replace(/\{(\w+)\}/g, (_all, name: string) => encodeURIComponent(given[name] ?? `no ${name} given`));
  return client.send(method, `${url}${good!.query ?? ''}`, body ?? good!.body, good!.headers);
}

/** Everything that is stored of boards, scores and people, and what operators did. */
async function stored(): Promise<Map<string, string>> {
  const tables = await database.query<{ name: string }>(
    `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' ORDER BY 1`,
  );
  const names = tables.map(({ name }) => name).filter((name) => !RESTLESS.includes(name));
  const texts = names.map(async (name): Promise<[string, string]> => {
    // What a process renews by the clock, without being asked.
    const apartFrom = name === 'installation' ? `WHERE name !~ '^(stamp$|log-group/)'` : '';
    const rows = await database.query<{ text: string }>(
      `SELECT t::text AS text FROM ${name} AS t ${apartFrom} ORDER BY 1`,
    );
    return [name, rows.map(({ text }) => text).join('\n')];
  });
  return new Map(await Promise.all(texts));
}

describe('a player', () => {
  it('writes for no other, and nothing that is not its own, by any route', async () => {
    const before = await stored();
    const bodies: Record<string, unknown> = {
      submitScore: { playerId: 'bob', score: 99 },
      submitScores: { submissions: [{ board: 'players', playerId: 'bob', score: 99 }] },
    };
    const writes = served.operations.filter(isWrite);
    expect(writes.length).toBeGreaterThan(20);
    for (const operation of writes) {
      const { operationId } = operation;
      const params = { board: 'players', player: 'bob', other: 'cy', guild: 'red', circle: 'team', key: 'bootstrap' };
      const response = await call(ada, operation, params, bodies[operationId]);
      if (operationId === 'submitScores') {
        expect(response.body, operationId).toMatchObject({
          results: [{ problem: { code: 'FORBIDDEN', status: 403 } }],
        });
      } else {
        expect(response.status, `${operationId}: ${response.text}`).toBe(403);
        expectProblem(response, 'FORBIDDEN');
      }
    }
    expect(await stored()).toEqual(before);
  });

  it('has only its own of a batch counted', async () => {
    const run = (playerId: unknown, more: object = {}): object => ({ board: 'players', playerId, score: 50, ...more });
    const submissions = [
      run('bob'),
      run('ada', { submissionId: 'mine' }),
      // Of bob by an id that bob used: what was answered then is not for others.
      run('bob', { submissionId: 'of bob', score: 7 }),
      run('Ada'),
      run('ada '),
      run('a\u0301da'),
      run('me'),
      run(['ada']),
      { ...run('ada'), board: 'secret' },
    ];
    const { results } = (await ada.post('/v1/scores', { submissions })).body as { results: Record<string, unknown>[] };
    const outcomes = results.map((result) => (result.problem as { code: string } | undefined)?.code ?? result.outcome);
    expect(outcomes).toEqual([
      'FORBIDDEN',
      'improved',
      ...['FORBIDDEN', 'FORBIDDEN', 'FORBIDDEN', 'FORBIDDEN'],
      ...['VALIDATION_FAILED', 'VALIDATION_FAILED'],
      'improved',
    ]);
    const bob = await admin.get('/v1/boards/players/players/bob');
    expect(bob.body).toMatchObject({ entry: { score: 7 } });
    const players = await database.query<{ id: string }>('SELECT DISTINCT player_id AS id FROM entries ORDER BY 1');
    expect(players.map(({ id }) => id)).toEqual(['ada', 'bob', 'cy']);
  });

  it('keeps its own friends and follows, by its name and as me', async () => {
    for (const me of ['me', 'ada']) {
      expect((await ada.put(`/v1/players/${me}/friends/cy`)).status).toBe(200);
      expect((await ada.put(`/v1/players/${me}/follows/cy`)).status).toBe(200);
      expect((await ada.delete(`/v1/players/${me}/friends/cy`)).status).toBe(204);
      expect((await ada.delete(`/v1/players/${me}/follows/cy`)).status).toBe(204);
    }
    for (const path of ['/v1/players/bob/friends', '/v1/players/bob/follows'])
      expectProblem(await ada.get(path), 'FORBIDDEN');
    expect((await ada.delete('/v1/guilds/red/members/me')).status).toBe(204);
  });
});

describe('a private board', () => {
  const ofBoards = (): Operation[] =>
    served.operations.filter((one) => !isWrite(one) && one.path.startsWith('/v1/boards/{board}'));
  const params = { board: 'secret', player: 'ada', circle: 'team' };

  it('is read by those who may alone, by any route', async () => {
    expect(ofBoards().length).toBeGreaterThan(10);
    for (const operation of ofBoards()) {
      const name = operation.operationId;
      const nobody = await call(anonymous, operation, params);
      expect(nobody.status, `${name}: ${nobody.text}`).toBe(401);
      expect((await call(writer, operation, params)).status, name).toBe(403);
      const isOfModerators = OF_MODERATORS.includes(name);
      if (isOfModerators) expect((await call(reader, operation, params)).status, name).toBe(403);
      for (const client of isOfModerators ? [moderator] : [reader, ada]) {
        const { status, text } = await call(client, operation, params);
        expect([401, 403], `${name}: ${status} ${text}`).not.toContain(status);
      }
    }
  });

  it('is read by moderators, who neither write scores nor boards nor keys', async () => {
    expect((await moderator.get('/v1/boards/secret/entries')).status).toBe(200);
    const run = { playerId: 'ada', score: 6 };
    expectProblem(await moderator.post('/v1/boards/secret/scores', run), 'FORBIDDEN');
    expectProblem(await moderator.delete('/v1/boards/secret'), 'FORBIDDEN');
    expectProblem(await moderator.post('/v1/admin/api-keys', { name: 'mine', scopes: ['admin'] }), 'FORBIDDEN');
  });

  it('is named to nobody else where several boards are told of', async () => {
    for (const operation of served.operations.filter((one) => !isWrite(one) && !one.path.includes('{board}'))) {
      const response = await call(anonymous, operation, { player: 'ada', circle: 'team' });
      expect(response.text, operation.operationId).not.toContain('secret');
    }
    expect((await anonymous.get('/v1/players/ada/standings')).text).toContain('players');
    expect((await reader.get('/v1/players/ada/standings')).text).toContain('secret');
  });

  it('is closed also to pages, tags and snapshots from when it was public', async () => {
    await admin.makeBoard('turning', { submitters: 'players' });
    for (const playerId of ['ada', 'bob'])
      await admin.post('/v1/boards/turning/scores', { playerId, score: 1 }, { Prefer: 'wait=10' });
    const first = await anonymous.get('/v1/boards/turning/entries?limit=1&cursor=start');
    const { next } = first.body as { next: string };
    const read = await anonymous.get('/v1/boards/turning/entries');
    expect((await anonymous.get(next)).status).toBe(200);
    const made = await admin.put('/v1/boards/turning', {
      order: 'desc',
      operator: 'best',
      submitters: 'players',
      visibility: 'private',
    });
    expect(made.status).toBe(200);
    for (const path of [next, '/v1/boards/turning/entries', '/v1/boards/turning/players/ada']) {
      const response = await anonymous.get(path, { 'If-None-Match': read.headers['etag']! });
      expectProblem(response, 'UNAUTHENTICATED');
      expect(response.text).not.toContain('bob');
    }
    expect((await reader.get(next)).status).toBe(200);
  });
});

/** On a run of ada's, on a board where players submit: ids are theirs there. */
function actsOnRuns(): Record<string, { action: string; subject: string; call: Call }> {
  const params = { board: 'secret', submission: 'of%20ada' };
  const subject = 'run:secret/of ada';
  return {
    voidRun: { action: 'run.void', subject, call: { params, query: '?player=ada&reason=cheated' } },
    verifyRun: {
      action: 'run.verify',
      subject,
      call: { params, query: '?player=ada', body: { verified: true, reason: 'looked at' } },
    },
    restoreRun: { action: 'run.restore', subject, call: { params, query: '?player=ada&reason=mistaken' } },
  };
}

describe('the audit log', () => {
  /** What every write that is for operators alone leaves behind, in an order in which each can be done. */
  const ACTS: Record<string, { action: string; subject: string; call: Call }> = {
    putBoard: {
      action: 'board.create',
      subject: 'acted',
      call: { body: { order: 'desc', operator: 'best', windows: ['daily'] } },
    },
    setEntry: { action: 'entry.set', subject: 'acted/bob', call: { body: { score: 4, reason: 'put right' } } },
    removeEntry: { action: 'entry.remove', subject: 'acted/bob', call: {} },
    rebuildBoard: { action: 'board.rebuild', subject: 'acted', call: {} },
    proposeBoundaries: {
      action: 'board.replace',
      subject: 'players',
      call: { params: { board: 'players' }, query: '', body: { shards: 2, window: 'alltime' } },
    },
    ...actsOnRuns(),
    reconcileBoard: { action: 'board.reconcile', subject: 'acted', call: {} },
    closeWindow: { action: 'window.close', subject: 'acted', call: { query: '', body: { window: 'daily' } } },
    resetBoard: { action: 'board.reset', subject: 'acted', call: {} },
    deleteBoard: { action: 'board.delete', subject: 'acted', call: {} },
    putBoardTemplate: {
      action: 'template.create',
      subject: 'acted-template',
      call: {
        params: { template: 'acted-template' },
        query: '',
        // A board of it would have a record of its own behind this one.
        body: { definition: { order: 'desc', operator: 'best' }, boards: [] },
      },
    },
    deleteBoardTemplate: {
      action: 'template.delete',
      subject: 'acted-template',
      call: { params: { template: 'acted-template' } },
    },
    putPatch: {
      action: 'patch.create',
      subject: 'acted-family/acted-patch',
      call: { params: { patch: 'acted-patch' }, query: '', body: { family: 'acted-family' } },
    },
    deletePatch: {
      action: 'patch.delete',
      subject: 'acted-family/acted-patch',
      call: { params: { patch: 'acted-patch' }, query: '?family=acted-family' },
    },
    putPool: {
      action: 'pool.create',
      subject: 'acted-pool',
      call: { params: { pool: 'acted-pool' }, body: { algorithm: 'elo' } },
    },
    voidGames: {
      action: 'pool.void',
      subject: 'played',
      call: { params: { pool: 'played' }, body: { gameIds: ['g3'], reason: 'cheated' } },
    },
    voidGame: {
      action: 'pool.void',
      subject: 'played',
      call: { params: { pool: 'played', game: 'g1' }, body: { reason: 'cheated' } },
    },
    correctGame: {
      action: 'pool.result',
      subject: 'played',
      call: {
        params: { pool: 'played', game: 'g2' },
        body: { players: PLAYERS_OF_GAMES.map((player) => ({ ...player, place: 1 })), reason: 'put right' },
      },
    },
    deletePool: { action: 'pool.delete', subject: 'acted-pool', call: { params: { pool: 'acted-pool' } } },
    putSanction: {
      action: 'sanction.put',
      subject: 'player:eve',
      call: { params: { player: 'eve' }, body: { kind: 'ban', reason: 'cheated' } },
    },
    liftSanction: {
      action: 'sanction.lift',
      subject: 'player:eve',
      call: { params: { player: 'eve' }, query: '?reason=mistake' },
    },
    decideFlag: { action: 'flag.decide', subject: 'flag', call: { body: { decision: 'accept', reason: 'seen' } } },
    createApiKey: { action: 'api-key.create', subject: '', call: { body: { name: 'made', scopes: ['read'] } } },
    raiseLanes: { action: 'lanes.raise', subject: 'lanes', call: { body: { lanes: 4 } } },
    rotateApiKey: { action: 'api-key.rotate', subject: '', call: { body: {} } },
    revokeApiKey: { action: 'api-key.revoke', subject: '', call: {} },
  };

  it('has every act that is for operators alone: who, what, to what', async () => {
    const key = (await admin.post('/v1/admin/api-keys', { name: 'operator', scopes: ['admin'] })).body as {
      keyId: string;
      secret: string;
    };
    const operator = anonymous.as(key.secret);
    await admin.makeBoard('judged', { runs: { keepDays: 30 }, counts: 'verified' });
    await admin.post('/v1/boards/judged/scores', { playerId: 'ada', score: 5 });
    const { flags } = (await admin.get('/v1/admin/flags?board=judged')).body as { flags: { flagId: string }[] };
    const flag = flags[0]!.flagId;
    let made = '';
    for (const [operationId, act] of Object.entries(ACTS)) {
      const { method, path } = served.operation(operationId);
      const params = { board: 'acted', player: 'bob', key: made, flag, ...act.call.params };
      const url = path.replace(/\{(\w+)\}/g, (_all, name: string) => params[name as keyof typeof params]!);
      const response = await operator.send(method, `${url}${act.call.query ?? ''}`, act.call.body);
      expect(response.status, `${operationId}: ${response.text}`).toBeLessThan(300);
      made = (response.body as { keyId?: string }).keyId ?? made;
      const page = (await reader.as(service.adminKey).get(`/v1/admin/audit?actor=${key.keyId}&limit=1`)).body as {
        acts: { actor: string; action: string; subject: string }[];
      };
      expect(page.acts[0], operationId).toMatchObject({
        actor: key.keyId,
        action: act.action,
        subject: act.subject === 'flag' ? `flag:${flag}` : act.subject || made,
      });
    }
  });

  it('is expected of every write that only an operator may do', async () => {
    const plain = anonymous.as(await admin.makeKey('scores:write', 'read'));
    const forOperators: string[] = [];
    for (const operation of served.operations.filter(isWrite)) {
      const { status } = await call(plain, operation, {
        board: 'players',
        player: 'bob',
        other: 'cy',
        key: 'bootstrap',
      });
      if (status === 403) forOperators.push(operation.operationId);
    }
    // A dead letter there must be first (dead-letters.spec.ts), rebuilding goes on for a while (rebuild.spec.ts), and a window is
    // restated after its end (restated-windows.spec.ts).
    const elsewhere = ['replayDeadLetter', 'rebuildBoards', 'restateWindow'];
    expect(forOperators.sort()).toEqual([...Object.keys(ACTS), ...elsewhere].sort());
  });

  it('shows a moderator what was done to one player, run or flag, and nothing else', async () => {
    for (const query of ['', '?action=board.create', '?subject=acted%2Fbob', '?subject=bootstrap']) {
      expectProblem(await moderator.get(`/v1/admin/audit${query}`), 'FORBIDDEN');
    }
    for (const subject of ['player:ada', 'run:players/b1c', 'flag:f00']) {
      const response = await moderator.get(`/v1/admin/audit?subject=${encodeURIComponent(subject)}`);
      expect(response.status, response.text).toBe(200);
      expectProblem(await reader.get(`/v1/admin/audit?subject=${encodeURIComponent(subject)}`), 'FORBIDDEN');
    }
  });

  it('is for operators, newest first, page by page, and by actor, act and subject', async () => {
    for (const client of [reader, writer, ada]) expectProblem(await client.get('/v1/admin/audit'), 'FORBIDDEN');
    type Page = { acts: { auditId: number; action: string; actor: string; subject: string }[]; next: string | null };
    const get = async (query: string): Promise<Page> => {
      const response = await admin.get(`/v1/admin/audit?${query}`);
      expect(response.status, response.text).toBe(200);
      return response.body as Page;
    };
    const all = (await get('limit=500')).acts;
    expect(all.at(-1)).toMatchObject({ actor: 'the service', action: 'api-key.bootstrap' });
    const paged: Page['acts'] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const page: Page = await get(`limit=3${cursor && `&cursor=${cursor}`}`);
      paged.push(...page.acts);
      cursor = page.next;
    }
    expect(paged).toEqual(all);
    expect(all.map(({ auditId }) => auditId)).toEqual(all.map(({ auditId }) => auditId).sort((a, b) => b - a));
    const created = await get('action=board.create&actor=bootstrap');
    expect(created.acts.map(({ subject }) => subject)).toEqual(['judged', 'turning', 'secret', 'players']);
    expect((await get('subject=acted%2Fbob')).acts.map(({ action }) => action)).toEqual(['entry.remove', 'entry.set']);
    expect((await get('subject=%27%20OR%201%3D1%20--')).acts).toEqual([]);
    for (const query of ['limit=0', 'limit=501', 'cursor=x', 'cursor=-1', 'cursor=1e3', 'actor=%00', 'when=now']) {
      expectProblem(await admin.get(`/v1/admin/audit?${query}`), 'VALIDATION_FAILED');
    }
  });
});
