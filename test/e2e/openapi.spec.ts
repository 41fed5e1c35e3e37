// Real: the built service in one process, with its PostgreSQL and Redis; its own document judges its answers.
import { startStandalone, type RunningStandalone } from '@laddercast/testing';
import type { Response } from 'supertest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ServedDocument, type Document, type Operation } from './openapi-document.js';
import { RestClient, type Headers } from './rest-client.js';
import { routesOfTheApi } from './service-routes.js';

interface Call {
  params?: Record<string, string>;
  query?: string;
  headers?: Headers;
  body?: unknown;
}

/** A good request of each operation, on the boards made below. */
const GOOD: Record<string, Call> = {
  submitScore: { params: { board: 'open' }, body: { submissionId: 's1', playerId: 'ada', score: 5 } },
  submitScores: {
    body: {
      submissions: [{ board: 'open', playerId: 'bob', score: 3 }, { board: 'none', playerId: 'x', score: 1 }, 7],
    },
  },
  getEntries: {
    params: { board: 'open' },
    query: '?limit=1&offset=1&window=alltime&scope=global&rankStyle=competition&minVersion=0',
  },
  getPlayer: { params: { board: 'open', player: 'ada' }, query: '?above=1&below=2&accuracy=exact' },
  getRankOfScore: { params: { board: 'open' }, query: '?score=4.5' },
  lookupPlayers: { params: { board: 'open' }, body: { playerIds: ['ada', 'nobody'] } },
  listBoards: { query: '?limit=1' },
  getBoard: { params: { board: 'open' } },
  putBoard: {
    params: { board: 'open' },
    body: { order: 'desc', operator: 'best', title: 'Open', push: { intervalMs: null } },
  },
  deleteBoard: { params: { board: 'doomed' } },
  setEntry: { params: { board: 'open', player: 'cy' }, body: { score: 4, reason: 'put right' } },
  removeEntry: { params: { board: 'open', player: 'cy' } },
  resetBoard: { params: { board: 'spare' } },
  createApiKey: { body: { name: 'servers', scopes: ['read', 'scores:write'] } },
  listApiKeys: { query: '?limit=2' },
  revokeApiKey: { params: { key: 'set below' } },
  healthLive: {},
  healthReady: {},
};

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
      response.status >= 400 && !PARTS_WITHOUT_IDENTITY.includes(operation.operationId),
    );
    const fault = served.fault(described.content![mediaType]!.schema, response.body);
    expect(fault, `${operation.operationId} ${response.status}: ${response.text}`).toBeNull();
  }

  const withBoard = (operationId: string, board: string): Call => ({
    ...GOOD[operationId],
    params: { ...GOOD[operationId]!.params, board },
  });

  beforeAll(async () => {
    service = await startStandalone();
    const anonymous = new RestClient(service.url);
    served = new ServedDocument((await anonymous.get('/openapi.json')).body as Document);
    for (const { operationId } of served.operations) seen.set(operationId, new Set());
    admin = anonymous.as(service.adminKey);
    writer = anonymous.as(await admin.makeKey('scores:write'));
    reader = anonymous.as(await admin.makeKey('read'));
    for (const id of ['open', 'doomed', 'spare']) await admin.makeBoard(id);
    await admin.makeBoard('closed', { visibility: 'private' });
  }, 90_000);
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

  it('knows a good request for each operation', () => {
    expect(Object.keys(GOOD).sort()).toEqual([...seen.keys()].sort());
  });

  it('describes what every operation answers when all is well', async () => {
    await exercise('healthLive', GOOD['healthLive']!);
    await exercise('healthReady', GOOD['healthReady']!);
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
    for (const operationId of ['getEntries', 'getPlayer', 'getRankOfScore']) {
      const readAgain = async (): Promise<number> => {
        const answer = await exercise(operationId, GOOD[operationId]!, new RestClient(service.url));
        const headers = { 'If-None-Match': answer.headers['etag']! };
        return (await exercise(operationId, { ...GOOD[operationId], headers }, new RestClient(service.url))).status;
      };
      // What was written last may still be on its way to the ranks between the two reads.
      await expect.poll(readAgain, { timeout: 5000 }).toBe(304);
    }
    await exercise('getPlayer', { params: { board: 'open', player: 'nobody' }, query: '?fallback=last' });
    await exercise('lookupPlayers', GOOD['lookupPlayers']!);
    await exercise('lookupPlayers', { params: { board: 'open' }, body: { playerIds: ['bob', 'ada'], ranked: true } });
    await exercise('removeEntry', GOOD['removeEntry']!);
    await exercise('listBoards', GOOD['listBoards']!);
    await exercise('listBoards', {}, reader);
    await exercise('resetBoard', GOOD['resetBoard']!);
    await exercise('deleteBoard', GOOD['deleteBoard']!);
    const { keyId } = (await exercise('createApiKey', GOOD['createApiKey']!)).body as { keyId: string };
    await exercise('revokeApiKey', { params: { key: keyId } });
    await exercise('listApiKeys', GOOD['listApiKeys']!);
  });

  it('describes what every operation answers to callers without the right', async () => {
    for (const { operationId, responses } of served.operations) {
      if (responses['401'])
        expect((await exercise(operationId, GOOD[operationId]!, admin.as('nobody'))).status).toBe(401);
      if (!responses['403']) continue;
      const call =
        responses['304'] || operationId === 'lookupPlayers' ? withBoard(operationId, 'closed') : GOOD[operationId]!;
      const wrong = operationId.startsWith('submit') ? reader : writer;
      expect((await exercise(operationId, call, wrong)).status, operationId).toBe(403);
    }
  });

  it('describes how every operation refuses what is not well formed, and what is not there', async () => {
    for (const { operationId, responses, requestBody } of served.operations) {
      const good = GOOD[operationId]!;
      if (responses['400']) {
        const query = `${good.query ?? '?'}&surprise=1`.replace('?&', '?');
        expect((await exercise(operationId, { ...good, query })).status, operationId).toBe(400);
      }
      if (responses['404']) {
        const params = { board: 'no-such-board', player: 'ada', key: 'no-such-key' };
        expect((await exercise(operationId, { ...good, params })).status, operationId).toBe(404);
      }
      if (!requestBody) continue;
      const text = { 'Content-Type': 'text/plain' };
      expect((await exercise(operationId, { ...good, headers: text, body: 'hello' })).status).toBe(415);
      expect((await exercise(operationId, { ...good, body: '{"score":' })).status).toBe(400);
      expect((await exercise(operationId, { ...good, body: { padding: 'x'.repeat(2_200_000) } })).status).toBe(413);
      for (const body of [{}, [], 7, null, 'nonsense', { ...(good.body as object), surprise: 1 }]) {
        const sent = typeof body === 'string' ? JSON.stringify(body) : body;
        expect((await exercise(operationId, { ...good, body: sent })).status, JSON.stringify(body)).toBe(400);
        expect(served.fault(requestBody.content['application/json']!.schema, body), operationId).not.toBeNull();
      }
    }
    await exercise('getPlayer', { params: { board: 'open', player: 'nobody' } });
    await exercise('removeEntry', { params: { board: 'open', player: 'nobody' } });
  });

  it('describes what is well formed and not allowed', async () => {
    const cases: [string, Call, number][] = [
      ['submitScore', { params: { board: 'open' }, body: { submissionId: 's1', playerId: 'ada', score: 6 } }, 409],
      ['submitScore', { params: { board: 'open' }, body: { playerId: 'ada', score: 6, columns: { x: 1 } } }, 422],
      [
        'submitScore',
        { params: { board: 'open' }, body: { playerId: 'ada', score: 6, metadata: { x: 'x'.repeat(1024) } } },
        422,
      ],
      [
        'submitScore',
        { params: { board: 'open' }, body: { playerId: 'ada', score: 6, window: 'daily:2020-01-01' } },
        422,
      ],
      [
        'submitScore',
        { params: { board: 'open' }, body: { playerId: 'ada', score: 6, achievedAt: '2999-01-01T00:00:00Z' } },
        422,
      ],
      [
        'setEntry',
        { params: { board: 'open', player: 'ada' }, body: { score: 1, columns: { x: 1 }, reason: 'why' } },
        422,
      ],
      ['putBoard', { params: { board: 'open' }, body: { order: 'asc', operator: 'best' } }, 409],
      ['putBoard', { params: { board: 'open' }, body: { order: 'desc', operator: 'best', rankStyle: 'dense' } }, 422],
      ['putBoard', { ...GOOD['putBoard'], headers: { 'If-Match': '"0-0"' } }, 412],
      ['putBoard', { ...GOOD['putBoard'], headers: { 'If-None-Match': '*' } }, 412],
      ['deleteBoard', { params: { board: 'open' }, headers: { 'If-Match': '"0-0"' } }, 412],
      ['submitScores', { ...GOOD['submitScores'], headers: { 'Idempotency-Key': 'one-for-all' } }, 400],
      ['getEntries', { params: { board: 'open' }, query: '?cursor=start' }, 422],
      ['getPlayer', { params: { board: 'open', player: 'ada' }, query: '?accuracy=estimated' }, 422],
      ['getRankOfScore', { params: { board: 'open' }, query: '?score=1&scope=region:EU' }, 422],
      ['lookupPlayers', { ...GOOD['lookupPlayers'], query: '?rankStyle=dense' }, 422],
      ['getEntries', { params: { board: 'open' }, query: '?minVersion=9007199254740991' }, 503],
    ];
    for (const [operationId, call, status] of cases) {
      expect((await exercise(operationId, call)).status, `${operationId} ${JSON.stringify(call)}`).toBe(status);
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

  it('comes with Swagger UI and AsyncAPI, for everyone and from here alone', async () => {
    const anonymous = new RestClient(service.url);
    const page = await anonymous.get('/docs');
    expect(page.headers['content-security-policy']).toContain("default-src 'none'");
    const addresses = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address]) => address!);
    expect(addresses).toContain('./docs/swagger-ui-bundle.js');
    for (const address of addresses) {
      expect(address).toMatch(/^\.\/docs\//);
      expect((await anonymous.get(address.slice(1))).status, address).toBe(200);
    }
    const asyncApi = await anonymous.get('/asyncapi.json');
    expect(asyncApi.headers['content-type']).toMatch(/^application\/json/);
    expect(asyncApi.body).toMatchObject({ asyncapi: '3.0.0', info: { version: served.document.info.version } });
  });
});
