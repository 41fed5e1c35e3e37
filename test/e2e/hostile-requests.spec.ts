// Real: the built service in one process, PostgreSQL, Redis; requests that mean harm, byte for byte as they stand here.
import { connect } from 'node:net';
import { startStandalone, type RunningStandalone } from '@laddercast/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { expectProblem, RestClient } from './rest-client.js';

/** Some milliseconds where nothing else runs; what a bomb costs that goes off is minutes, or the process. */
const ANSWERED_WITHIN_MS = 15_000;
const nested = (open: string, close: string, depth: number): string => `${open.repeat(depth)}1${close.repeat(depth)}`;
const manyKeys = (count: number): string => Array.from({ length: count }, (_, i) => `"k${i}":0`).join();

let service: RunningStandalone;
let admin: RestClient;

beforeAll(async () => {
  service = await startStandalone();
  admin = new RestClient(service.url, service.adminKey);
  await admin.makeBoard('board', { scopes: ['global', 'region', { attribute: 'country' }] });
  const run = { playerId: 'ada', score: 1 };
  expect((await admin.post('/v1/boards/board/scores', run, { Prefer: 'wait=10' })).status).toBe(200);
});
afterAll(() => service?.stop());

afterEach(async () => {
  const { status, body } = await admin.get('/v1/boards/board/entries');
  expect(status).toBe(200);
  expect((body as { entries: object[] }).entries).toMatchObject([{ playerId: 'ada', score: 1, rank: 1 }]);
  expect(service.output()).not.toMatch(/request failed/);
});

/** Sends bytes, and resolves with the status of the answer and its body. */
function exchange(bytes: string | Buffer): Promise<{ status: number; type: string; body: string }> {
  const { hostname, port } = new URL(service.url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    let answer = '';
    socket.setTimeout(30_000, () => socket.destroy(new Error('no answer')));
    socket.on('data', (chunk: Buffer) => (answer += chunk.toString()));
    socket.on('error', reject);
    socket.on('close', () => {
      const [head = '', body = ''] = answer.split('\r\n\r\n');
      const status = Number(/^HTTP\/1\.1 (\d+) /.exec(head)?.[1]);
      resolve({ status, type: /^content-type: (.*)$/im.exec(head)?.[1] ?? '', body });
    });
    socket.write(bytes);
  });
}

const get = (path: string, ...headers: string[]): Promise<{ status: number; type: string; body: string }> => {
  const lines = [`GET ${path} HTTP/1.1`, 'Host: x', `Authorization: Bearer ${service.adminKey}`, 'Connection: close'];
  return exchange([...lines, ...headers, '', ''].join('\r\n'));
};

describe('addresses', () => {
  it.each([
    '/v1/boards/board/players/%00',
    '/v1/boards/board/players/a%00b',
    '/v1/boards/board/players/%0d%0aX-Injected:1',
    '/v1/boards/board/players/%2e',
    '/v1/boards/board/players/%2e%2e',
    '/v1/boards/board/players/%c0%ae%c0%ae',
    '/v1/boards/board/players/%e0%80%af',
    '/v1/boards/board/players/%ed%a0%80',
    '/v1/boards/board/players/%f5%80%80%80',
    '/v1/boards/board/players/%',
    '/v1/boards/board/players/%u0041',
    `/v1/boards/board/players/${'%F0%9F%8F%86'.repeat(33)}`,
    `/v1/boards/board/players/${'x'.repeat(129)}`,
    '/v1/boards/%2e%2e/entries',
    '/v1/boards/board%2Fplayers%2Fada',
    '/v1/boards/board%00/entries',
    "/v1/boards/board';--/entries",
    '/v1/boards/__proto__/entries',
    '/v1/boards/board/entries?window=%00',
    '/v1/boards/board/entries?window=constructor',
    "/v1/boards/board/entries?window=alltime'--",
    '/v1/boards/board/entries?scope=region:%00',
    '/v1/boards/board/entries?scope=__proto__:x',
    '/v1/boards/board/entries?cursor=%00',
    '/v1/boards/board/entries?cursor=__proto__',
    '/v1/boards/board/entries?aroundPlayer=%00',
    '/v1/boards/board/entries?limit[]=1',
    '/v1/boards/board/entries?limit=1e2',
    '/v1/boards/board/entries?limit=0x10',
    '/v1/boards/board/entries?offset=-0.5',
    '/v1/boards/board/entries?__proto__[polluted]=1',
    '/v1/boards/board/entries?constructor.prototype.polluted=1',
    '/v1/boards/board/entries?asOf=%2B275760-09-13T00:00:00Z',
    '/v1/boards/board/entries?asOf=0000-00-00T00:00:00Z',
    '/v1/boards/board/rank?score=1e400',
    '/v1/boards/board/rank?score=NaN',
    '/v1/boards/board/rank?score=1&columns.__proto__=1',
    '/v1/boards/board/percentiles?at=1e400',
    `/v1/boards/board/percentiles?at=${'50,'.repeat(1000)}50`,
    '/v1/boards?cursor=%00',
    '/v1/admin/api-keys?cursor=%00',
    "/v1/guilds/'%3B%20DROP%20TABLE%20guilds/members",
    '/v1/guilds/%00/members',
    '/v1/players/%00/standings',
    '/v1/circles/%00/members',
    '//v1/boards',
    '/v1/boards/board/../../../../etc/passwd',
    '/docs/../../../../etc/passwd',
    '/docs/%2e%2e%2f%2e%2e%2fpackage.json',
    'http://elsewhere/v1/boards/none',
    '*',
  ])('that are no good are refused with a problem, at once: %s', async (path) => {
    const startedMs = Date.now();
    const { status, type, body } = await get(path);
    expect(Date.now() - startedMs).toBeLessThan(ANSWERED_WITHIN_MS);
    expect(status, body).toBeGreaterThanOrEqual(400);
    expect(status, body).toBeLessThan(500);
    expect(type).toMatch(/^application\/problem\+json/);
    expect(body).not.toMatch(/node_modules|\.js:\d|root:/);
  });

  it.each([
    ['no HTTP at all', '\x16\x03\x01\x02\x00\x01\x00'],
    ['a header without end', `GET / HTTP/1.1\r\nX: ${'x'.repeat(40_000)}`],
    ['two lengths', 'POST /v1/scores HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}'],
    [
      'a length and chunks',
      'POST /v1/scores HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    ['a length below zero', 'POST /v1/scores HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n'],
    ['a line feed in a header', 'GET / HTTP/1.1\r\nHost: x\r\nA: b\nc\r\n\r\n'],
    ['a NUL in a header', 'GET / HTTP/1.1\r\nHost: x\r\nA: \0\r\n\r\n'],
    ['a space in the address', 'GET /v1/boards/a b HTTP/1.1\r\nHost: x\r\n\r\n'],
  ])('and heads that are no HTTP are refused with a problem: %s', async (_what, bytes) => {
    const { status, type, body } = await exchange(bytes);
    expect([400, 431]).toContain(status);
    expect(type).toMatch(/^application\/problem\+json/);
    expect(JSON.parse(body)).toMatchObject({ status, code: expect.stringMatching(/^[A-Z_]+$/) as string });
  });
});

describe('bytes that are not UTF-8', () => {
  const put = (method: string, path: string, body: Buffer): Promise<{ status: number; body: string }> => {
    const head = [`${method} ${path} HTTP/1.1`, 'Host: x', `Authorization: Bearer ${service.adminKey}`];
    head.push(
      'Connection: close',
      'Prefer: wait=10',
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
      '',
      '',
    );
    return exchange(Buffer.concat([Buffer.from(head.join('\r\n')), body]));
  };
  const problemOf = ({ status, body }: { status: number; body: string }): object => ({
    status,
    ...(JSON.parse(body) as object),
  });

  it.each([
    ['POST', '/v1/boards/board/scores', '{"playerId":"<>","score":7}'],
    ['POST', '/v1/scores', '{"submissions":[{"board":"board","playerId":"<>","score":7}]}'],
    ['PUT', '/v1/boards/bytes', '{"order":"desc","operator":"best","title":"<>"}'],
    ['PUT', '/v1/players/eve', '{"displayName":"<>"}'],
    ['POST', '/v1/boards/board/lookups', '{"playerIds":["<>"]}'],
  ])('are refused in bodies, and no two players become one: %s %s', async (method, path, json) => {
    const [before, after] = json.split('<>').map((text) => Buffer.from(text));
    for (const bytes of [[0xff], [0xfe], [0xc3], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80]]) {
      const answer = await put(method, path, Buffer.concat([before!, Buffer.from(bytes), after!]));
      expect(problemOf(answer)).toMatchObject({
        status: 400,
        code: 'MALFORMED_JSON',
        detail: expect.stringMatching(/UTF-8/) as string,
      });
    }
    expect((await put(method, path, Buffer.from(json.replace('<>', 'é😀')))).status).toBeLessThan(300);
    if (path.endsWith('bytes')) expect((await admin.delete(path)).status).toBe(204);
    if (!path.endsWith('scores')) return;
    expect((await admin.delete('/v1/boards/board/players/é😀')).status).toBe(200);
    const total = async (): Promise<number> =>
      ((await admin.get('/v1/boards/board/entries')).body as { total: number }).total;
    await expect.poll(total).toBe(1);
  });

  it.each([
    '/v1/boards/board/players/%ff',
    '/v1/boards/board/entries?aroundPlayer=%ff',
    '/v1/boards/board/entries?aroundPlayer=%c3',
    '/v1/boards/board/entries?aroundPlayer=%',
    '/v1/boards/board/entries?scope=region:%fe',
    '/v1/boards/board/entries?%ff=1',
  ])('are refused in addresses, and not taken for their own percent signs: %s', async (path) => {
    expect(problemOf(await get(path))).toMatchObject({
      status: 400,
      code: 'VALIDATION_FAILED',
      detail: expect.stringMatching(/UTF-8/) as string,
    });
  });

  it('are refused in addresses without percent signs, too', async () => {
    for (const bytes of [[0xff], [0xc3, 0xa9]]) {
      for (const path of ['/v1/boards/board/players/', '/v1/boards/board/entries?scope=region:']) {
        const head = [Buffer.from(`GET ${path}`), Buffer.from(bytes), Buffer.from(' HTTP/1.1\r\nHost: x\r\n\r\n')];
        const answer = await exchange(Buffer.concat(head));
        expect(problemOf(answer)).toMatchObject({ status: 400, code: 'VALIDATION_FAILED' });
      }
    }
    expect((await get('/v1/boards/board/entries?scope=region:%C3%A9+%25ff')).status).toBe(200);
  });
});

describe('bodies', () => {
  const BOMBS: [string, string][] = [
    ['nested arrays', nested('[', ']', 900_000)],
    ['nested objects', nested('{"a":', '}', 300_000)],
    ['nested in a field', `{"playerId":"eve","score":1,"metadata":${nested('{"a":', '}', 300_000)}}`],
    ['a hundred thousand keys', `{${manyKeys(100_000)}}`],
    ['a hundred thousand keys of metadata', `{"playerId":"eve","score":1,"metadata":{${manyKeys(100_000)}}}`],
    ['one key a hundred thousand times', `{${'"a":1,'.repeat(100_000)}"b":1}`],
    ['a huge array', `[${'0,'.repeat(900_000)}0]`],
    ['an array of nulls', `{"submissions":[${'null,'.repeat(300_000)}null]}`],
    ['a number of a million digits', `{"playerId":"eve","score":${'9'.repeat(1_000_000)}}`],
    ['a fraction of a million digits', `{"playerId":"eve","score":"${'0.'.padEnd(1_000_000, '3')}"}`],
    ['an id of a megabyte', `{"playerId":"${'x'.repeat(1_000_000)}","score":1}`],
    ['unclosed text', `{"playerId":"${'\\u0000'.repeat(300_000)}`],
    ['numbers as names', `{"playerId":"eve","score":1,"columns":{${manyKeys(50_000)}}}`],
  ];
  const ROUTES: [string, string][] = [
    ['POST', '/v1/boards/board/scores'],
    ['POST', '/v1/scores'],
    ['PUT', '/v1/boards/bomb'],
    ['PUT', '/v1/players/eve'],
    ['PUT', '/v1/guilds/bomb'],
    ['POST', '/v1/boards/board/lookups'],
    ['POST', '/v1/admin/api-keys'],
    ['POST', '/v1/admin/boards/board/reset'],
  ];

  it.each(ROUTES)('that are bombs are refused at once: %s %s', async (method, path) => {
    for (const [name, bomb] of BOMBS) {
      const startedMs = Date.now();
      const response = await admin.send(method, path, bomb);
      expect(Date.now() - startedMs, name).toBeLessThan(ANSWERED_WITHIN_MS);
      expect(response.status, `${name}: ${response.text.slice(0, 200)}`).toBeGreaterThanOrEqual(400);
      expect(response.status, `${name}: ${response.text.slice(0, 200)}`).toBeLessThan(500);
      expect(response.text.length, name).toBeLessThan(256 * 1024);
    }
  });

  it.each([
    ['PUT', '/v1/players/eve', '{"attributes":{"__proto__":{"polluted":1}}}'],
    ['PUT', '/v1/players/eve', '{"attributes":{"constructor":{"prototype":{"polluted":"1"}}}}'],
    ['PUT', '/v1/players/eve', '{"attributes":{"__proto__":"1"}}'],
    ['PUT', '/v1/players/eve', '{"__proto__":{"listed":false}}'],
    ['PUT', '/v1/boards/pollute', '{"order":"desc","operator":"best","__proto__":{"visibility":"private"}}'],
    ['PUT', '/v1/boards/pollute', '{"order":"desc","operator":"best","limits":{"constructor":{"prototype":{}}}}'],
    ['PUT', '/v1/boards/pollute', '{"order":"desc","operator":"best","columns":[{"name":"__proto__","order":"asc"}]}'],
    ['PUT', '/v1/boards/pollute', '{"order":"desc","operator":"best","scopes":["global",{"attribute":"__proto__"}]}'],
    ['PUT', '/v1/boards/pollute', '{"order":"desc","operator":"best","windows":[{"season":"__proto__"}]}'],
    ['POST', '/v1/boards/board/lookups', '{"playerIds":["ada"],"constructor":{"prototype":{"polluted":1}}}'],
    ['POST', '/v1/admin/api-keys', '{"name":"x","scopes":["read"],"__proto__":{"scopes":["admin"]}}'],
    ['POST', '/v1/admin/api-keys', '{"name":"x","scopes":["__proto__"]}'],
    ['PUT', '/v1/boards/board/players/eve', '{"score":1,"reason":"x","columns":{"__proto__":1}}'],
  ])('that would change what every object has are refused: %s %s %s', async (method, path, body) => {
    const response = await admin.send(method, path, body);
    expect([400, 422], response.text).toContain(response.status);
  });

  it('keep names that every object has where names are free, as they came', async () => {
    // The others that every object has are of letters that no attribute has.
    const attributes = { constructor: 'a' };
    for (const name of ['toString', 'hasOwnProperty', 'valueOf']) {
      expectProblem(await admin.put('/v1/players/eve', { attributes: { [name]: 'b' } }), 'VALIDATION_FAILED');
    }
    const put = await admin.put('/v1/players/eve', { attributes });
    expect(put.status, put.text).toBe(200);
    expect((await admin.get('/v1/players/eve')).body as object).toMatchObject({ attributes });
    await admin.makeBoard('named', { columns: [{ name: 'constructor', order: 'asc' }] });
    const run = '{"playerId":"eve","score":1,"columns":{"constructor":7},"metadata":{"toString":1}}';
    const answer = await admin.send('POST', '/v1/boards/named/scores', run);
    // Fastify refuses a "constructor" that holds a "prototype", and takes others.
    expect(answer.status, answer.text).toBe(200);
    await expect
      .poll(async () => (await admin.get('/v1/boards/named/players/eve')).body as object)
      .toMatchObject({ entry: { columns: { constructor: 7 }, metadata: { toString: 1 } } });
  });

  it.each([
    '* * * * * *',
    '*/0 * * * *',
    '60 * * * *',
    '0 0 30 2 *',
    '0-999999999 * * * *',
    `${'0,'.repeat(100_000)}0 * * * *`,
    '@reboot',
    '0 0 * * MON#9',
    '\u0000 * * * *',
    '1e1 * * * *',
    '-1 * * * *',
    '__proto__ * * * *',
    '; rm -rf / * * *',
  ])('with a cron that is none are refused at once: %j', async (cron) => {
    const startedMs = Date.now();
    const response = await admin.put('/v1/boards/cron', { order: 'desc', operator: 'best', windows: [{ cron }] });
    expect(Date.now() - startedMs).toBeLessThan(ANSWERED_WITHIN_MS);
    expect(response.status, response.text).toBe(400);
  });

  it.each([
    '../../etc/passwd',
    "UTC'; DROP TABLE boards; --",
    'UTC\0',
    'Europe/Berlin\n',
    '__proto__',
    'constructor',
    'UTC+25',
    'localtime',
    '\u202eCTU',
    '',
    ' ',
    'Etc/GMT+99',
    'x'.repeat(64),
  ])('with a time zone that is none are refused: %j', async (timeZone) => {
    const response = await admin.put('/v1/boards/zone', { order: 'desc', operator: 'best', timeZone });
    expect(response.status, response.text).toBe(400);
  });

  it('that were refused have left nothing in what every object has, here or in any answer', async () => {
    const answers = await Promise.all(
      ['/v1/boards', '/v1/boards/board', '/v1/boards/board/entries', '/v1/admin/api-keys'].map((path) =>
        admin.get(path),
      ),
    );
    for (const { text, status } of answers) {
      expect(status).toBe(200);
      expect(text).not.toContain('polluted');
    }
    const { boards } = answers[0]!.body as { boards: { id: string }[] };
    expect(boards.map(({ id }) => id).sort()).toEqual(['board', 'named']);
  });
});
