// Real: the built service in one process at LOG_LEVEL=trace, PostgreSQL, Redis; everything that it writes is read.
import {
  createTestDatabase,
  freePort,
  newInstallation,
  startApp,
  type RunningApp,
  type TestDatabase,
} from '@laddercast/testing';
import { VERSION } from '@laddercast/platform';
import { WebSocket } from 'ws';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startRedis, type RedisProcess } from '../integration/nodes/redis-process.js';
import { playerToken, RestClient } from './rest-client.js';

const REDIS_PASSWORD = 'a-redis-password-nobody-sees';
const OPAQUE = 'an-opaque-token-of-the-query-string';

/** The address with a password in it: its own, where it has one; else the server does not ask for any. */
const withPassword = (address: string, password: string): string => {
  const url = new URL(address);
  url.username ||= 'postgres';
  url.password ||= password;
  return url.href;
};

describe('what the service writes while everything is tried, and fails', () => {
  let database: TestDatabase;
  let redis: RedisProcess;
  let app: RunningApp;
  let admin: RestClient;
  let adminKey: string;
  const secrets: string[] = [];

  const lines = (): Record<string, unknown>[] =>
    app
      .output()
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  const connect = async (path: string, protocols: string[], headers: Record<string, string> = {}): Promise<void> => {
    const socket = new WebSocket(`${app.url.replace('http', 'ws')}${path}`, protocols, { headers });
    const next = (...events: string[]): Promise<void> =>
      new Promise((resolve) => events.forEach((event) => socket.once(event, () => resolve())));
    socket.on('error', () => undefined);
    await next('open', 'close');
    if (socket.readyState === socket.OPEN) {
      socket.send(JSON.stringify({ type: 'authenticate', token: `${OPAQUE}-of-a-frame` }));
      await next('message', 'close');
    }
    socket.terminate();
  };

  beforeAll(async () => {
    database = await createTestDatabase();
    redis = await startRedis({ password: REDIS_PASSWORD });
    const databaseUrl = withPassword(database.url, 'a-database-password-nobody-sees');
    const installation = newInstallation(
      databaseUrl,
      withPassword(redis.url, REDIS_PASSWORD).replace('postgres:', ':'),
    );
    adminKey = installation.adminKey;
    secrets.push(adminKey, installation.jwtSecret, REDIS_PASSWORD, new URL(databaseUrl).password, OPAQUE);
    const ports = { port: await freePort(), metricsPort: 0 };
    app = await startApp('standalone', { ...installation, settings: { LOG_LEVEL: 'trace' } }, ports);
    admin = new RestClient(app.url, adminKey);
  });
  afterAll(async () => {
    await app?.stop();
    await redis?.stop();
    await database?.drop();
  });

  it('names the port that was chosen for the metrics', async () => {
    const chosen = /listens on .*, with its metrics on port (\d+)"/;
    await expect.poll(() => app.output()).toMatch(chosen);
    const [, port] = chosen.exec(app.output())!;
    expect(await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()).toContain('process_cpu_user_seconds_total');
  });

  it('is one JSON object a line, and nothing of a request that went well', async () => {
    await admin.makeBoard('quiet');
    const before = lines().length;
    for (let i = 0; i < 20; i += 1) {
      expect((await admin.post('/v1/boards/quiet/scores', { playerId: `p${i}`, score: i })).status).toBe(200);
      expect((await admin.get('/v1/boards/quiet/entries')).status).toBe(200);
      expect((await admin.get('/v1/boards/quiet/players/nobody')).status).toBe(404);
    }
    const since = lines().slice(before);
    expect(since.filter((line) => 'requestId' in line || JSON.stringify(line).includes('quiet'))).toEqual([]);
    // Of its own work it may say something now and then.
    expect(since.length).toBeLessThan(20);
    for (const line of app.output().trim().split('\n')) expect(() => JSON.parse(line) as unknown, line).not.toThrow();
    for (const line of lines()) {
      expect(line).toMatchObject({
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string,
        level: expect.stringMatching(/^(trace|debug|info|warn|error|fatal)$/) as string,
        app: 'standalone',
        version: VERSION,
      });
    }
  });

  it('echoes a request id that is safe, and makes one where it is not', async () => {
    const given = await admin.get('/v1/boards/none', { 'X-Request-Id': 'match-77/ada:3' });
    expect(given.headers['x-request-id']).toBe('match-77/ada:3');
    expect((given.body as { requestId: string }).requestId).toBe('match-77/ada:3');
    for (const bad of ['a b', 'x'.repeat(129), '<script>', '"quoted"', '']) {
      const { headers, body } = await admin.get('/v1/boards/none', { 'X-Request-Id': bad });
      expect(headers['x-request-id']).toMatch(/^[\w-]{12}-[0-9a-z]+$/);
      expect((body as { requestId: string }).requestId).toBe(headers['x-request-id']);
    }
    const broken = await fetch(`${app.url}/v1/boards/%E0%A4%A`, { headers: { 'X-Request-Id': 'broken-1' } });
    expect(broken.headers.get('x-request-id')).toBe('broken-1');
    expect(await broken.json()).toMatchObject({ code: 'VALIDATION_FAILED', requestId: 'broken-1' });
    expect((await fetch(`${app.url}/health/live`)).headers.get('x-request-id')).not.toBeNull();
  });

  it('names a request that failed on our side, with the cause, and no answer shows a stack trace', async () => {
    await admin.makeBoard('failing');
    await redis.stop();
    // Clients put secrets where they do not belong, too.
    const misplaced = `lk_${'k'.repeat(43)}`;
    secrets.push(misplaced);
    const failed = await admin.get(`/v1/boards/failing/players/${misplaced}?around=5`, {
      'X-Request-Id': 'while-redis-is-away',
    });
    expect(failed.status).toBe(503);
    expect(failed.text).not.toMatch(/\n\s+at |node_modules|\.js:\d+/);
    const named = (id: string) => lines().find(({ requestId }) => requestId === id);
    await expect.poll(() => named('while-redis-is-away')).toBeDefined();
    const line = named('while-redis-is-away');
    expect(line).toMatchObject({ msg: 'request failed', code: 'PROJECTION_UNAVAILABLE', method: 'GET' });
    expect(line).toMatchObject({
      path: '/v1/boards/failing/players/lk_***',
      err: { message: expect.any(String) as string },
    });
    redis = await startRedis({ port: redis.port, password: `${REDIS_PASSWORD}-changed` });
    await expect.poll(() => app.output()).toMatch(/WRONGPASS|NOAUTH|invalid username-password/);
  });

  it('holds no secret, whichever way it came', async () => {
    const made = await admin.makeKey('read');
    const token = await playerToken('another secret, which makes a token that is refused', 'ada');
    secrets.push(made, token);
    for (const bearer of [adminKey, made, token, `${OPAQUE}.${OPAQUE}.${OPAQUE}`]) {
      const one = admin.as(bearer);
      await one.get(`/v1/boards/quiet/entries?token=${OPAQUE}`);
      await one.post('/v1/boards/quiet/scores', `{ "playerId": "${OPAQUE}", broken`);
      await one.post('/v1/admin/api-keys', { name: 'x', scopes: ['read'], secret: OPAQUE });
      await connect(`/v1/live?token=${bearer}`, ['ladder.v1']);
      await connect('/v1/live', ['ladder.v1', `bearer.${bearer}`]);
      await connect('/v1/live', ['ladder.v1'], { Authorization: `Bearer ${bearer}` });
      await connect(`/v1/nowhere?token=${bearer}`, ['ladder.v1']);
    }
    await app.stop();
    const output = app.output();
    expect(output.length).toBeGreaterThan(500);
    for (const secret of secrets)
      expect(output.includes(secret), `${secret} in ${lineWith(output, secret)}`).toBe(false);
  });
});

describe('a start that fails', () => {
  it('shows no password', async () => {
    const databasePassword = 'a-database-password-nobody-sees';
    const nowhere = `postgres://ladder:${databasePassword}@127.0.0.1:${await freePort()}/ladder`;
    const refused = startApp('api', newInstallation(nowhere, `redis://:${REDIS_PASSWORD}@127.0.0.1:1`));
    const message = await refused.then(
      () => '',
      (error: Error) => error.message,
    );
    expect(message).toContain('cannot start');
    expect(message).not.toContain(databasePassword);
    expect(message).not.toContain(REDIS_PASSWORD);
  });
});

const lineWith = (output: string, secret: string): string | undefined =>
  output.split('\n').find((line) => line.includes(secret));
