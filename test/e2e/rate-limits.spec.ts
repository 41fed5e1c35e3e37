// Real: the built service, two api processes, with PostgreSQL and Redis; who is counted by what, and what it is told.
import { setTimeout as delay } from 'node:timers/promises';
import {
  createTestDatabase,
  emptyTestRedis,
  newInstallation,
  openTcpProxy,
  startApp,
  type Installation,
  type RunningApp,
  type TcpProxy,
} from '@laddercast/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { expectProblem, playerToken, RestClient } from './rest-client.js';

const PROCESSES = 2;
const RATES = {
  RATE_LIMIT_KEY_PER_SECOND: '200',
  RATE_LIMIT_PLAYER_PER_SECOND: '10',
  RATE_LIMIT_ADDRESS_PER_SECOND: '10',
  RATE_LIMIT_FAILED_IDENTITY_PER_SECOND: '5',
  RATE_LIMIT_WINDOW_SECONDS: '2',
  TRUSTED_PROXIES: '127.0.0.1',
};
const statusesOf = async (calls: Promise<{ status: number }>[]): Promise<Record<number, number>> => {
  const counts: Record<number, number> = {};
  for (const { status } of await Promise.all(calls)) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
};

describe('rate limits', () => {
  let installation: Installation;
  let database: { url: string; drop(): Promise<void> };
  let apps: RunningApp[];
  let wire: TcpProxy;
  let admin: RestClient;
  let clients: RestClient[];
  let address = 0;
  /** An address that nobody had before. */
  let from: { 'X-Forwarded-For': string };

  beforeAll(async () => {
    database = await createTestDatabase();
    const { hostname, port } = new URL(await emptyTestRedis());
    wire = await openTcpProxy(hostname, Number(port));
    const made = newInstallation(database.url, `redis://127.0.0.1:${wire.port}`);
    installation = { ...made, settings: RATES };
    apps = [await startApp('api', installation), await startApp('api', installation)];
    clients = apps.map(({ url }) => new RestClient(url));
    admin = clients[0]!.as(installation.adminKey);
    await admin.makeBoard('open', { submitters: 'players' });
  }, 90_000);
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

  it('are told with each answer, and how to go on when they are reached', async () => {
    const [client] = clients;
    const first = await read(client!);
    expect(first.status).toBe(200);
    expect(first.headers['ratelimit-policy']).toBe('"address";q=20;w=2');
    expect(first.headers['ratelimit']).toBe('"address";r=19;t=1');
    await Promise.all(Array.from({ length: 30 }, () => read(client!)));
    const over = await read(client!);
    const problem = expectProblem(over, 'RATE_LIMITED');
    expect(problem).toMatchObject({ limit: 'address', retryAfterSeconds: 1 });
    expect(over.headers).toMatchObject({ 'retry-after': '1', ratelimit: expect.stringMatching(/^"address";r=0;t=2$/) });
    await delay(1000);
    expect((await read(client!)).status).toBe(200);
  });

  it('hold over all processes, but for what each holds', async () => {
    const counts = await statusesOf(clients.flatMap((client) => Array.from({ length: 40 }, () => read(client))));
    expect(counts[200]).toBeGreaterThanOrEqual(20);
    // A chunk of 1 for each process, and what filled again meanwhile.
    expect(counts[200]).toBeLessThanOrEqual(20 + PROCESSES + 10);
  });

  it('count each address for itself, as trusted proxies say it, and IPv6 by household', async () => {
    const [client] = clients;
    await Promise.all(Array.from({ length: 40 }, () => read(client!)));
    expect((await read(client!)).status).toBe(429);
    expect((await read(client!, { 'X-Forwarded-For': `198.51.100.7` })).status).toBe(200);
    // What the client itself wrote stands before what the proxy saw.
    expect((await read(client!, { 'X-Forwarded-For': `198.51.100.8, ${from['X-Forwarded-For']}` })).status).toBe(429);
    const household = (host: number) => ({ 'X-Forwarded-For': `2001:db8:7:7::${host}` });
    const counts = await statusesOf(Array.from({ length: 60 }, (_, host) => read(client!, household(host + 1))));
    expect(counts[429]).toBeGreaterThan(20);
  });

  it('of players count by who they are, wherever they come from, and by nothing else', async () => {
    const ada = clients[0]!.as(await player('ada'));
    const elsewhere = (i: number) => ({ 'X-Forwarded-For': `198.18.0.${i}` });
    const counts = await statusesOf(Array.from({ length: 60 }, (_, i) => read(ada, elsewhere(i))));
    expect(counts[200]).toBeLessThanOrEqual(40);
    const over = await ada.post('/v1/boards/open/scores', { playerId: 'ada', score: 1 });
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
    expect(first.headers['ratelimit']).toMatch(/^"key";r=1\d\d;t=2$/);
    const refused = await writer.post('/v1/scores', batch(300), from);
    expect(expectProblem(refused, 'RATE_LIMITED')['limit']).toBe('key');
    expect((await writer.post('/v1/scores', batch(20), from)).status).toBe(200);
    // Larger than a whole bucket: when it is full, and paid off after.
    await delay(2500);
    expect((await writer.post('/v1/scores', batch(600), from)).status).toBe(200);
    const after = await writer.post('/v1/scores', batch(1), from);
    expect(Number(after.headers['retry-after'])).toBeGreaterThanOrEqual(1);
  });

  it('stop who guesses keys, and nobody whose key was good a moment ago', async () => {
    const key = await admin.makeKey('read');
    const reader = clients[0]!.as(key);
    expect((await read(reader)).status).toBe(200);
    const guesses = await statusesOf(Array.from({ length: 40 }, (_, i) => read(clients[0]!.as(`lk_guess_${i}`))));
    expect(guesses[401]).toBeLessThanOrEqual(20);
    expect(guesses[429]).toBeGreaterThanOrEqual(20);
    const problem = expectProblem(await read(clients[0]!.as('lk_another')), 'RATE_LIMITED');
    expect(problem['limit']).toBe('failed-identity');
    expect((await read(reader)).status).toBe(200);
    expect((await read(clients[0]!.as('lk_another'), { 'X-Forwarded-For': '198.51.100.77' })).status).toBe(401);
  });

  it('leave the probes of an address alone that is over its limit', async () => {
    await Promise.all(Array.from({ length: 40 }, () => read(clients[0]!)));
    expect((await clients[0]!.get('/openapi.json', from)).status).toBe(429);
    expect((await clients[0]!.get('/nothing', from)).status).toBe(429);
    expect((await clients[0]!.get('/health/live', from)).status).toBe(200);
    const live = await statusesOf(Array.from({ length: 80 }, () => clients[0]!.get('/health/live', from)));
    expect(live[429]).toBeGreaterThan(10);
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
