// Real: the built service in one process, with its PostgreSQL and Redis; keys, players' tokens and conditional requests.
import { setTimeout as delay } from 'node:timers/promises';
import { startStandalone, type RunningStandalone } from '@laddercast/testing';
import { SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectProblem, playerToken, RestClient } from './rest-client.js';

const RUN = { playerId: 'ada', score: 1 };
const WAIT = { Prefer: 'wait=10' };
const base64 = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

describe('who may do what', () => {
  let service: RunningStandalone;
  let admin: RestClient;
  let anonymous: RestClient;
  let writer: RestClient;
  let reader: RestClient;
  let ada: RestClient;

  beforeAll(async () => {
    service = await startStandalone();
    anonymous = new RestClient(service.url);
    admin = anonymous.as(service.adminKey);
    writer = anonymous.as(await admin.makeKey('scores:write'));
    reader = anonymous.as(await admin.makeKey('read'));
    ada = anonymous.as(await playerToken(service.jwtSecret, 'ada'));
    await admin.makeBoard('servers');
    await admin.makeBoard('players', { submitters: 'players' });
    await admin.makeBoard('timed', { submitters: 'players', clientTime: true });
    await admin.makeBoard('private', { visibility: 'private', submitters: 'players' });
    await admin.post('/v1/boards/private/scores', RUN, WAIT);
  });
  afterAll(() => service?.stop());

  it('asks everyone for an identity, with WWW-Authenticate', async () => {
    const calls: [string, string, unknown][] = [
      ['POST', '/v1/boards/servers/scores', RUN],
      ['POST', '/v1/boards/servers/scores', { not: 'well formed' }],
      ['POST', '/v1/scores', { submissions: [{ board: 'servers', ...RUN }] }],
      ['PUT', '/v1/boards/servers', { order: 'desc', operator: 'best' }],
      ['PUT', '/v1/boards/servers', {}],
      ['DELETE', '/v1/boards/servers', undefined],
      ['PUT', '/v1/boards/servers/players/ada', { score: 1, reason: 'x' }],
      ['DELETE', '/v1/boards/servers/players/ada', undefined],
      ['POST', '/v1/admin/boards/servers/reset', undefined],
      ['POST', '/v1/admin/api-keys', { name: 'x', scopes: ['admin'] }],
      ['GET', '/v1/admin/api-keys', undefined],
      ['DELETE', '/v1/admin/api-keys/bootstrap', undefined],
      ['GET', '/v1/boards/private', undefined],
      ['GET', '/v1/boards/private/entries', undefined],
      ['GET', '/v1/boards/private/players/ada', undefined],
      ['GET', '/v1/boards/private/rank?score=1', undefined],
      ['POST', '/v1/boards/private/lookups', { playerIds: ['ada'] }],
      ['GET', '/v1/boards/servers/players/me', undefined],
    ];
    for (const [method, path, body] of calls) {
      const response = await anonymous.send(method, path, body);
      expectProblem(response, 'UNAUTHENTICATED');
      expect(response.headers['www-authenticate'], path).toBe('Bearer');
    }
  });

  it('lets everyone read public boards, and what describes the service', async () => {
    for (const path of ['/v1/boards/servers', '/v1/boards/servers/entries', '/v1/boards/servers/rank?score=1']) {
      expect((await anonymous.get(path)).status, path).toBe(200);
    }
    for (const path of ['/', '/docs', '/openapi.json', '/asyncapi.json', '/health/live', '/health/ready']) {
      expect((await anonymous.get(path)).status, path).toBe(200);
    }
  });

  it('refuses what is no identity, even where none is needed', async () => {
    for (const authorization of [
      '',
      'Bearer',
      'Bearer ',
      'Basic YTpi',
      'Bearer a b',
      service.adminKey,
      'Bearer lk_wrong',
    ]) {
      const response = await anonymous.get('/v1/boards/servers/entries', { Authorization: authorization });
      expectProblem(response, 'UNAUTHENTICATED');
    }
  });

  it('lists the public boards to everyone, and the private ones to those who may read them', async () => {
    const listed = async (client: typeof anonymous): Promise<string[]> => {
      const { boards } = (await client.get('/v1/boards')).body as { boards: { id: string; visibility: string }[] };
      return boards.map(({ id }) => id);
    };
    for (const client of [anonymous, writer]) {
      expect(await listed(client)).toContain('servers');
      expect(await listed(client)).not.toContain('private');
    }
    for (const client of [reader, ada])
      expect(await listed(client)).toEqual(expect.arrayContaining(['private', 'servers']));
    const first = (await anonymous.get('/v1/boards?limit=1')).body as { boards: object[]; next: string | null };
    expect(first.boards).toHaveLength(1);
  });

  it('gives each key its scopes and no more', async () => {
    expect((await writer.post('/v1/boards/servers/scores', RUN)).status).toBe(200);
    expectProblem(await reader.post('/v1/boards/servers/scores', RUN), 'FORBIDDEN');
    const batch = await reader.post('/v1/scores', { submissions: [{ board: 'servers', ...RUN }] });
    expect(batch.body).toMatchObject({ results: [{ problem: { code: 'FORBIDDEN' } }] });
    expect((await reader.get('/v1/boards/private/entries')).status).toBe(200);
    expectProblem(await writer.get('/v1/boards/private/entries'), 'FORBIDDEN');
    expectProblem(await writer.get('/v1/boards/private'), 'FORBIDDEN');
    for (const client of [writer, reader, ada]) {
      expectProblem(await client.put('/v1/boards/servers', { order: 'asc', operator: 'best' }), 'FORBIDDEN');
      expectProblem(await client.delete('/v1/boards/servers'), 'FORBIDDEN');
      expectProblem(await client.delete('/v1/boards/servers/players/ada'), 'FORBIDDEN');
      expectProblem(await client.put('/v1/boards/servers/players/ada', { score: 9, reason: 'x' }), 'FORBIDDEN');
      expectProblem(await client.post('/v1/admin/boards/servers/reset'), 'FORBIDDEN');
      expectProblem(await client.post('/v1/admin/api-keys', { name: 'x', scopes: ['admin'] }), 'FORBIDDEN');
      expectProblem(await client.get('/v1/admin/api-keys'), 'FORBIDDEN');
    }
  });

  it('refuses keys that are wrong, and never lists a secret', async () => {
    for (const body of [
      { name: '', scopes: ['read'] },
      { name: 'x', scopes: [] },
      { name: 'x', scopes: ['root'] },
      { name: 'x' },
    ]) {
      expectProblem(await admin.post('/v1/admin/api-keys', body), 'VALIDATION_FAILED');
    }
    const made = (await admin.post('/v1/admin/api-keys', { name: 'listed', scopes: ['read'] })).body as {
      keyId: string;
      secret: string;
    };
    const listed = await admin.get('/v1/admin/api-keys?limit=500');
    expect(listed.text).toContain(made.keyId);
    expect(listed.text).not.toContain(made.secret);
    expect(listed.text).not.toContain('secret');
  });

  it('stops a revoked key within two seconds', async () => {
    const key = (await admin.post('/v1/admin/api-keys', { name: 'gone', scopes: ['read'] })).body as {
      keyId: string;
      secret: string;
    };
    const client = anonymous.as(key.secret);
    expect((await client.get('/v1/boards')).status).toBe(200);
    expect((await admin.delete(`/v1/admin/api-keys/${key.keyId}`)).status).toBe(204);
    await expect.poll(async () => (await client.get('/v1/boards')).status).toBe(401);
    expectProblem(await client.get('/v1/boards'), 'UNAUTHENTICATED');
    expectProblem(await admin.delete(`/v1/admin/api-keys/${key.keyId}`), 'API_KEY_NOT_FOUND');
  });

  describe('a player with a token', () => {
    it('submits for itself, where players may, and reads itself as me', async () => {
      const answer = await ada.post('/v1/boards/players/scores', { playerId: 'ada', score: 3 }, WAIT);
      expect(answer.status, answer.text).toBe(200);
      expect((await ada.get('/v1/boards/players/players/me')).body).toMatchObject({
        entry: { playerId: 'ada', score: 3 },
      });
      expectProblem(await ada.post('/v1/boards/players/scores', { playerId: 'bob', score: 3 }), 'FORBIDDEN');
      expectProblem(await ada.post('/v1/boards/players/scores', { playerId: 'me', score: 3 }), 'VALIDATION_FAILED');
      expectProblem(await ada.post('/v1/boards/servers/scores', RUN), 'FORBIDDEN');
      expect((await ada.get('/v1/boards/private/entries')).status).toBe(200);
      expect((await ada.get('/v1/boards')).status).toBe(200);
    });

    it('is the only one that is me: a key is told to name a player, and nobody to say who it is', async () => {
      for (const path of [
        '/v1/boards/players/players/me',
        '/v1/boards/players/entries?aroundPlayer=me',
        '/v1/boards/players/friends/me',
        '/v1/players/me',
        '/v1/players/me/standings',
      ]) {
        expect(expectProblem(await admin.get(path), 'NOT_A_PLAYER').detail, path).toMatch(/by its id/);
        expectProblem(await anonymous.get(path), 'UNAUTHENTICATED');
      }
      expectProblem(await writer.put('/v1/players/me', {}), 'NOT_A_PLAYER');
    });

    it('names its own time only where the board lets it', async () => {
      const run = { ...RUN, achievedAt: new Date(Date.now() - 5000).toISOString() };
      expectProblem(await ada.post('/v1/boards/players/scores', run), 'ACHIEVED_AT_REFUSED');
      expect((await ada.post('/v1/boards/timed/scores', run)).status).toBe(200);
      expect((await writer.post('/v1/boards/players/scores', run)).status).toBe(200);
    });

    it('has submission ids of its own', async () => {
      const bob = anonymous.as(await playerToken(service.jwtSecret, 'bob'));
      const of = (playerId: string): object => ({ playerId, score: 9, submissionId: 'mine' });
      expect((await ada.post('/v1/boards/players/scores', of('ada'))).body).toMatchObject({ replayed: false });
      expect((await bob.post('/v1/boards/players/scores', of('bob'))).body).toMatchObject({ replayed: false });
    });

    it('is not let in with a token that is over, forged, unsigned or nobody’s', async () => {
      const over = await playerToken(service.jwtSecret, 'ada', -1);
      const forged = await playerToken('another secret of thirty-two bytes', 'ada');
      const exp = Math.floor(Date.now() / 1000) + 60;
      const sign = (claims: object, algorithm = 'HS256'): Promise<string> =>
        new SignJWT({ ...claims })
          .setProtectedHeader({ alg: algorithm })
          .sign(new TextEncoder().encode(service.jwtSecret));
      const [header, payload, signature] = (await sign({ sub: 'ada', exp })).split('.') as [string, string, string];
      expect((await anonymous.as(`${header}.${payload}.${signature}`).get('/v1/boards')).status).toBe(200);
      const tokens = {
        over,
        forged,
        none: `${base64({ alg: 'none' })}.${payload}.`,
        noneWithSignature: `${base64({ alg: 'none' })}.${payload}.${signature}`,
        anotherPlayer: `${header}.${base64({ sub: 'bob', exp })}.${signature}`,
        cut: `${header}.${payload}.${signature.slice(0, -2)}`,
        noSignature: `${header}.${payload}.`,
        anotherAlgorithm: await sign({ sub: 'ada', exp }, 'HS512'),
        endless: await sign({ sub: 'ada' }),
        notYet: await sign({ sub: 'ada', exp, nbf: exp - 1 }),
        nobody: await sign({ exp }),
        me: await sign({ sub: 'me', exp }),
        tooLong: await sign({ sub: 'a'.repeat(129), exp }),
        number: await sign({ sub: 7 as never, exp }),
        garbage: 'a.b.c',
      };
      for (const [name, token] of Object.entries(tokens)) {
        const response = await anonymous.as(token).get('/v1/boards/servers/entries');
        expect(response.status, name).toBe(401);
        expectProblem(response, 'UNAUTHENTICATED');
        expect(response.text).not.toContain(token);
      }
    });

    it('is out once its token is over, also when it was just seen', async () => {
      const brief = anonymous.as(await playerToken(service.jwtSecret, 'ada', 5));
      expect((await brief.get('/v1/boards')).status).toBe(200);
      await delay(5100);
      expectProblem(await brief.get('/v1/boards'), 'UNAUTHENTICATED');
    });
  });

  describe('conditional requests', () => {
    it('replace a board only while it is the one that was read', async () => {
      await admin.makeBoard('tagged');
      const tag = (await admin.get('/v1/boards/tagged')).headers['etag']!;
      const body = { order: 'desc', operator: 'best', title: 'One' };
      const first = await admin.put('/v1/boards/tagged', body, { 'If-Match': tag });
      expect(first.status).toBe(200);
      expect(first.headers['etag']).not.toBe(tag);
      expectProblem(
        await admin.put('/v1/boards/tagged', { ...body, title: 'Two' }, { 'If-Match': tag }),
        'PRECONDITION_FAILED',
      );
      expectProblem(await admin.put('/v1/boards/not-there', body, { 'If-Match': '*' }), 'PRECONDITION_FAILED');
      expect((await admin.get('/v1/boards/tagged')).body).toMatchObject({ title: 'One' });
    });

    it('delete a board only while it is the one that was read', async () => {
      await admin.makeBoard('leaving');
      const tag = (await admin.get('/v1/boards/leaving')).headers['etag']!;
      await admin.put('/v1/boards/leaving', { order: 'desc', operator: 'best', title: 'Stays' });
      expectProblem(await admin.delete('/v1/boards/leaving', { 'If-Match': tag }), 'PRECONDITION_FAILED');
      const read = await admin.get('/v1/boards/leaving');
      expect(read.body).toMatchObject({ title: 'Stays' });
      expect((await admin.delete('/v1/boards/leaving', { 'If-Match': read.headers['etag']! })).status).toBe(204);
      expect((await admin.get('/v1/boards/leaving')).status).toBe(404);
    });

    it('create a board only where there is none', async () => {
      const body = { order: 'desc', operator: 'best', title: 'First' };
      const onlyNew = { 'If-None-Match': '*' };
      expect((await admin.put('/v1/boards/only-once', body, onlyNew)).status).toBe(201);
      const again = await admin.put('/v1/boards/only-once', { ...body, title: 'Second' }, onlyNew);
      expectProblem(again, 'PRECONDITION_FAILED');
      expect((await admin.get('/v1/boards/only-once')).body).toMatchObject({ title: 'First' });
      expectProblem(await admin.put('/v1/boards/only-once', body, { 'If-None-Match': '"1-1"' }), 'VALIDATION_FAILED');
    });

    it('put back exactly what was read, which changes nothing', async () => {
      await admin.makeBoard('mirror', { columns: [{ name: 'moves', order: 'asc' }], limits: { scoreMin: 0 } });
      const read = await admin.get('/v1/boards/mirror');
      const put = await admin.put('/v1/boards/mirror', read.body, { 'If-Match': read.headers['etag']! });
      expect(put.status, put.text).toBe(200);
      expect(put.body).toEqual(read.body);
      expect(put.headers['etag']).toBe(read.headers['etag']);
    });

    it('answer HEAD with the headers of GET', async () => {
      await admin.makeBoard('headed');
      for (const path of ['', '/entries', '/players/ada?fallback=last', '/rank?score=5']) {
        const url = `/v1/boards/headed${path}`;
        const got = await anonymous.get(url);
        const head = await anonymous.send('HEAD', url, undefined);
        expect(head.status).toBe(200);
        for (const header of ['etag', 'cache-control', 'vary', 'content-type', 'content-length']) {
          expect({ url, header, value: head.headers[header] as unknown }).toEqual({
            url,
            header,
            value: got.headers[header] as unknown,
          });
        }
        expect(head.headers['etag'], url).toBeDefined();
        const same = await anonymous.send('HEAD', url, undefined, { 'If-None-Match': got.headers['etag']! });
        expect(same.status, url).toBe(304);
      }
    });

    it('answer 304 without a body while nothing changed, and the list again when it did', async () => {
      await admin.makeBoard('watched');
      const paths = ['', '/entries', '/players/ada?fallback=last', '/rank?score=5'];
      for (const path of paths) {
        const url = `/v1/boards/watched${path}`;
        const tag = (await anonymous.get(url)).headers['etag']!;
        for (const header of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
          const response = await anonymous.get(url, { 'If-None-Match': header });
          expect(response.status, `${url} ${header}`).toBe(304);
          expect(response.text).toBe('');
          expect(response.headers['etag']).toBe(tag);
        }
        expect((await anonymous.get(url, { 'If-None-Match': '"other"' })).status).toBe(200);
      }
      const before = (await anonymous.get('/v1/boards/watched/players/ada?fallback=last')).headers['etag']!;
      await admin.post('/v1/boards/watched/scores', RUN, WAIT);
      const after = await anonymous.get('/v1/boards/watched/players/ada?fallback=last', { 'If-None-Match': before });
      expect(after.status).toBe(200);
    });

    it('let caches keep only what everyone may see', async () => {
      await admin.makeBoard('fast', { push: { intervalMs: 100 } });
      const cacheControl = async (client: RestClient, board: string): Promise<string> =>
        (await client.get(`/v1/boards/${board}/entries`)).headers['cache-control']!;
      expect(await cacheControl(anonymous, 'servers')).toBe('public, max-age=1');
      expect(await cacheControl(reader, 'servers')).toBe('no-cache');
      expect(await cacheControl(reader, 'private')).toBe('no-cache');
      expect(await cacheControl(anonymous, 'fast')).toBe('no-cache');
    });
  });
});
