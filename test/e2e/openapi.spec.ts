// Real: the built service in one process, with its PostgreSQL and Redis; its own document judges its answers.
import { startStandalone, type RunningStandalone } from '@laddercast/testing';
import type { Response } from 'supertest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  AS_IT_STOOD,
  CALLS_OF_MODERATORS,
  CALLS_OF_TEMPLATES,
  EMPTY_BODIES,
  GOOD,
  OF_PATCHES,
  OF_SERVERS,
  ofNothing,
  PUT_OF_FED_BOARD,
  REFUSED,
  type Call,
} from './openapi-calls.js';
import {
  decisionsOfFlags,
  fillCircles,
  makeFedBoards,
  makeRows,
  makeTemplates,
  manyEntries,
  PRUNED,
  pruneStandings,
  pruneWindow,
  untilFollowed,
  whileRestatementsWait,
} from './openapi-rows.js';
import { ServedDocument, type Document, type Operation } from './openapi-document.js';
import { RestClient } from './rest-client.js';
import { routesOfTheApi } from './service-routes.js';

const CORRECTIONS = ['voidGame', 'voidGames', 'correctGame'];
const PARTS_WITHOUT_IDENTITY = ['healthLive', 'healthReady'];
/** Statuses that need a part of the installation to die: test/faults. */
const OUTAGES = ['500', '503'];

describe('the OpenAPI document', () => {
  let service: RunningStandalone;
  let served: ServedDocument;
  let admin: RestClient;
  let writer: RestClient;
  let reader: RestClient;
  const seen = new Map<string, Set<string>>();

  /** Calls an operation, and holds its answer against the document. */
  async function exercise(operationId: string, call: Call, client = admin): Promise<Response> {
    const operation = served.operation(operationId);
    const path = operation.path.replace(/\{(\w+)\}/g, (_all, name: string) =>
      encodeURIComponent(call.params?.[name] ?? `no ${name} given`),
    );
    const response = await client.send(operation.method, `${path}${call.query ?? ''}`, call.body, call.headers);
    const described = operation.responses[String(response.status)];
    expect(described, `${operationId} answered ${response.status}: ${response.text}`).toBeDefined();
    seen.get(operationId)!.add(String(response.status));
    expectBody(operation, described!, response);
    for (const header of Object.keys(described!.headers ?? {})) {
      expect(response.headers[header.toLowerCase()], `${operationId} ${response.status} ${header}`).toBeDefined();
    }
    const body = operation.requestBody?.content['application/json'];
    if (body && response.status < 300) expect(served.fault(body.schema, call.body)).toBeNull();
    return response;
  }

  function expectBody(operation: Operation, described: Operation['responses'][string], response: Response): void {
    const mediaTypes = Object.keys(described.content ?? {});
    if (mediaTypes.length === 0) {
      expect(response.text).toBe('');
      return;
    }
    const mediaType = response.headers['content-type']!.split(';')[0]!;
    expect(mediaTypes).toContain(mediaType);
    expect(mediaType === 'application/problem+json').toBe(
      response.status >= 400 && !(response.status === 503 && PARTS_WITHOUT_IDENTITY.includes(operation.operationId)),
    );
    const body: unknown = /^application\/(problem\+)?json$/.test(mediaType) ? response.body : response.text;
    const fault = served.fault(described.content![mediaType]!.schema, body);
    expect(fault, `${operation.operationId} ${response.status}: ${response.text}`).toBeNull();
  }

  const withBoard = (operationId: string, board: string): Call => ({
    ...GOOD[operationId],
    params: { ...GOOD[operationId]!.params, board },
  });

  beforeAll(async () => {
    // A wrong key is tried with every operation.
    service = await startStandalone({ TRUSTED_PROXIES: '127.0.0.1', RATE_LIMIT_FAILED_IDENTITY_PER_SECOND: '40' });
    const anonymous = new RestClient(service.url);
    served = new ServedDocument((await anonymous.get('/openapi.json')).body as Document);
    for (const { operationId } of served.operations) seen.set(operationId, new Set());
    admin = anonymous.as(service.adminKey);
    writer = anonymous.as(await admin.makeKey('scores:write'));
    reader = anonymous.as(await admin.makeKey('read'));
    for (const id of ['open', 'doomed', 'spare']) await admin.makeBoard(id);
    await admin.makeBoard('columns', { columns: [{ name: 'moves', order: 'asc' }], dense: true });
    await admin.makeBoard('guilded', { scopes: ['global', 'guild'] });
    await admin.makeBoard('recorded', { history: {}, change: true });
    await admin.makeBoard('closed', { visibility: 'private' });
    const over = { season: 'over', startsAt: '2020-01-01T00:00:00Z', endsAt: '2020-02-01T00:00:00Z' };
    await admin.makeBoard('over', { windows: [over] });
    await admin.makeBoard('ending', { windows: ['daily'] });
    for (const pool of ['rated', 'doomed', 'closed']) {
      const visibility = pool === 'closed' ? 'private' : 'public';
      expect((await admin.put(`/v1/pools/${pool}`, { algorithm: 'elo', visibility })).status).toBe(201);
    }
    await makeTemplates(admin);
    await makeFedBoards(admin);
    await makeRows(admin, service.databaseUrl);
  });
  afterAll(() => service?.stop());

  it('is well-formed OpenAPI 3.1', () => {
    const { document, operations } = served;
    expect(document.openapi).toMatch(/^3\.1\.\d+$/);
    expect(document.info).toMatchObject({ title: expect.any(String) as string, version: expect.any(String) as string });
    for (const reference of served.references()) expect(served.resolve(reference), reference).toBeDefined();
    expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length);
    const tags = document.tags.map(({ name }) => name);
    for (const { operationId, path, parameters, responses, security, ...operation } of operations) {
      const inPath = parameters.filter((parameter) => parameter.in === 'path' && parameter.required);
      const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      expect(
        inPath.map(({ name }) => name),
        operationId,
      ).toEqual(named);
      expect(new Set(parameters.map((one) => `${one.in} ${one.name}`)).size, operationId).toBe(parameters.length);
      for (const parameter of parameters)
        expect(parameter.description, `${operationId} ${parameter.name}`).toBeTruthy();
      for (const response of Object.values(responses)) expect(response.description, operationId).toBeTruthy();
      for (const tag of operation.tags) expect(tags).toContain(tag);
      for (const scheme of security.flatMap(Object.keys))
        expect(document.components.securitySchemes).toHaveProperty(scheme);
    }
  });

  it('has schemas that are JSON Schema 2020-12, and examples that they let through', () => {
    for (const name of Object.keys(served.document.components.schemas)) {
      expect(() => served.fault({ $ref: `#/components/schemas/${name}` }, null), name).not.toThrow();
    }
    for (const { operationId, parameters, requestBody, responses } of served.operations) {
      for (const { name, schema } of parameters) expect(() => served.fault(schema, null), name).not.toThrow();
      const contents = [requestBody, ...Object.values(responses)].flatMap((one) => Object.values(one?.content ?? {}));
      for (const { schema, example, examples = {} } of contents) {
        const given = [
          ...(example === undefined ? [] : [example]),
          ...Object.values(examples).map(({ value }) => value),
        ];
        for (const value of given) expect(served.fault(schema, value), operationId).toBeNull();
      }
    }
  });

  it('says how short a life entries may have, in requests and answers', () => {
    for (const name of ['BoardDefinition', 'Board']) {
      const { properties } = served.document.components.schemas[name] as { properties: { limits: object } };
      expect(properties.limits, name).toMatchObject({ properties: { entryLifetimeSeconds: { minimum: 60 } } });
    }
  });

  it('knows a good request for each operation', () => {
    expect(Object.keys(GOOD).sort()).toEqual([...seen.keys()].sort());
  });

  it('describes what every operation answers when all is well', async () => {
    for (const operationId of PARTS_WITHOUT_IDENTITY) await exercise(operationId, GOOD[operationId]!);
    await exercise('putBoard', withBoard('putBoard', 'made-here'));
    await exercise('putBoard', GOOD['putBoard']!);
    const read = await exercise('getBoard', GOOD['getBoard']!);
    const tag = read.headers['etag']!;
    await exercise('getBoard', { ...GOOD['getBoard'], headers: { 'If-None-Match': tag } });
    await exercise('putBoard', { ...GOOD['putBoard'], body: read.body, headers: { 'If-Match': tag } });
    await exercise('submitScore', { ...GOOD['submitScore'], headers: { Prefer: 'wait=5' } });
    await exercise('submitScore', GOOD['submitScore']!, writer);
    await exercise('submitScores', { ...GOOD['submitScores'], headers: { Prefer: 'wait=5' } });
    await exercise('setEntry', GOOD['setEntry']!);
    for (const [operationId, call] of CALLS_OF_MODERATORS)
      expect((await exercise(operationId, call)).status, operationId).toBe(200);
    const befriending = ['addFriend', 'removeFriend', 'getFriends', 'follow', 'unfollow', 'getFollows'];
    await exercise('putGuild', { ...GOOD['putGuild'], params: { guild: 'doomed' } });
    const people = ['putGuild', 'putGuild', 'joinGuild', 'leaveGuild', 'getGuild', 'getGuildMembers', 'deleteGuild'];
    for (const operationId of ['putPlayer', 'getPlayerProfile', ...people]) {
      await exercise(operationId, GOOD[operationId]!);
    }
    for (const board of ['guilded', 'recorded']) {
      await exercise('submitScore', { params: { board }, body: { playerId: 'ada', score: 5 } });
    }
    for (const operationId of [...befriending, 'addCircleMember', 'removeCircleMember', 'getCircleMembers']) {
      await exercise(operationId, GOOD[operationId]!);
    }
    const circleBoards = ['getFriendsBoard', 'getFollowsBoard', 'getCircleBoard'];
    const ranks = ['getEntries', 'getPlayer', 'getRankOfScore', 'getPercentiles', 'getStandings'];
    const lists = [...ranks, 'getPlayerHistory', 'getWindows', 'getGuilds', ...circleBoards];
    for (const operationId of lists) {
      const client = circleBoards.includes(operationId) ? admin : new RestClient(service.url);
      const readAgain = async (): Promise<number> => {
        const answer = await exercise(operationId, GOOD[operationId]!, client);
        const headers = { 'If-None-Match': answer.headers['etag']! };
        return (await exercise(operationId, { ...GOOD[operationId], headers }, client)).status;
      };
      // What was written last may still be on its way to the ranks between the two reads.
      await expect.poll(readAgain).toBe(304);
    }
    await exercise('getPlayer', { params: { board: 'open', player: 'nobody' }, query: '?fallback=last' });
    await exercise('getPlayer', { params: { board: 'open', player: 'ada' }, query: '?accuracy=estimated' });
    await exercise('getRankOfScore', { params: { board: 'open' }, query: '?score=4.5&accuracy=estimated' });
    await exercise('getPercentiles', { params: { board: 'open' }, query: '?at=0,50,100' });
    await exercise('lookupPlayers', {
      params: { board: 'open' },
      body: { playerIds: ['bob', 'ada', 'nobody'], accuracy: 'estimated' },
    });
    await exercise('getPlayer', { params: { board: 'recorded', player: 'ada' } });
    await exercise('lookupPlayers', { params: { board: 'open' }, body: { playerIds: ['bob', 'ada'], ranked: true } });
    await exercise('listBoards', {}, reader);
    const boards = ['exportWindow', 'lookupPlayers', 'removeEntry', 'listBoards', 'resetBoard', 'proposeBoundaries'];
    for (const operationId of [...boards, ...OF_PATCHES, 'rebuildBoard', 'getBoardLayout']) {
      await exercise(operationId, GOOD[operationId]!);
    }
    for (const operationId of ['reconcileBoard', 'getReconciliation', 'rebuildBoards', 'getRebuild']) {
      await exercise(operationId, GOOD[operationId]!);
    }
    for (const operationId of ['listDeadLetters', 'replayDeadLetter', 'listFlags', 'listSettlementFailures'])
      await exercise(operationId, GOOD[operationId]!);
    expect((await exercise('replayDeadLetter', { params: { letter: 'none' } })).status).toBe(404);
    for (const [call, status] of await decisionsOfFlags(admin, service.databaseUrl))
      expect((await exercise('decideFlag', call)).status).toBe(status);
    await exercise('closeWindow', GOOD['closeWindow']!);
    const closed = await exercise('closeWindow', { ...GOOD['closeWindow'], query: '?dryRun=false' });
    const { window } = closed.body as { window: { id: string } };
    const again = await exercise('closeWindow', { ...GOOD['closeWindow'], body: { window: window.id } });
    expect(again.status).toBe(409);
    const ended = { params: { board: 'ending', window: window.id } };
    const { headers: answered } = await exercise('getEditions', ended);
    await exercise('getEditions', { ...ended, headers: { 'If-None-Match': answered['etag']! } });
    const restate = (): Promise<Response> => exercise('restateWindow', GOOD['restateWindow']!);
    expect((await whileRestatementsWait(service.databaseUrl, restate)).status).toBe(202);
    await expect.poll(async () => (await restate()).status, { timeout: 60_000 }).toBe(200);
    await exercise('deleteBoard', GOOD['deleteBoard']!);
    for (const [operationId, call] of CALLS_OF_TEMPLATES) await exercise(operationId, call);
    await exercise('recordGames', { ...GOOD['recordGames'], headers: { Prefer: 'wait=10' } }, writer);
    const players = [
      { playerId: 'ada', place: 1 },
      { playerId: 'cy', status: 'absent' },
    ];
    await exercise('recordGames', { body: { games: [{ pool: 'rated', gameId: 'g3', players }] } });
    await exercise('putPool', { ...GOOD['putPool'], params: { pool: 'made-here' } });
    const pools = ['getPool', 'putPool', 'listPools', 'listGames', 'getGame', 'getRating', 'getRatingHistory'];
    await exercise('predictGame', { params: { pool: 'rated' }, body: { players: ['ada', 'bob'], sidesOf: 1 } });
    for (const operationId of [...pools, 'lookupRatings', 'getRatingDistribution', 'predictGame', ...CORRECTIONS])
      await exercise(operationId, GOOD[operationId]!);
    await exercise('voidGame', { ...GOOD['voidGame'], query: '', body: { reason: 'cheated', mode: 'keep' } });
    await exercise('deletePool', GOOD['deletePool']!);
    const { keyId } = (await exercise('createApiKey', GOOD['createApiKey']!)).body as { keyId: string };
    await exercise('rotateApiKey', { ...GOOD['rotateApiKey'], params: { key: keyId } });
    await exercise('revokeApiKey', { params: { key: keyId } });
    await manyEntries(service.databaseUrl, 'busy');
    const busy = { params: { player: 'busy' } };
    expect((await exercise('putSanction', { ...GOOD['putSanction'], ...busy })).status).toBe(202);
    await untilFollowed(admin, 'busy');
    expect((await exercise('liftSanction', { ...GOOD['liftSanction'], ...busy })).status).toBe(202);
    // Behind what is written by hand, which names no lane.
    for (const operationId of ['getLanes', 'raiseLanes']) await exercise(operationId, GOOD[operationId]!);
  });

  it('describes what every operation answers to callers without the right', async () => {
    for (const { operationId, responses } of served.operations) {
      if (responses['401'])
        expect((await exercise(operationId, GOOD[operationId]!, admin.as('nobody'))).status).toBe(401);
      if (!responses['403']) continue;
      const call =
        responses['304'] || ['lookupPlayers', 'exportWindow'].includes(operationId)
          ? withBoard(operationId, 'closed')
          : { ...GOOD[operationId], params: { ...GOOD[operationId]!.params, pool: 'closed' } };
      const wrong = OF_SERVERS.includes(operationId) ? reader : writer;
      expect((await exercise(operationId, call, wrong)).status, operationId).toBe(403);
    }
  });

  it('describes how every operation refuses what is not well formed, and what is not there', async () => {
    for (const { operationId, responses, requestBody } of served.operations) {
      const good = GOOD[operationId]!;
      const padded = { ...good, headers: { 'X-Padding': 'x'.repeat(20_000) } };
      expect((await exercise(operationId, padded)).status, operationId).toBe(431);
      if (responses['400']) {
        const query = `${good.query ?? '?'}&surprise=1`.replace('?&', '?');
        expect((await exercise(operationId, { ...good, query })).status, operationId).toBe(400);
      }
      if (responses['404']) {
        expect((await exercise(operationId, ofNothing(operationId))).status, operationId).toBe(404);
      }
      if (!requestBody) continue;
      const text = { 'Content-Type': 'text/plain' };
      expect((await exercise(operationId, { ...good, headers: text, body: 'hello' })).status).toBe(415);
      expect((await exercise(operationId, { ...good, body: '{"score":' })).status).toBe(400);
      expect((await exercise(operationId, { ...good, body: { padding: 'x'.repeat(2_200_000) } })).status).toBe(413);
      const empty = EMPTY_BODIES.includes(operationId) ? [] : [{}];
      for (const body of [...empty, [], 7, null, 'nonsense', { ...(good.body as object), surprise: 1 }]) {
        const sent = typeof body === 'string' ? JSON.stringify(body) : body;
        expect((await exercise(operationId, { ...good, body: sent })).status, JSON.stringify(body)).toBe(400);
        expect(served.fault(requestBody.content['application/json']!.schema, body), operationId).not.toBeNull();
      }
    }
    await exercise('getPlayer', { params: { board: 'open', player: 'nobody' } });
    await exercise('removeEntry', { params: { board: 'open', player: 'nobody' } });
  });

  it('describes what is well formed and not allowed', async () => {
    for (const { operationId, path } of served.operations.filter((one) => one.path.includes('{player}'))) {
      const good = GOOD[operationId]!;
      const answer = await exercise(operationId, { ...good, params: { ...good.params, player: 'me' } });
      expect(answer.body, path).toMatchObject({ status: 422, code: 'NOT_A_PLAYER' });
    }
    await fillCircles(service.databaseUrl);
    await pruneWindow(service.databaseUrl);
    await pruneStandings(service.databaseUrl, 'restated');
    const cases: [string, Call, number][] = [
      ['submitScore', { params: { board: 'open' }, body: { submissionId: 's1', playerId: 'ada', score: 6 } }, 409],
      ['submitScore', { params: { board: 'open' }, body: { playerId: 'ada', score: 6, columns: { x: 1 } } }, 422],
      ['putBoard', { params: { board: 'open' }, body: { order: 'asc', operator: 'best' } }, 409],
      ['putBoard', { params: { board: 'fed' }, body: { order: 'desc', operator: 'latest' } }, 201],
      ['putPool', { params: { pool: 'feeding' }, body: { algorithm: 'elo', board: 'open' } }, 409],
      ['putPool', { params: { pool: 'feeding' }, body: { algorithm: 'elo', board: 'fed' } }, 201],
      ['deleteBoard', { params: { board: 'fed' } }, 409],
      PUT_OF_FED_BOARD,
      ['submitScore', { params: { board: 'fed' }, body: { playerId: 'ada', score: 1 } }, 422],
      ['raiseLanes', { body: { lanes: 3 } }, 422],
      ['rotateApiKey', { params: { key: 'bootstrap' }, body: {} }, 409],
      ['revokeApiKey', { params: { key: 'bootstrap' } }, 409],
      ['closeWindow', { params: { board: 'open' }, body: { window: 'alltime' } }, 422],
      ['restateWindow', GOOD['restateWindow']!, 410],
      ['restateWindow', { ...GOOD['restateWindow'], params: { board: 'unended' } }, 409],
      ['restateWindow', { ...GOOD['restateWindow'], params: { board: 'open' } }, 422],
      ['proposeBoundaries', { ...GOOD['proposeBoundaries'], params: { board: 'closed' } }, 422],
      ['proposeBoundaries', { ...GOOD['proposeBoundaries'], query: '', headers: { 'If-Match': '"0-0"' } }, 412],
      [
        'putBoard',
        {
          params: { board: 'open' },
          body: { order: 'desc', operator: 'best', dense: true, sharding: { by: 'hash', count: 2 } },
        },
        422,
      ],
      ['putBoard', { ...GOOD['putBoard'], headers: { 'If-Match': '"0-0"' } }, 412],
      ['putBoard', { ...GOOD['putBoard'], headers: { 'If-None-Match': '*' } }, 412],
      ['deleteBoard', { params: { board: 'open' }, headers: { 'If-Match': '"0-0"' } }, 412],
      ['submitScores', { ...GOOD['submitScores'], headers: { 'Idempotency-Key': 'one-for-all' } }, 400],
      ['getEntries', { params: { board: 'open' }, query: '?rankStyle=dense' }, 422],
      ['getPlayer', { params: { board: 'open', player: 'ada' }, query: '?rankStyle=dense' }, 422],
      ['getPlayerHistory', { params: { board: 'open', player: 'ada' } }, 422],
      ['getRankOfScore', { params: { board: 'open' }, query: '?score=1&rankStyle=dense' }, 422],
      ['getRankOfScore', { params: { board: 'open' }, query: '?score=1&columns.moves=3' }, 422],
      ['getRankOfScore', { params: { board: 'open' }, query: '?score=1&columns.moves=few' }, 400],
      ['lookupPlayers', { ...GOOD['lookupPlayers'], query: '?rankStyle=dense' }, 422],
      ['getFriendsBoard', { ...GOOD['getFriendsBoard'], query: '?rankStyle=dense' }, 422],
      ['getFollowsBoard', { ...GOOD['getFollowsBoard'], query: '?rankStyle=dense' }, 422],
      ['getCircleBoard', { ...GOOD['getCircleBoard'], query: '?rankStyle=dense' }, 422],
      ['getGuilds', { ...GOOD['getGuilds'], query: '?rankStyle=dense' }, 422],
      ['getGuilds', { ...GOOD['getGuilds'], query: '?asOf=2020-01-01T00:00:00Z' }, 410],
      ...REFUSED,
      ['deleteGuild', { params: { guild: 'red' } }, 409],
      ['joinGuild', { params: { guild: 'full', player: 'bob' } }, 409],
      ['addFriend', { params: { player: 'full', other: 'ada' } }, 409],
      ['follow', { params: { player: 'full', other: 'ada' } }, 409],
      ['addCircleMember', { params: { circle: 'full', player: 'ada' } }, 409],
      ['exportWindow', { params: { board: 'open' }, query: `?window=${PRUNED}` }, 410],
      ['getEditions', { params: { board: 'open', window: PRUNED } }, 410],
      ...AS_IT_STOOD.map((operationId): [string, Call, number] => {
        const wanted: Record<string, string> = { getRankOfScore: 'score=1&', getPercentiles: 'at=50&' };
        const query = `?${wanted[operationId] ?? ''}asOf=2020-01-01T00:00:00Z`;
        return [operationId, { ...GOOD[operationId], query }, 410];
      }),
      ['getEntries', { params: { board: 'open' }, query: '?minVersion=9007199254740991' }, 503],
    ];
    for (const [operationId, call, status] of cases) {
      expect((await exercise(operationId, call)).status, `${operationId} ${JSON.stringify(call)}`).toBe(status);
    }
  });

  it('describes what a batch answers for items that are not well formed', async () => {
    const batches: [string, string, object][] = [
      ['submitScores', '/v1/scores', { submissions: [7, { board: 'open' }] }],
      ['recordGames', '/v1/games', { games: [7, { pool: 'rated' }] }],
    ];
    for (const [operationId, path, body] of batches) {
      const response = await admin.post(path, body);
      expect(response.status).toBe(200);
      const operation = served.operation(operationId);
      expectBody(operation, operation.responses['200']!, response);
    }
  });

  it('describes the limits that hold for every request', async () => {
    const guesser = new RestClient(service.url, 'lk_guess');
    const headers = { 'X-Forwarded-For': '203.0.113.1' };
    for (const { operationId } of served.operations) {
      const good = GOOD[operationId]!;
      const long = await exercise(operationId, { ...good, query: `?${'x'.repeat(8192)}` });
      expect(long.status, operationId).toBe(414);
      const large = await exercise(operationId, { ...good, headers: { 'X-Large': 'x'.repeat(17_000) } });
      expect(large.status, operationId).toBe(431);
      const asker = PARTS_WITHOUT_IDENTITY.includes(operationId) ? new RestClient(service.url) : guesser;
      const again = () => exercise(operationId, { ...good, headers }, asker);
      for (let round = 0; round < 200 && !seen.get(operationId)!.has('429'); round += 1) {
        await Promise.all(Array.from({ length: 10 }, again));
      }
    }
  });

  it('lists no status that nothing above was answered with', () => {
    const unseen = served.operations.flatMap(({ operationId, responses }) =>
      Object.keys(responses)
        .filter((status) => !OUTAGES.includes(status) && !seen.get(operationId)!.has(status))
        .map((status) => `${operationId} ${status}`),
    );
    expect(unseen).toEqual([]);
  });

  it('has every route of the server', async () => {
    const documented = served.operations.map(({ method, path }) => `${method} ${path}`).sort();
    expect((await routesOfTheApi()).sort()).toEqual(documented);
  });
});
