// Real: keys, and an HTTP server with a key set.
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { KeySetServer, newKey, type IssuerKey } from '../test/key-set-server.js';
import { SigningKeys, type SigningKeysOptions } from './signing-keys.js';

let server: KeySetServer;
let first: IssuerKey;
let second: IssuerKey;
let curve: IssuerKey;
let failures: unknown[];

beforeAll(async () => {
  [first, second, curve] = await Promise.all([newKey('RS256', 'a'), newKey('RS256', 'b'), newKey('ES256', 'a')]);
});
beforeEach(async () => {
  server = await KeySetServer.start(first, curve);
  failures = [];
});
afterEach(() => server.leave());

function signingKeys(options: Partial<SigningKeysOptions> = {}): SigningKeys {
  return new SigningKeys({ url: server.url, onFailure: (error) => failures.push(error), ...options });
}

const unavailable = { code: 'IDENTITY_UNAVAILABLE', extensions: { retryAfterSeconds: expect.any(Number) as number } };

describe('SigningKeys', () => {
  it('asks once, also for many at the same time, and finds keys by algorithm and kid together', async () => {
    const keys = signingKeys();
    const found = await Promise.all([
      keys.find('RS256', 'a'),
      keys.find('ES256', 'a'),
      keys.find('RS256', 'a'),
      keys.find('ES256', 'b'),
    ]);
    expect(server.asked).toBe(1);
    expect(found.map((key) => key?.key.algorithm.name)).toEqual([
      'RSASSA-PKCS1-v1_5',
      'ECDSA',
      'RSASSA-PKCS1-v1_5',
      undefined,
    ]);
    expect(found[0]!.id).not.toBe(found[1]!.id);
  });

  it('takes a token without kid to be of the only key of its algorithm, and of none where there are two', async () => {
    server.keys = [first.jwk, second.jwk, curve.jwk];
    const keys = signingKeys();
    expect(await keys.find('ES256', undefined)).not.toBeNull();
    expect(await keys.find('RS256', undefined)).toBeNull();
  });

  it('asks again for a key that it does not know, and no more often than it may', async () => {
    const keys = signingKeys({ askEveryMs: 300 });
    await keys.find('RS256', 'a');
    server.keys = [first.jwk, second.jwk];
    for (let token = 0; token < 50; token += 1) expect(await keys.find('RS256', `unknown ${token}`)).toBeNull();
    expect(await keys.find('RS256', 'b')).toBeNull();
    expect(server.asked).toBe(1);
    await delay(310);
    expect(await keys.find('RS256', 'b')).not.toBeNull();
    expect(server.asked).toBe(2);
  });

  it('drops a key that was taken out of the set, once what it has is old', async () => {
    const keys = signingKeys({ askEveryMs: 10, ageMaxMs: 100 });
    const { id } = (await keys.find('RS256', 'a'))!;
    server.keys = [second.jwk];
    expect(keys.holds(id)).toBe(true);
    await delay(110);
    // The one who comes upon an old set is not made to wait.
    expect(keys.holds(id)).toBe(true);
    await expect.poll(() => keys.holds(id), { interval: 5 }).toBe(false);
    expect(await keys.find('RS256', 'a')).toBeNull();
    expect(await keys.find('RS256', 'b')).not.toBeNull();
  });

  it('takes no key after a quiet time that was taken out of the set meanwhile', async () => {
    const keys = signingKeys({ askEveryMs: 10, ageMaxMs: 20 });
    await keys.find('RS256', 'a');
    server.keys = [second.jwk];
    await delay(60);
    expect(await Promise.all([keys.find('RS256', 'a'), keys.find('RS256', 'a'), keys.find('RS256', 'b')])).toEqual([
      ...[null, null],
      expect.anything(),
    ]);
    expect(server.asked).toBe(2);
  });

  it('goes on with the keys that it had while the server is away, and learns new ones when it is back', async () => {
    const keys = signingKeys({ askEveryMs: 20, ageMaxMs: 20 });
    const { id } = (await keys.find('RS256', 'a'))!;
    await server.leave();
    await delay(30);
    for (let times = 0; times < 3; times += 1) {
      expect((await keys.find('RS256', 'a'))!.id).toBe(id);
      await delay(25);
    }
    expect(failures.length).toBeGreaterThan(0);
    await expect(keys.find('RS256', 'b')).rejects.toMatchObject(unavailable);
    server.keys = [second.jwk];
    await server.mend();
    await delay(25);
    expect(await keys.find('RS256', 'b')).not.toBeNull();
  });

  it('says that it cannot tell while it never got a set, and tries again soon', async () => {
    await server.leave();
    const keys = signingKeys({ askFirstEveryMs: 50 });
    await expect(keys.find('RS256', 'a')).rejects.toMatchObject(unavailable);
    await server.mend();
    await expect(keys.find('RS256', 'a')).rejects.toMatchObject(unavailable);
    await delay(60);
    expect(await keys.find('RS256', 'a')).not.toBeNull();
  });

  it.each<[string, Exclude<KeySetServer['answer'], null>]>([
    ['hangs', () => undefined],
    ['begins and hangs', (_request, response) => void response.write('{"keys":[')],
    ['fails', (_request, response) => void response.writeHead(500).end('{"keys":[]}')],
    ['sends elsewhere', (_request, response) => void response.writeHead(302, { Location: server.url }).end()],
    ['answers with no JSON', (_request, response) => void response.end('<html>')],
    ['answers with null', (_request, response) => void response.end('null')],
    ['answers with no set', (_request, response) => void response.end('{"keys":{}}')],
    [
      'answers with too many keys',
      (_request, response) => void response.end(JSON.stringify({ keys: Array(101).fill({}) })),
    ],
    ['answers with too much', (_request, response) => void response.end(`{"keys":[],"x":"${'x'.repeat(300_000)}"}`)],
    [
      'never ends',
      (_request, response) => {
        const timer = setInterval(() => response.write(' '.repeat(50_000)), 1);
        response.on('close', () => clearInterval(timer));
      },
    ],
  ])('gives up on a server that %s, and keeps what it has', async (_what, answer) => {
    const keys = signingKeys({ timeoutMs: 200, askEveryMs: 1 });
    const { id } = (await keys.find('RS256', 'a'))!;
    server.answer = answer;
    await delay(5);
    const began = performance.now();
    await expect(keys.find('RS256', 'b')).rejects.toMatchObject(unavailable);
    expect(performance.now() - began).toBeLessThan(20_000);
    expect(failures).toHaveLength(1);
    expect((await keys.find('RS256', 'a'))!.id).toBe(id);
  });

  it('leaves out what tokens may not be signed with, and takes the rest', async () => {
    const short = { kty: 'RSA', n: Buffer.alloc(128, 0xc1).toString('base64url'), e: 'AQAB', kid: 'short' };
    const { kty, n, e } = first.jwk;
    server.keys = [
      null,
      7,
      [],
      {},
      { kty: 'oct', k: 'c2VjcmV0', kid: 'secret', alg: 'HS256' },
      { kty: 'oct', k: 'c2VjcmV0', kid: 'secret', alg: 'RS256' },
      { kty, n, e, kid: 'encrypts', use: 'enc' },
      { kty, n, e, kid: 'signs', key_ops: ['sign'] },
      { kty, n, e, kid: 'other', alg: 'PS256' },
      { kty, n, e, kid: 7 },
      { kty, n: '!', e, kid: 'broken' },
      { kty: 'EC', crv: 'P-384', x: 'AA', y: 'AA', kid: 'p384' },
      { kty: 'EC', crv: 'P-256', x: 'AA', y: 'AA', kid: 'off the curve' },
      short,
      { kty, n, e, kid: 'plain' },
    ];
    const keys = signingKeys();
    for (const kid of ['secret', 'encrypts', 'signs', 'other', 'broken', 'p384', 'off the curve', 'short']) {
      expect(await keys.find('RS256', kid), kid).toBeNull();
      expect(await keys.find('ES256', kid), kid).toBeNull();
    }
    expect(await keys.find('RS256', 'plain')).not.toBeNull();
    expect(failures).toEqual([]);
  });

  it('takes of a private key, should one be served, what is public', async () => {
    const { d: _d, ...jwk } = { ...first.jwk, d: 'AQAB' };
    server.keys = [{ ...jwk, d: 'AQAB' }];
    expect((await signingKeys().find('RS256', 'a'))!.key.type).toBe('public');
  });
});
