// Real: the built service in one process, with its PostgreSQL and Redis, WebSocket clients, and an HTTP server with a key set.
import { setTimeout as delay } from 'node:timers/promises';
import { startStandalone, type RunningStandalone } from '@laddercast/testing';
import { exportSPKI, importJWK, SignJWT, type CryptoKey } from 'jose';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { KeySetServer, newKey, sign, type IssuerKey } from '../../libs/identity/test/key-set-server.js';
import { LiveClient } from '../../libs/realtime/test/follower.js';
import { expectProblem, playerToken, RestClient } from './rest-client.js';

/** A socket may outlive its identity by two seconds (docs/operations/deploy.md); a machine that is busy takes longer. */
const SOCKET_ENDS_WITHIN_MS = 20_000;
const CLAIMS = { iss: 'https://id.example.com/', aud: 'leaderboards' };

let service: RunningStandalone;
let issuer: KeySetServer;
let rsa: IssuerKey;
let curve: IssuerKey;
let anonymous: RestClient;
let admin: RestClient;
let clients: LiveClient[] = [];

interface CreatedKey {
  keyId: string;
  secret: string;
  expiresAt: string | null;
  overlapUntil?: string | null;
}

beforeAll(async () => {
  [rsa, curve] = await Promise.all([newKey('RS256', 'rsa'), newKey('ES256', 'ec')]);
  issuer = await KeySetServer.start(rsa);
  const settings = { JWT_JWKS_URL: issuer.url, JWT_ISSUER: CLAIMS.iss, JWT_AUDIENCE: CLAIMS.aud };
  service = await startStandalone(settings);
  anonymous = new RestClient(service.url);
  admin = anonymous.as(service.adminKey);
  // From here on the set is not asked for again for half a minute, most of which the first tests take.
  await anonymous.as(await sign(rsa, CLAIMS)).get('/v1/boards');
  await admin.makeBoard('private', { visibility: 'private', submitters: 'players', push: { intervalMs: 100 } });
});
afterEach(() => {
  for (const client of clients) client.socket.terminate();
  clients = [];
});
afterAll(async () => {
  await service?.stop();
  await issuer?.leave();
});

async function makeKey(body: object = {}): Promise<CreatedKey> {
  const response = await admin.post('/v1/admin/api-keys', { name: 'k', scopes: ['read'], ...body });
  expect(response.status, response.text).toBe(201);
  return response.body as CreatedKey;
}

async function rotate(keyId: string, body: object): Promise<CreatedKey> {
  const response = await admin.post(`/v1/admin/api-keys/${keyId}/rotate`, body);
  expect(response.status, response.text).toBe(200);
  return response.body as CreatedKey;
}

const readWith = (token: string) => anonymous.as(token).get('/v1/boards/private/entries');
const detailOf = async (token: string): Promise<string> =>
  expectProblem(await readWith(token), 'UNAUTHENTICATED').detail;

/** Every read whose answer comes before that time is answered. @returns a little after it */
async function readUntil(ms: number, ...tokens: string[]): Promise<void> {
  let reads = 0;
  while (Date.now() < ms) {
    for (const token of tokens) {
      const { status, text } = await readWith(token);
      if (Date.now() >= ms) break;
      expect(status, text).toBe(200);
      reads += 1;
    }
    await delay(50);
  }
  expect(reads).toBeGreaterThan(0);
  await delay(Math.max(0, ms + 50 - Date.now()));
}

/** A socket on the private board that has had its snapshot. */
async function watch(token: string): Promise<LiveClient> {
  const url = `${service.url.replace('http', 'ws')}/v1/live`;
  const client = await LiveClient.connect(url, ['ladder.v1'], { headers: { authorization: `Bearer ${token}` } });
  clients.push(client);
  const frame = await client.ask({ type: 'subscribe', id: '1', board: 'private', channel: 'top' });
  expect(frame).toMatchObject({ type: 'snapshot' });
  return client;
}

/** Writes until the socket is closed, and for a while beyond. */
async function expectEnded(client: LiveClient, withinMs: number, detail: RegExp): Promise<void> {
  const began = performance.now();
  const write = (): Promise<unknown> =>
    admin.post('/v1/boards/private/scores', { playerId: 'ada', score: Math.floor(performance.now()) });
  while (client.closed === null && performance.now() - began < withinMs + 3000) {
    await write();
    await delay(50);
  }
  expect(client.closed?.code).toBe(4401);
  expect(performance.now() - began).toBeLessThan(withinMs);
  const frames = client.frames.length;
  for (let times = 0; times < 6; times += 1) await write().then(() => delay(50));
  expect(client.frames).toHaveLength(frames);
  const last = client.frames.at(-1)!;
  expect(last).toMatchObject({ type: 'error', problem: { code: 'UNAUTHENTICATED' } });
  expect(last.problem!.detail).toMatch(detail);
}

describe('an API key', () => {
  it('expires when it says, for requests and for sockets, and is listed so', async () => {
    const expiresAt = new Date(Date.now() + 5000).toISOString();
    const key = await makeKey({ expiresAt });
    expect(key.expiresAt).toBe(expiresAt);
    const client = await watch(key.secret);
    await readUntil(Date.parse(expiresAt), key.secret);
    // It was used a moment ago: what is remembered of it ends with it.
    expect(await detailOf(key.secret)).toBe('This API key has expired.');
    await expectEnded(client, SOCKET_ENDS_WITHIN_MS, /has expired/);
    const { keys } = (await admin.get('/v1/admin/api-keys?limit=500')).body as { keys: object[] };
    expect(keys).toContainEqual(expect.objectContaining({ keyId: key.keyId, expiresAt, revokedAt: null }));
  });

  it('stays where it is the last admin key', async () => {
    const { detail } = expectProblem(await admin.delete('/v1/admin/api-keys/bootstrap'), 'LAST_ADMIN_KEY');
    expect(detail).toContain('POST /v1/admin/api-keys');
    expect((await admin.get('/v1/admin/api-keys')).status).toBe(200);
  });

  it('that is revoked loses its sockets', async () => {
    const key = await makeKey();
    const client = await watch(key.secret);
    const other = await watch(service.adminKey);
    expect((await admin.delete(`/v1/admin/api-keys/${key.keyId}`)).status).toBe(204);
    await expectEnded(client, SOCKET_ENDS_WITHIN_MS, /was revoked/);
    expect(await detailOf(key.secret)).toBe('This API key was revoked.');
    expect(other.closed).toBeNull();
  });

  it('that is rotated goes on with both secrets for the overlap, with nobody shut out', async () => {
    const key = await makeKey();
    const client = await watch(key.secret);
    const { secret, overlapUntil, keyId } = await rotate(key.keyId, { overlapSeconds: 5 });
    expect(keyId).toBe(key.keyId);
    const newer = await watch(secret);
    await readUntil(Date.parse(overlapUntil!), key.secret, secret);
    expect(await detailOf(key.secret)).toMatch(/replaced by a rotation/);
    expect((await readWith(secret)).status).toBe(200);
    await expectEnded(client, SOCKET_ENDS_WITHIN_MS, /replaced/);
    expect(newer.closed).toBeNull();
  });

  it('that leaked is rotated without overlap, and its sockets end', async () => {
    const key = await makeKey();
    const rotated = await rotate(key.keyId, { overlapSeconds: 600 });
    const sockets = [await watch(key.secret), await watch(rotated.secret)];
    const { secret, overlapUntil } = await rotate(key.keyId, { overlapSeconds: 0 });
    expect(overlapUntil).toBeNull();
    for (const socket of sockets) await expectEnded(socket, SOCKET_ENDS_WITHIN_MS, /replaced by a rotation/);
    for (const old of [key.secret, rotated.secret]) expect(await detailOf(old)).toMatch(/replaced by a rotation/);
    expect((await readWith(secret)).status).toBe(200);
  });

  it('is refused with an end or an overlap that cannot be, and beyond the rotations that can overlap', async () => {
    const past = new Date(Date.now() - 1000).toISOString();
    const { keyId } = await makeKey();
    const make = (expiresAt: unknown) => admin.post('/v1/admin/api-keys', { name: 'k', scopes: ['read'], expiresAt });
    const turn = (body: unknown) => admin.post(`/v1/admin/api-keys/${keyId}/rotate`, body);
    for (const expiresAt of [past, 'tomorrow', 7, '2026-02-30T00:00:00Z', {}]) {
      for (const response of [await make(expiresAt), await turn({ expiresAt })]) {
        expect(expectProblem(response, 'VALIDATION_FAILED').errors![0]!.pointer).toBe('/expiresAt');
      }
    }
    for (const overlapSeconds of [-1, 2_592_001, 1.5, '60', null, 1e300]) {
      expectProblem(await turn({ overlapSeconds }), 'VALIDATION_FAILED');
    }
    for (const body of [{ secret: 'mine' }, [], '"x"', 'null']) expectProblem(await turn(body), 'VALIDATION_FAILED');
    for (let times = 0; times < 8; times += 1) await rotate(keyId, { overlapSeconds: 2_592_000 });
    expectProblem(await turn({}), 'LIMIT_REACHED');
    expect((await turn({ overlapSeconds: 0 })).status).toBe(200);
    for (const [id, code] of [
      ['none', 'API_KEY_NOT_FOUND'],
      ['%00', 'API_KEY_NOT_FOUND'],
      ['bootstrap', 'API_KEY_FIXED'],
    ] as const) {
      expectProblem(await admin.post(`/v1/admin/api-keys/${id}/rotate`, {}), code);
    }
  });
});

describe('a player’s token', () => {
  const isIn = async (token: string): Promise<boolean> => (await readWith(token)).status === 200;

  it('is taken by a key of the set and by the secret side by side, for requests and for sockets', async () => {
    const token = await sign(rsa, CLAIMS);
    const bySecret = await new SignJWT({ sub: 'ada', ...CLAIMS, exp: Math.floor(Date.now() / 1000) + 60 })
      .setProtectedHeader({ alg: 'HS256' })
      .sign(new TextEncoder().encode(service.jwtSecret));
    for (const one of [token, bySecret]) {
      expect(await isIn(one)).toBe(true);
      await watch(one);
    }
    const asAda = anonymous.as(token);
    expect((await asAda.post('/v1/boards/private/scores', { playerId: 'ada', score: 1 })).status).toBe(200);
    expectProblem(await asAda.post('/v1/boards/private/scores', { playerId: 'bob', score: 1 }), 'FORBIDDEN');
    // Without issuer and audience the secret is not enough.
    expect(await detailOf(await playerToken(service.jwtSecret, 'ada'))).toMatch(/"(iss|aud)"/);
  });

  it('ends its socket when it is over', async () => {
    const token = await sign(rsa, { ...CLAIMS, exp: Math.floor(Date.now() / 1000) + 5 });
    const client = await watch(token);
    await expectEnded(client, 5000 + SOCKET_ENDS_WITHIN_MS, /expired/);
    expect(await isIn(token)).toBe(false);
  });

  it('is refused when it is forged, whatever the way', async () => {
    const spki = await exportSPKI((await importJWK({ ...rsa.jwk, ext: true }, 'RS256')) as CryptoKey);
    const confused = await new SignJWT({ sub: 'ada', ...CLAIMS, exp: Math.floor(Date.now() / 1000) + 60 })
      .setProtectedHeader({ alg: 'HS256', kid: 'rsa' })
      .sign(Buffer.from(spki));
    const [header, payload] = (await sign(rsa, CLAIMS)).split('.') as [string, string];
    const none = Buffer.from('{"alg":"none"}').toString('base64url');
    const forged = {
      confused,
      none: `${none}.${payload}.`,
      unsigned: `${header}.${payload}.`,
      stranger: await sign(await newKey('RS256', 'rsa'), CLAIMS),
      issuer: await sign(rsa, { ...CLAIMS, iss: 'https://evil.example.com/' }),
      audience: await sign(rsa, { ...CLAIMS, aud: 'others' }),
      endless: await sign(rsa, { ...CLAIMS, exp: undefined }),
      huge: await sign(rsa, { ...CLAIMS, padding: 'x'.repeat(9000) }),
    };
    for (const [name, token] of Object.entries(forged)) {
      const response = await readWith(token);
      expect(response.status, name).toBe(401);
      expectProblem(response, 'UNAUTHENTICATED');
      expect(response.text).not.toContain(token.split('.')[2] || 'no signature');
      const url = `${service.url.replace('http', 'ws')}/v1/live`;
      const client = await LiveClient.connect(url, ['ladder.v1'], { headers: { authorization: `Bearer ${token}` } });
      clients.push(client);
      await expect.poll(() => client.closed?.code).toBe(4401);
    }
  });

  it('of a key that is new to the set is taken after half a minute at most, without a restart', async () => {
    const token = await sign(curve, { ...CLAIMS, exp: Math.floor(Date.now() / 1000) + 300 });
    expect(await isIn(token)).toBe(false);
    issuer.keys = [rsa.jwk, curve.jwk];
    const asked = issuer.asked;
    await expect.poll(() => isIn(token), { timeout: 60_000, interval: 500 }).toBe(true);
    // However often it was tried, the server was asked once.
    expect(issuer.asked).toBe(asked + 1);
  });

  it('is taken while the server of the key set is away', async () => {
    await issuer.leave();
    expect(await isIn(await sign(rsa, CLAIMS))).toBe(true);
    expect(await isIn(await sign(curve, CLAIMS))).toBe(true);
    await issuer.mend();
  });
});

it('nothing of keys, tokens or secrets is in the log', () => {
  expect(service.output()).not.toMatch(/lk_|eyJ/);
  expect(service.output()).not.toContain(service.adminKey);
});
