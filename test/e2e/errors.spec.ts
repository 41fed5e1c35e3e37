// Real: the built service in one process, with its PostgreSQL and Redis; requests as clients get them wrong.
import { once } from 'node:events';
import { connect } from 'node:net';
import { request as rawRequest } from 'node:http';
import { startStandalone, type RunningStandalone } from '@laddercast/testing';
import type { Problem } from '@laddercast/domain';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectProblem, RestClient, type Headers } from './rest-client.js';

const BOARD = { order: 'desc', operator: 'best' };
const RUN = { playerId: 'ada', score: 1 };
const SCORES = '/v1/boards/open/scores';
const JSON_TYPE = { 'Content-Type': 'application/json' };

describe('requests that are wrong', () => {
  let service: RunningStandalone;
  let admin: RestClient;

  beforeAll(async () => {
    service = await startStandalone();
    admin = new RestClient(service.url, service.adminKey);
    await admin.makeBoard('open');
    await admin.makeBoard('moves', { columns: [{ name: 'moves', order: 'asc' }] });
  });
  afterAll(() => service?.stop());

  /** A path exactly as it is written here: clients of a higher level would tidy it up. */
  const rawGet = (path: string): Promise<{ status: number; type: string; sniffing: unknown; problem: Problem }> =>
    new Promise((resolve, reject) => {
      const { hostname, port } = new URL(service.url);
      const headers = { Authorization: `Bearer ${service.adminKey}` };
      rawRequest({ hostname, port, path, headers }, (response) => {
        let text = '';
        response.on('data', (chunk: Buffer) => (text += chunk.toString()));
        response.on('end', () => {
          const problem = JSON.parse(text) as Problem;
          const { 'content-type': type, 'x-content-type-options': sniffing } = response.headers;
          resolve({ status: response.statusCode!, type: type!, sniffing, problem });
        });
      })
        .on('error', reject)
        .end();
    });

  describe('bodies', () => {
    it.each([
      ['cut off', '{"playerId":"ada",'],
      ['not JSON', 'score=1'],
      ['two values', '{}{}'],
      ['a comment', '{"playerId":"ada","score":1} // one'],
      ['NaN', '{"playerId":"ada","score":NaN}'],
      ['empty', ''],
    ])('are refused as malformed: %s', async (_name, body) => {
      expectProblem(await admin.send('POST', SCORES, body, JSON_TYPE), 'MALFORMED_JSON');
    });

    it.each<[method: string, path: string, body: string, pointer: string]>([
      ['POST', SCORES, '{"playerId":"ada","score":1,"__proto__":{"admin":true}}', '/__proto__'],
      [
        'POST',
        SCORES,
        '{"playerId":"ada","score":1,"metadata":{"a":[{"\\u005f_proto__":1}]}}',
        '/metadata/a/0/__proto__',
      ],
      [
        'POST',
        SCORES,
        '{"playerId":"ada","score":1,"metadata":{"constructor":{"prototype":1}}}',
        '/metadata/constructor',
      ],
      ['PUT', '/v1/players/ada', '{"attributes":{"__proto__":"1"}}', '/attributes/__proto__'],
      ['PUT', '/v1/players/ada', '{"attributes":{"constructor":{"prototype":{}}}}', '/attributes/constructor'],
      ['PUT', '/v1/boards/proto', '{"order":"asc","operator":"best","limits":{"__proto__":{}}}', '/limits/__proto__'],
      ['POST', '/v1/admin/api-keys', '{"name":"x","scopes":["read"],"__proto__":1}', '/__proto__'],
    ])('are refused by the name that is not taken: %s %s %s', async (method, path, body, pointer) => {
      const { errors } = expectProblem(await admin.send(method, path, body, JSON_TYPE), 'VALIDATION_FAILED');
      expect(errors!.map((fault) => fault.pointer)).toEqual([pointer]);
      expect(errors![0]!.message).toMatch(/name|field/);
    });

    it('are refused for such a name by item in a batch, and the others count', async () => {
      await admin.makeBoard('batched');
      const bad = '{"board":"batched","playerId":"eve","score":1,"metadata":{"__proto__":1}}';
      const body = `{"submissions":[${bad},${JSON.stringify({ ...RUN, board: 'batched' })}]}`;
      const response = await admin.send('POST', '/v1/scores', body, JSON_TYPE);
      expect(response.status, response.text).toBe(200);
      const { results } = response.body as { results: { problem?: Problem; outcome?: string }[] };
      expect(results[0]!.problem).toMatchObject({
        code: 'VALIDATION_FAILED',
        errors: [{ pointer: '/metadata/__proto__' }],
      });
      expect(results[1]).not.toHaveProperty('problem');
    });

    it.each<[string, unknown, string]>([
      ['no object', [RUN], ''],
      ['null', null, ''],
      ['no player', { score: 1 }, '/playerId'],
      ['no score', { playerId: 'ada' }, '/score'],
      ['a score in quotes', { ...RUN, score: '1' }, '/score'],
      ['a score that is null', { ...RUN, score: null }, '/score'],
      ['a player that is a number', { ...RUN, playerId: 7 }, '/playerId'],
      ['columns that are an array', { ...RUN, columns: [1] }, '/columns'],
      ['a column in quotes', { ...RUN, columns: { moves: '1' } }, '/columns/moves'],
      ['metadata that is text', { ...RUN, metadata: 'x' }, '/metadata'],
      ['metadata with a NUL', { ...RUN, metadata: { a: ['\0'] } }, '/metadata'],
      ['metadata with half a pair', { ...RUN, metadata: { '\ud800': 1 } }, '/metadata'],
      [
        'metadata nested too deeply',
        `{"playerId":"a","score":1,"metadata":{"a":${'['.repeat(9_000)}${']'.repeat(9_000)}}}`,
        '/metadata',
      ],
      ['a time that is a date', { ...RUN, achievedAt: '2026-11-20' }, '/achievedAt'],
      ['a day that does not exist', { ...RUN, achievedAt: '2026-02-30T00:00:00Z' }, '/achievedAt'],
      ['a time in milliseconds', { ...RUN, achievedAt: 1 }, '/achievedAt'],
      ['an unknown field', { ...RUN, extra: 1 }, '/extra'],
      ['a field that every object has', { ...RUN, constructor: 1 }, '/constructor'],
      ['another such field', { ...RUN, toString: 1 }, '/toString'],
      ['a field with a slash', { ...RUN, 'a/b~c': 1 }, '/a~1b~0c'],
      ['an infinite score', '{"playerId":"ada","score":1e400}', '/score'],
      ['an infinite column', '{"playerId":"ada","score":1,"columns":{"moves":-1e400}}', '/columns/moves'],
    ])('are refused by pointer: %s', async (_name, body, pointer) => {
      const { errors } = expectProblem(await admin.post(SCORES, body), 'VALIDATION_FAILED');
      expect(errors!.map((fault) => fault.pointer)).toContain(pointer);
    });

    it.each<[string, unknown, string]>([
      ['an unknown option', { ...BOARD, colour: 'red' }, '/colour'],
      ['an option that every object has', { ...BOARD, constructor: 1 }, '/constructor'],
      ['an unknown option inside', { ...BOARD, push: { every: 1 } }, '/push/every'],
      ['a title that is a number', { ...BOARD, title: 1 }, '/title'],
      ['a title with a NUL', { ...BOARD, title: '\0' }, '/title'],
      ['no operator', { order: 'asc' }, '/operator'],
      ['limits the wrong way round', { ...BOARD, limits: { scoreMin: 2, scoreMax: 1 } }, '/limits/scoreMin'],
      [
        'a limit of a column that there is not',
        { ...BOARD, columns: [], limits: { columns: { moves: { min: 1 } } } },
        '/limits/columns/moves',
      ],
      [
        'limits of a column the wrong way round',
        { ...BOARD, columns: [{ name: 'a', order: 'asc' }], limits: { columns: { a: { min: 2, max: 1 } } } },
        '/limits/columns/a',
      ],
      ['a bound that is text', { ...BOARD, limits: { columns: { a: { min: '2' } } } }, '/limits/columns/a/min'],
      ['a bound of no kind', { ...BOARD, limits: { columns: { a: { least: 2 } } } }, '/limits/columns/a'],
      ['sets alone', { ...BOARD, operator: 'sum', submissionOperators: ['set'] }, '/submissionOperators'],
      [
        'an operator of no kind',
        { ...BOARD, operator: 'sum', submissionOperators: ['sum', 'add'] },
        '/submissionOperators',
      ],
      [
        'columns on a sum board',
        { order: 'desc', operator: 'sum', columns: [{ name: 'a', order: 'asc' }] },
        '/columns',
      ],
      [
        'a limit of entries on a sum board',
        { ...BOARD, operator: 'sum', limits: { entriesMax: 1 } },
        '/limits/entriesMax',
      ],
      ['no entries at all', { ...BOARD, limits: { entriesMax: 0 } }, '/limits/entriesMax'],
      ['half an attempt', { ...BOARD, limits: { attemptsMax: 0.5 } }, '/limits/attemptsMax'],
      ['a short life', { ...BOARD, limits: { entryLifetimeSeconds: 59 } }, '/limits/entryLifetimeSeconds'],
      ['a column that is an array', { ...BOARD, columns: [[]] }, '/columns'],
      ['columns in an array too many', { ...BOARD, columns: [[{ name: 'a', order: 'asc' }]] }, '/columns'],
      ['the id of another board', { ...BOARD, id: 'good' }, '/id'],
      ['an id that is a number', { ...BOARD, id: 7 }, '/id'],
      ['a window of no kind', { ...BOARD, windows: ['alltime', 'hourly'] }, '/windows/1'],
      ['half a season', { ...BOARD, windows: [{ season: 's1' }] }, '/windows/0/startsAt'],
      ['rolling days', { ...BOARD, windows: [{ rolling: '7d' }] }, '/windows/0/rolling'],
      ['a cron that never fires', { ...BOARD, windows: [{ cron: '0 0 30 2 *' }] }, '/windows/0/cron'],
      ['a zone that does not exist', { ...BOARD, timeZone: 'Europe/Atlantis' }, '/timeZone'],
      ['scopes without global', { ...BOARD, scopes: ['region'] }, '/scopes'],
      ['a scope that is a field', { ...BOARD, scopes: ['global', { attribute: '__proto__' }] }, '/scopes/1/attribute'],
      ['no snapshot at all', { ...BOARD, snapshot: { top: 0 } }, '/snapshot/top'],
      ['a k too many', { ...BOARD, guildAggregate: { k: 3 } }, '/guildAggregate/k'],
    ])('of boards are refused by pointer: %s', async (_name, body, pointer) => {
      const { errors } = expectProblem(await admin.put('/v1/boards/bad', body), 'VALIDATION_FAILED');
      expect(errors!.map((fault) => fault.pointer)).toContain(pointer);
      expect((await admin.get('/v1/boards/bad')).status).toBe(404);
    });

    it.each<[string, unknown, { pointer: string; message: string }]>([
      ['no count', { sharding: { by: 'hash' } }, { pointer: '/sharding/count', message: 'is required' }],
      [
        'a count in quotes',
        { sharding: { by: 'hash', count: '4' } },
        { pointer: '/sharding/count', message: 'must be an integer' },
      ],
      ['windows that are no list', { windows: 'daily' }, { pointer: '/windows', message: 'must be an array' }],
      ['a title that is a number', { title: 1 }, { pointer: '/title', message: 'must be a string' }],
      ['columns of text', { columns: ['moves'] }, { pointer: '/columns', message: 'each value must be an object' }],
    ])('of boards are told the fault that stands before the others: %s', async (_name, option, fault) => {
      const { errors, detail } = expectProblem(
        await admin.put('/v1/boards/bad', { ...BOARD, ...(option as object) }),
        'VALIDATION_FAILED',
      );
      expect(errors!.filter(({ pointer }) => pointer === fault.pointer)).toEqual([fault]);
      expect(detail).toBe(`${fault.pointer}: ${fault.message}`);
    });

    it('nested without end are refused, and not run out of stack', async () => {
      const deep = `{"order":"desc","operator":"best","columns":${'['.repeat(500_000)}${']'.repeat(500_000)}}`;
      expectProblem(await admin.put('/v1/boards/deep', deep), 'VALIDATION_FAILED');
    });

    it('too large are refused', async () => {
      expectProblem(await admin.post(SCORES, { ...RUN, metadata: { x: 'x'.repeat(3_000_000) } }), 'PAYLOAD_TOO_LARGE');
    });

    it('too large are answered also to a client that sends all before it listens', async () => {
      const { hostname, port } = new URL(service.url);
      const socket = connect(Number(port), hostname);
      const bytes = 12_000_000;
      const lines = [`POST ${SCORES} HTTP/1.1`, `Host: ${hostname}`, `Authorization: Bearer ${service.adminKey}`];
      socket.write([...lines, 'Content-Type: application/json', `Content-Length: ${bytes}`, '', ''].join('\r\n'));
      for (let sent = 0; sent < bytes; sent += 1_000_000) {
        await new Promise<void>((resolve, reject) => {
          socket.write('x'.repeat(1_000_000), (error) => (error ? reject(error) : resolve()));
        });
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      const [answer] = (await once(socket, 'data')) as [Buffer];
      expect(String(answer)).toMatch(/^HTTP\/1\.1 413 /);
      socket.destroy();
    });

    it.each([
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/xml',
      'nonsense',
    ])('of another type are refused: %s', async (type) => {
      const response = await admin.send('POST', SCORES, JSON.stringify(RUN), { 'Content-Type': type });
      expectProblem(response, 'UNSUPPORTED_MEDIA_TYPE');
    });

    it.each([
      ['POST', '/v1/admin/boards/open/reset'],
      ['DELETE', '/v1/boards/open'],
      ['DELETE', '/v1/boards/open/players/ada'],
      ['DELETE', '/v1/admin/api-keys/none'],
    ])('are refused where none is taken: %s %s', async (method, path) => {
      const { errors } = expectProblem(await admin.send(method, path, { keep: 1, 'a/b': 2 }), 'VALIDATION_FAILED');
      expect(errors).toEqual([
        { pointer: '/keep', message: 'is not a known field' },
        { pointer: '/a~1b', message: 'is not a known field' },
      ]);
      for (const body of [[], 'null', '7', '"all"']) {
        expect(expectProblem(await admin.send(method, path, body), 'VALIDATION_FAILED').errors).toEqual([
          { pointer: '', message: 'must be empty, or {}' },
        ]);
      }
      expectProblem(await admin.send(method, path, '{"keep":'), 'MALFORMED_JSON');
      expect((await admin.get('/v1/boards/open')).status).toBe(200);
    });

    it('may be empty where none is taken, also when they are said to be JSON', async () => {
      for (const [body, headers] of [
        [undefined, {}],
        ['', JSON_TYPE],
        [{}, {}],
      ] as const) {
        await admin.makeBoard('bare');
        const sent: [unknown, Headers] = [body, { ...headers }];
        expect((await admin.send('POST', '/v1/admin/boards/bare/reset', ...sent)).status).toBe(200);
        expectProblem(await admin.send('DELETE', '/v1/boards/bare/players/ada', ...sent), 'ENTRY_NOT_FOUND');
        expect((await admin.send('DELETE', '/v1/boards/bare', ...sent)).status).toBe(204);
      }
    });

    it('that are not there are refused', async () => {
      expectProblem(await admin.post(SCORES), 'VALIDATION_FAILED');
      expectProblem(await admin.put('/v1/boards/bad'), 'VALIDATION_FAILED');
    });
  });

  describe('options that do not go together', () => {
    const decay = { family: 'x', perPatch: 0.1 };
    it.each<[string, object]>([
      ['operator', { operator: 'latest' }],
      ['windows', { windows: [{ rolling: '24h' }] }],
      ['scopes', { scopes: ['global', 'guild'] }],
      ['history', { history: {} }],
      ['change', { change: true }],
      ['limits.entriesMax', { limits: { scoreMin: 0, entriesMax: 5 } }],
      ['limits.entryLifetimeSeconds', { limits: { scoreMin: 0, entryLifetimeSeconds: 60 } }],
    ])('are refused by name: decay with %s', async (named, option) => {
      const body = { ...BOARD, limits: { scoreMin: 0 }, decay, ...option };
      const problem = expectProblem(await admin.put('/v1/boards/unfit', body), 'NOT_SUPPORTED');
      expect(problem['option']).toBe(named);
      expect((await admin.get('/v1/boards/unfit')).status).toBe(404);
    });
  });

  describe('addresses', () => {
    it.each([
      'entries?sort=asc',
      'entries?limit=0',
      'entries?limit=501',
      'entries?limit=1.5',
      'entries?limit=1e2',
      'entries?limit=',
      'entries?limit=1&limit=2',
      'entries?offset=-1',
      'entries?offset=99999999999999999999',
      'entries?window=daily&window=weekly',
      'entries?constructor=1',
      'entries?__proto__=1',
      'entries?toString=1',
      'entries?__defineGetter__=1',
      'entries?asOf=',
      'entries?asOf=yesterday',
      'entries?asOf=2026-02-30T00:00:00Z',
      'entries?asOf=2999-01-01T00:00:00Z',
      'players/ada?around=101',
      'players/ada?fallback=first',
      'rank',
      'rank?score=',
      'rank?score=ten',
      'rank?score=0x10',
      'rank?score=1e400',
      'rank?score=Infinity',
    ])('with a parameter that is wrong are refused: %s', async (path) => {
      const { errors } = expectProblem(await admin.get(`/v1/boards/open/${path}`), 'VALIDATION_FAILED');
      expect(errors![0]!.pointer).toMatch(/^\?\w+$/);
    });

    it.each([
      ['GET', '/v1/boards/open'],
      ['PUT', '/v1/boards/open'],
      ['DELETE', '/v1/boards/open'],
      ['POST', '/v1/boards/open/scores'],
      ['POST', '/v1/scores'],
      ['DELETE', '/v1/boards/open/players/ada'],
      ['POST', '/v1/admin/boards/open/reset'],
    ])('that take no parameters refuse them: %s %s', async (method, path) => {
      const body = method === 'PUT' || method === 'POST' ? {} : undefined;
      const { errors } = expectProblem(await admin.send(method, `${path}?dryRun=1`, body), 'VALIDATION_FAILED');
      expect(errors).toEqual([{ pointer: '?dryRun', message: 'is not a known parameter' }]);
    });

    it('of nothing are told so', async () => {
      for (const path of ['/v1', '/v1/board', '/v1/boards/open/nothing', '/%20', '/..%2f..%2fetc%2fpasswd']) {
        expectProblem(await admin.get(path), 'NOT_FOUND');
      }
      expectProblem(await admin.get('/v1/boards/none'), 'BOARD_NOT_FOUND');
      expectProblem(await admin.get('/v1/boards/none/entries'), 'BOARD_NOT_FOUND');
      expectProblem(await admin.post('/v1/boards/none/scores', RUN), 'BOARD_NOT_FOUND');
      expectProblem(await admin.get('/v1/boards/open/entries?window=daily'), 'WINDOW_NOT_FOUND');
      for (const window of ['%00', 'rolling:24h', 'season:s1', 'cron', 'daily:2026-02-30', '']) {
        expectProblem(await admin.get(`/v1/boards/open/entries?window=${window}`), 'WINDOW_NOT_FOUND');
      }
      for (const scope of ['region:EU', 'region', 'guild:', ':', 'country:%00', 'guilds', '']) {
        expectProblem(await admin.get(`/v1/boards/open/entries?scope=${scope}`), 'SCOPE_NOT_FOUND');
      }
      expectProblem(await admin.get('/v1/boards/open/entries?asOf=2020-01-01T00:00:00.000Z'), 'SNAPSHOT_GONE');
      expectProblem(await admin.delete('/v1/admin/api-keys/%00'), 'API_KEY_NOT_FOUND');
      expectProblem(await admin.get('/v1/admin/api-keys?cursor=%00'), 'VALIDATION_FAILED');
      const problem = expectProblem(await admin.get('/v1/boards/open/players/nobody'), 'ENTRY_NOT_FOUND');
      expect(problem['total']).toBe(0);
    });

    it.each([
      ['POST', '/v1/boards/open', ['DELETE', 'GET', 'HEAD', 'PUT']],
      ['GET', '/v1/boards/open/scores', ['POST']],
      ['PATCH', '/v1/boards/open/players/ada', ['DELETE', 'GET', 'HEAD', 'PUT']],
      ['DELETE', '/v1/scores', ['POST']],
      ['POST', '/health/ready', ['GET', 'HEAD']],
    ])('with a wrong method are told the right ones: %s %s', async (method, path, allowed) => {
      const response = await admin.send(method, path, undefined);
      expectProblem(response, 'METHOD_NOT_ALLOWED');
      expect(response.headers['allow']!.split(', ')).toEqual(allowed);
    });

    it.each(['GET', 'POST'])('with a slash too many are told that nothing is there: %s', async (method) => {
      for (const path of ['/v1/boards/', '/v1/boards/open/', '/v1/boards/open/entries/']) {
        expectProblem(await admin.send(method, path, undefined), 'NOT_FOUND');
      }
    });

    it('that are not percent-encoded UTF-8, or too long, are refused', async () => {
      const long = `/v1/boards/open/players/${'a'.repeat(385)}`;
      for (const path of ['/v1/boards/%ff', '/v1/boards/%', '/v1/boards/open/players/%E0%A4%A', long]) {
        const { status, type, problem } = await rawGet(path);
        expect({ path, status }).toEqual({ path, status: 400 });
        expect(type).toMatch(/^application\/problem\+json/);
        expect(problem).toMatchObject({ code: 'VALIDATION_FAILED', status: 400, instance: path });
      }
    });

    it('whose player cannot be one are refused', async () => {
      const ids = ['%2e', '%2E%2e', '%00', '%7F', '%ED%A0%80', 'a'.repeat(129), '%C3%A9'.repeat(65)];
      for (const id of ids) {
        const { status, problem } = await rawGet(`/v1/boards/open/players/${id}`);
        expect({ id, status, code: problem.code }).toEqual({ id, status: 400, code: 'VALIDATION_FAILED' });
      }
      for (const id of ['UPPER', '-a', 'a%20b', 'a'.repeat(65), '%2e']) {
        expect((await rawGet(`/v1/boards/${id}`)).problem.code, id).toBe('VALIDATION_FAILED');
      }
    });
  });

  it('are answered, like all others, with the type that is to be believed', async () => {
    const anonymous = new RestClient(service.url);
    for (const path of ['/v1/boards/open', '/v1/boards/open/entries', '/v1/boards', '/nothing', '/openapi.json']) {
      expect((await anonymous.get(path)).headers['x-content-type-options'], path).toBe('nosniff');
    }
    expect((await admin.post(SCORES, RUN)).headers['x-content-type-options']).toBe('nosniff');
    expect((await rawGet('/v1/boards/%ff')).sniffing).toBe('nosniff');
  });

  it('did not take the service down', async () => {
    expect((await admin.get('/health/ready')).body).toMatchObject({ status: 'ok', missing: [] });
    // Of a store that was slow it may speak; of these requests it has nothing to say.
    const lines = service.output().split('\n');
    expect(lines.filter((line) => line !== '' && !/has not answered|answers again/.test(line))).toEqual([]);
  });
});
