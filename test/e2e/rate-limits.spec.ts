// Real: the built service, two api processes, with PostgreSQL and Redis; who is counted by what, and what it is told.
import { setTimeout as delay } from 'node:timers/promises';
import {
  createTestDatabase,
  emptyTestRedis,
  freePort,
  newInstallation,
  openTcpProxy,
  startApp,
  type Installation,
  type RunningApp,
  type TcpProxy,
} from '@laddercast/testing';
import type { Response } from 'supertest';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { expectProblem, playerToken, RestClient } from './rest-client.js';

const PROCESSES = 2;
const RATES = {
  RATE_LIMIT_KEY_PER_SECOND: '20',
  RATE_LIMIT_PLAYER_PER_SECOND: '1',
  RATE_LIMIT_ADDRESS_PER_SECOND: '1',
  RATE_LIMIT_FAILED_IDENTITY_PER_SECOND: '1',
  RATE_LIMIT_WINDOW_SECONDS: '20',
  TRUSTED_PROXIES: '127.0.0.1',
  // Nobody is there: of tokens that are signed by a key of this set nothing can be said.
  JWT_JWKS_URL: 'http://127.0.0.1:9/keys',
};
/** Buckets of 20 that fill slowly, so that a slow machine changes nothing; of keys 400. */
const BUCKET = 20;
const statusesOf = async (calls: Promise<{ status: number }>[]): Promise<Record<number, number>> => {
  const counts: Record<number, number> = {};
  for (const { status } of await Promise.all(calls)) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
};

describe('rate limits', () => {
  let installation: Installation;
  let database: { url: string; drop(): Promise<void> };
  let apps: RunningApp[];
  let metricsPort: number;
  let wire: TcpProxy;
  let admin: RestClient;
  let clients: RestClient[];
  let address = 0;
  /** An address that nobody had before. */
  let from: { 'X-Forwarded-For': string };

  beforeAll(async () => {
    database = await createTestDatabase();
    const redisUrl = new URL(await emptyTestRedis());
    wire = await openTcpProxy(redisUrl.hostname, Number(redisUrl.port));
    redisUrl.host = `127.0.0.1:${wire.port}`;
    const made = newInstallation(database.url, redisUrl.href);
    installation = { ...made, settings: RATES };
    metricsPort = await freePort();
    apps = [
      await startApp('api', installation, { port: await freePort(), metricsPort }),
      await startApp('api', installation),
    ];
    clients = apps.map(({ url }) => new RestClient(url));
    admin = clients[0]!.as(installation.adminKey);
    await admin.makeBoard('open', { submitters: 'players' });
  });
  afterAll(async () => {
    for (const app of apps ?? []) await app.stop();
    await wire?.close();
    await database?.drop();
  });
  beforeEach(() => {
    address += 1;
    from = { 'X-Forwarded-For': `203.0.113.${address}` };
  });

  const read = (client: RestClient, headers: Record<string, string> = from) =>
    client.get('/v1/boards/open/entries', headers);
  const player = async (name: string): Promise<string> => playerToken(installation.jwtSecret, name);

  /** The refusal among some calls side by side: of an empty bucket one of them may find what filled just now. */
  const refusalOf = async (call: () => Promise<Response>): Promise<Response> => {
    const answers = await Promise.all([call(), call(), call()]);
    const refused = answers.find(({ status }) => status === 429);
    expect(refused, answers.map(({ status }) => status).join()).toBeDefined();
    return refused!;
  };
  const secondsSince = (startedAt: number): number => Math.ceil((performance.now() - startedAt) / 1000);
  /** The most that two processes let through from a full bucket in the time since then. */
  const mostSince = (startedAt: number): number => BUCKET + PROCESSES + secondsSince(startedAt);

  /** How often the first process looked a key up that was revoked. */
  const revokedLooks = async (): Promise<number> => {
    const page = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
    return Number(/^laddercast_authentication_failures_total\{.*reason="key_revoked".*\} (\d+)$/m.exec(page)?.[1] ?? 0);
  };

  it('are told with each answer, and how to go on when they are reached', async () => {
    const [client] = clients;
    const first = await read(client!);
    expect(first.status).toBe(200);
    expect(first.headers['ratelimit-policy']).toBe('"address";q=20;w=20');
    expect(first.headers['ratelimit']).toBe('"address";r=19;t=1');
    await Promise.all(Array.from({ length: 40 }, () => read(client!)));
    const over = await refusalOf(() => read(client!));
    expect(expectProblem(over, 'RATE_LIMITED')).toMatchObject({ limit: 'address', retryAfterSeconds: 1 });
    expect(over.headers).toMatchObject({ 'retry-after': '1', ratelimit: '"address";r=0;t=20' });
    await delay(1500);
    expect((await read(client!)).status).toBe(200);
  });

  it('hold over all processes, but for what each holds', async () => {
    const startedAt = performance.now();
    const counts = await statusesOf(clients.flatMap((client) => Array.from({ length: 40 }, () => read(client))));
    expect(counts[200]).toBeGreaterThanOrEqual(BUCKET);
    expect(counts[200]).toBeLessThanOrEqual(mostSince(startedAt));
  });

  it('count each address for itself, as trusted proxies say it, and IPv6 by household', async () => {
    const [client] = clients;
    await Promise.all(Array.from({ length: 40 }, () => read(client!)));
    await refusalOf(() => read(client!));
    expect((await read(client!, { 'X-Forwarded-For': `198.51.100.7` })).status).toBe(200);
    // What the client itself wrote stands before what the proxy saw.
    await refusalOf(() => read(client!, { 'X-Forwarded-For': `198.51.100.8, ${from['X-Forwarded-For']}` }));
    const household = (host: number) => ({ 'X-Forwarded-For': `2001:db8:7:7::${host}` });
    const counts = await statusesOf(Array.from({ length: 60 }, (_, host) => read(client!, household(host + 1))));
    expect(counts[429]).toBeGreaterThan(20);
  });

  it('of players count by who they are, wherever they come from, and by nothing else', async () => {
    const ada = clients[0]!.as(await player('ada'));
    const elsewhere = (i: number) => ({ 'X-Forwarded-For': `198.18.0.${i}` });
    const startedAt = performance.now();
    const counts = await statusesOf(Array.from({ length: 60 }, (_, i) => read(ada, elsewhere(i))));
    expect(counts[200]).toBeLessThanOrEqual(mostSince(startedAt));
    const over = await refusalOf(() => ada.post('/v1/boards/open/scores', { playerId: 'ada', score: 1 }));
    expect(expectProblem(over, 'RATE_LIMITED')['limit']).toBe('player');
    expect((await read(clients[0]!.as(await player('bob')))).status).toBe(200);
    expect((await read(clients[0]!)).headers['ratelimit']).toMatch(/^"address"/);
  });

  it('count a batch by its submissions, and take all of it or nothing', async () => {
    const writer = clients[0]!.as(await admin.makeKey('scores:write'));
    const batch = (size: number) => ({
      submissions: Array.from({ length: size }, (_, i) => ({ board: 'open', playerId: `p${i}`, score: i })),
    });
    const first = await writer.post('/v1/scores', batch(300), from);
    expect(first.status).toBe(200);
    expect(first.headers['ratelimit']).toMatch(/^"key";r=1\d\d;t=1\d$/);
    const refused = await writer.post('/v1/scores', batch(300), from);
    expect(expectProblem(refused, 'RATE_LIMITED')['limit']).toBe('key');
    expect((await writer.post('/v1/scores', batch(20), from)).status).toBe(200);
    // Larger than a whole bucket: when it is full, and paid off after.
    const other = clients[0]!.as(await admin.makeKey('scores:write'));
    expect((await other.post('/v1/scores', batch(600), from)).status).toBe(200);
    const after = await other.post('/v1/scores', batch(1), from);
    expect(expectProblem(after, 'RATE_LIMITED')['retryAfterSeconds']).toBeGreaterThanOrEqual(5);
  });

  it('count look-ups and standings by what they ask for, with a key and without', async () => {
    const reader = clients[0]!.as(await admin.makeKey('read'));
    const lookup = (client: RestClient, count: number) =>
      client.post('/v1/boards/open/lookups', { playerIds: Array.from({ length: count }, (_, i) => `p${i}`) }, from);
    const left = ({ headers }: Response): number => Number(/;r=(\d+);/.exec(headers['ratelimit'] as string)![1]);
    expect(left(await lookup(clients[0]!, 25))).toBe(19);
    expect(left(await lookup(clients[0]!, 251))).toBeLessThanOrEqual(9);
    expect(expectProblem(await lookup(clients[0]!, 500), 'RATE_LIMITED')['limit']).toBe('address');
    expect((await lookup(reader, 500)).status).toBe(200);
    const readAt = performance.now();
    const before = left(await read(reader));
    expect(left(await lookup(reader, 500))).toBeLessThanOrEqual(before - 20 + 20 * secondsSince(readAt));
    const standings = (query: string) => clients[0]!.get(`/v1/players/p0/standings${query}`, elsewhere);
    const elsewhere = { 'X-Forwarded-For': '198.51.100.99' };
    const askedAt = performance.now();
    expect(left(await standings('?limit=25'))).toBe(19);
    expect(left(await standings(''))).toBeLessThanOrEqual(15 + secondsSince(askedAt));
    expect(left(await standings('?limit=200'))).toBeLessThanOrEqual(7 + secondsSince(askedAt));
    expectProblem(await standings('?limit=500'), 'RATE_LIMITED');
    // The most that can be asked for passes a full bucket.
    const third = clients[0]!.post(
      '/v1/boards/open/lookups',
      { playerIds: Array.from({ length: 500 }, (_, i) => `p${i}`) },
      { 'X-Forwarded-For': '198.51.100.100' },
    );
    expect((await third).status).toBe(200);
  });

  it('stop who guesses keys, and nobody whose key was good a moment ago', async () => {
    const key = await admin.makeKey('read');
    const reader = clients[0]!.as(key);
    expect((await read(reader)).status).toBe(200);
    const startedAt = performance.now();
    const guesses = await statusesOf(Array.from({ length: 60 }, (_, i) => read(clients[0]!.as(`lk_guess_${i}`))));
    expect(guesses[401]).toBeLessThanOrEqual(mostSince(startedAt));
    expect(guesses[429]).toBeGreaterThanOrEqual(20);
    const refused = await refusalOf(() => read(clients[0]!.as('lk_another')));
    expect(expectProblem(refused, 'RATE_LIMITED')['limit']).toBe('failed-identity');
    expect((await read(reader)).status).toBe(200);
    expect((await read(clients[0]!.as('lk_another'), { 'X-Forwarded-For': '198.51.100.77' })).status).toBe(401);
  });

  it('count what cannot be read as anything else of who sends it', async () => {
    const broken = (client: RestClient, path: string, body: string, type = 'application/json') =>
      client.post(path, body, { ...from, 'Content-Type': type });
    const guesser = clients[0]!.as('lk_a_guess_of_many');
    const startedAt = performance.now();
    for (const [body, type] of [['{'], ['x', 'text/plain'], [`[${'1,'.repeat(20_000)}1]`]] as const) {
      await statusesOf(Array.from({ length: 20 }, () => broken(guesser, '/v1/boards/open/scores', body, type)));
    }
    const counts = await statusesOf(Array.from({ length: 20 }, () => broken(guesser, '/v1/scores', '{')));
    expect(counts[401] ?? 0).toBeLessThanOrEqual(Math.max(0, mostSince(startedAt) - BUCKET));
    expectProblem(await refusalOf(() => read(guesser)), 'RATE_LIMITED');
    // Of somebody who is known, too.
    const eve = clients[0]!.as(await player('eve'));
    const ofEve = [
      ...Array.from({ length: 30 }, () => broken(eve, '/v1/boards/open/scores', '{')),
      ...Array.from({ length: 30 }, () => broken(eve, '/v1/scores', '{')),
    ];
    const refused = await statusesOf(ofEve);
    expect(refused[429]).toBeGreaterThanOrEqual(20);
    expect(refused[400]).toBeGreaterThanOrEqual(10);
  });

  it('of one whose batches cannot be read are reached as by other requests', async () => {
    const finn = clients[0]!.as(await player('finn'));
    const startedAt = performance.now();
    const statuses: number[] = [];
    for (let i = 0; i < 60; i += 1) statuses.push((await finn.post('/v1/scores', '{', from)).status);
    expect(statuses.filter((status) => status === 400).length).toBeLessThanOrEqual(mostSince(startedAt));
    expect(new Set(statuses)).toEqual(new Set([400, 429]));
  });

  it('let whoever has a good token through, whatever came from the address before', async () => {
    const expired = clients[0]!.as(await playerToken(installation.jwtSecret, 'late', -5));
    expect((await statusesOf(Array.from({ length: 60 }, () => read(expired))))[429]).toBeGreaterThanOrEqual(20);
    expectProblem(await refusalOf(() => read(expired)), 'RATE_LIMITED');
    for (const name of ['gil', 'hal', 'ida']) {
      expect((await read(clients[0]!.as(await player(name)))).status).toBe(200);
    }
    await refusalOf(() => read(clients[0]!.as('lk_guess_after_tokens')));
  });

  it('count tokens of which nothing can be said now as guesses, and answer them so', async () => {
    const unknown = Buffer.from(JSON.stringify({ alg: 'RS256', kid: 'a' })).toString('base64url');
    const asked = clients[0]!.as(`${unknown}.e30.AAAA`);
    expect(await statusesOf(Array.from({ length: 40 }, () => read(asked)))).toEqual({ 503: 40 });
    await refusalOf(() => read(clients[0]!.as('lk_guess_among_others')));
  });

  it('stop a key that was good once, and is not any more', async () => {
    const made = await admin.post('/v1/admin/api-keys', { name: 'gone', scopes: ['read'] });
    const { keyId, secret } = made.body as { keyId: string; secret: string };
    const gone = clients[0]!.as(secret);
    expect((await read(gone)).status).toBe(200);
    expect((await admin.delete(`/v1/admin/api-keys/${keyId}`)).status).toBe(204);
    await expect.poll(async () => (await read(gone)).status).toBe(401);
    await statusesOf(Array.from({ length: 40 }, () => read(gone)));
    const looks = await revokedLooks();
    expect(looks).toBeGreaterThan(0);
    const startedAt = performance.now();
    const counts = await statusesOf(Array.from({ length: 40 }, () => read(gone)));
    const most = PROCESSES + secondsSince(startedAt);
    expect(counts[429]).toBeGreaterThanOrEqual(40 - most);
    expect((await revokedLooks()) - looks).toBeLessThanOrEqual(most);
  });

  it('leave the probes of an address alone that is over its limit', async () => {
    await Promise.all(Array.from({ length: 40 }, () => read(clients[0]!)));
    for (const path of ['/openapi.json', '/nothing']) await refusalOf(() => clients[0]!.get(path, from));
    expect((await clients[0]!.get('/health/live', from)).status).toBe(200);
    // They have a bucket of 400, and 20 more a second.
    const probe = () => fetch(`${apps[0]!.url}/health/live`, { headers: from });
    const seen = new Set<number>();
    for (let round = 0; round < 40 && !seen.has(429); round += 1) {
      for (const { status } of await Promise.all(Array.from({ length: 50 }, probe))) seen.add(status);
    }
    expect([...seen].sort()).toEqual([200, 429]);
  });

  it('hold for each process by itself while Redis is away, and submissions go on', async () => {
    wire.cut();
    const carol = await Promise.all(clients.map(async (client) => client.as(await player('carol'))));
    const submit = (client: RestClient, i: number) =>
      client.post('/v1/boards/open/scores', { playerId: 'carol', score: i });
    const counts = await statusesOf(carol.flatMap((client) => Array.from({ length: 35 }, (_, i) => submit(client, i))));
    wire.mend();
    expect(counts[200]).toBeGreaterThanOrEqual(40);
    expect(counts[429]).toBeGreaterThanOrEqual(5);
    expect(Object.keys(counts).sort()).toEqual(['200', '429']);
  });
});
