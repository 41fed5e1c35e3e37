// Real: PostgreSQL with TLS, Redis or Valkey with users and as a cluster, TLS in front of it, certificates made here, and the
// built api.
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { createServer } from 'node:tls';
import { PostgresDatabase } from '@laddercast/ledger';
import { RedisConnection, redisFault, RedisTokenLeases } from '@laddercast/projections';
import { freePort, newInstallation, startApp, type RunningApp } from '@laddercast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PostgresProcess } from '../faults/postgres-process.js';
import { formCluster } from '../faults/redis-nodes.js';
import { makeCertificates, type Certificates } from './certificates.js';
import { Redis } from './nodes/redis-client.js';
import { startRedis } from './nodes/redis-process.js';
import { startSentinel } from './nodes/redis-sentinels.js';

let certificates: Certificates;
let server: PostgresProcess;
/** Of a Redis behind TLS, `localhost:port`. */
let address: string;
/** The names that servers were asked for by those who connected (SNI). */
const names: (string | false)[] = [];
const undo: (() => Promise<unknown> | void)[] = [];

beforeAll(() => {
  certificates = makeCertificates();
  undo.push(() => certificates.remove());
});
afterAll(async () => {
  for (const step of undo.reverse()) await step();
});

/** Takes TLS on `port`, and hands on what it hears. */
async function takeTls(port: number, target: number): Promise<void> {
  const [key, cert] = [readFileSync(certificates.key), readFileSync(certificates.certificate)];
  const proxy = createServer({ key, cert }, (client) => {
    names.push((client as unknown as { servername: string | false }).servername);
    const redis = connect(target, '127.0.0.1');
    client.pipe(redis).pipe(client);
    for (const socket of [client, redis]) socket.on('error', () => undefined);
  });
  proxy.on('tlsClientError', () => undefined);
  await new Promise<void>((resolve) => proxy.listen(port, '127.0.0.1', resolve));
  undo.push(() => void proxy.close());
}

function connectionTo(url: string, caFile: string): { redis: RedisConnection; errors: string[] } {
  const errors: string[] = [];
  const redis = new RedisConnection({
    url,
    ca: readFileSync(caFile, 'utf8'),
    connectTimeoutMs: 3000,
    onError: ({ message }) => errors.push(message),
  });
  undo.push(() => redis.close());
  return { redis, errors };
}

async function countKeys(url: string): Promise<number> {
  const client = new Redis(url);
  return client.dbsize().finally(() => client.disconnect());
}

describe('PostgreSQL with TLS', () => {
  beforeAll(async () => {
    server = await PostgresProcess.start();
    undo.push(() => server.remove());
    const session = new PostgresDatabase({ url: server.url });
    await session.open({ migrate: false });
    // Handed over as text: the server must own its key, and nobody else may read it.
    for (const [name, path] of [
      ['server.crt', certificates.certificate] as const,
      ['server.key', certificates.key] as const,
    ])
      await session.query(
        `COPY (SELECT unnest(string_to_array('${readFileSync(path, 'utf8').trim()}', E'\\n'))) TO PROGRAM 'umask 077; cat > ${name}'`,
      );
    await session.query('ALTER SYSTEM SET ssl = on');
    await session.query('SELECT pg_reload_conf()');
    await session.close();
  });

  /** Whether a connection by this address is encrypted, by the pool and beside it. */
  async function encrypted(query: string, options: { host?: string; caFile?: string } = {}): Promise<boolean[]> {
    const { host = 'localhost', caFile } = options;
    const url = `${server.url.replace('127.0.0.1', host)}${query}`;
    const database = new PostgresDatabase({ url, ...(caFile !== undefined && { caFile }) });
    const asked = 'SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()';
    try {
      await database.open({ migrate: false });
      const listener = await database.listener();
      const { rows } = await listener.query<{ ssl: boolean }>(asked);
      await listener.end();
      return [...(await database.query<{ ssl: boolean }>(asked)), ...rows].map(({ ssl }) => ssl);
    } finally {
      await database.close();
    }
  }

  it('is checked with DATABASE_CA_FILE: who signed the certificate, and its name', async () => {
    expect(await encrypted('', { caFile: certificates.ca })).toEqual([true, true]);
    await expect(encrypted('', { caFile: certificates.otherCa })).rejects.toThrow(/certificate/);
    await expect(encrypted('', { caFile: certificates.ca, host: '127.0.0.1' })).rejects.toThrow(/127\.0\.0\.1/);
  });

  it('takes sslmode and sslrootcert as libpq does', async () => {
    const [ca, otherCa] = [`sslrootcert=${certificates.ca}`, `sslrootcert=${certificates.otherCa}`];
    expect(await encrypted(`?sslmode=verify-full&${ca}`)).toEqual([true, true]);
    await expect(encrypted(`?sslmode=verify-full&${otherCa}`)).rejects.toThrow(/certificate/);
    await expect(encrypted(`?sslmode=verify-full&${ca}`, { host: '127.0.0.1' })).rejects.toThrow(/127\.0\.0\.1/);
    expect(await encrypted(`?sslmode=verify-ca&${ca}`, { host: '127.0.0.1' })).toEqual([true, true]);
    await expect(encrypted(`?sslmode=verify-ca&${otherCa}`)).rejects.toThrow(/certificate/);
    expect(await encrypted('?sslmode=require', { host: '127.0.0.1' })).toEqual([true, true]);
    await expect(encrypted(`?sslmode=require&${otherCa}`)).rejects.toThrow(/certificate/);
    await expect(encrypted('?sslmode=verify-full&sslrootcert=system')).rejects.toThrow(/certificate/);
    expect(await encrypted('?sslmode=disable')).toEqual([false, false]);
  });
});

describe('Redis with TLS and users', () => {
  beforeAll(async () => {
    const users = [
      'ladder on >ladder-password ~* &* +@all',
      'reader on >reader-password ~* &* +@read +@connection +info +eval +evalsha',
    ];
    const acl = users.flatMap((user) => ['--user', ...user.split(' ')]);
    const redis = await startRedis({ args: acl });
    undo.push(() => redis.stop());
    const port = await freePort();
    await takeTls(port, redis.port);
    address = `localhost:${port}`;
  });

  it('is reached as a user, by the name of the server, and so are subscriptions', async () => {
    const { redis } = connectionTo(`rediss://ladder:ladder-password@${address}`, certificates.ca);
    await redis.connect();
    await expectUser(redis, 'ladder');
    expect(names).toEqual(['localhost', 'localhost']);
  });

  it('is not spoken to when somebody else vouches for it, or under another name', async () => {
    for (const [url, ca] of [
      [`rediss://ladder:ladder-password@${address}`, certificates.otherCa],
      [`rediss://ladder:ladder-password@${address.replace('localhost', '127.0.0.1')}`, certificates.ca],
    ] as const) {
      const { redis, errors } = connectionTo(url, ca);
      await expect(redis.connect()).rejects.toMatchObject({ code: 'PROJECTION_UNAVAILABLE' });
      expect(errors[0]).toMatch(/certificate|altnames/);
    }
  });

  it('names the user that lacks a right', async () => {
    const { redis } = connectionTo(`rediss://reader:reader-password@${address}`, certificates.ca);
    await redis.connect();
    const refused = {
      code: 'PROJECTION_UNAVAILABLE',
      message: expect.stringMatching(/Redis refuses the service/) as string,
    };
    await expect(redis.command('SET', 'key', 'value')).rejects.toMatchObject(refused);
    expect(redis.refusal).toMatch(/reader.*'set'/);
    // The same in a script.
    const asked = { capacityMs: 1000, owedMs: 10, wantedMs: 0, leastMs: 0 };
    await expect(new RedisTokenLeases(redis).lease('bucket', asked)).rejects.toMatchObject(refused);
  });
});

/** Commands and subscriptions reach the server as this user. */
async function expectUser(redis: RedisConnection, user: string): Promise<void> {
  expect(String(await redis.command('ACL', 'WHOAMI'))).toBe(user);
  const subscriber = redis.subscriber();
  await subscriber.connect();
  expect(await subscriber.call('ACL', 'WHOAMI')).toBe(user);
  subscriber.disconnect();
}

describe('Redis behind a sentinel, with TLS', () => {
  it('is found by the name that the sentinel says, and both are checked', async () => {
    // It does not speak TLS itself, and finds that its master is down: alone it cannot name another one.
    const sentinel = await startSentinel({ host: 'localhost', master: Number(address.split(':')[1]), quorum: 2 });
    undo.push(() => sentinel.stop());
    const port = await freePort();
    await takeTls(port, sentinel.port);
    const url = `rediss-sentinel://ladder:ladder-password@localhost:${port}/ladder.main`;
    const { redis } = connectionTo(url, certificates.ca);
    await redis.connect();
    await expectUser(redis, 'ladder');
    const distrusting = connectionTo(url, certificates.otherCa);
    await expect(distrusting.redis.connect()).rejects.toMatchObject({ code: 'PROJECTION_UNAVAILABLE' });
    expect(distrusting.errors.join()).toMatch(/^All sentinels are unreachable/);
    const plain = connectionTo(url.replace('rediss-', 'redis-'), certificates.ca);
    await expect(plain.redis.connect()).rejects.toMatchObject({ code: 'PROJECTION_UNAVAILABLE' });
  });
});

describe('a Redis cluster with TLS', () => {
  it('has each node checked, and the user named to each', async () => {
    const ports = [await freePort(), await freePort()];
    const nodes = await Promise.all(
      ports.map((port) => {
        const announced = ['--cluster-announce-hostname', 'localhost', '--cluster-announce-port', String(port)];
        const byName = [
          '--cluster-preferred-endpoint-type',
          'hostname',
          '--user',
          'ladder on >ladder-password ~* &* +@all',
        ];
        return startRedis({
          args: ['--cluster-enabled', 'yes', ...announced, ...byName.flatMap((word) => word.split(' '))],
        });
      }),
    );
    undo.push(...nodes.map((node) => () => node.stop()));
    await formCluster(nodes);
    await Promise.all(ports.map((port, at) => takeTls(port, nodes[at]!.port)));
    const url = ports.map((port) => `rediss://ladder:ladder-password@localhost:${port}`).join(',');
    const { redis } = connectionTo(url, certificates.ca);
    await redis.connect();
    const keyOf = (tag: number): string => `{${tag}}`;
    const tags = redis.tagsOfMasters(keyOf);
    expect(tags.length).toBe(2);
    for (const tag of tags) expect(String(await redis.command('SET', keyOf(tag), tag))).toBe('OK');
    const held = await Promise.all(nodes.map((node) => countKeys(node.url)));
    expect(held).toEqual([1, 1]);
    const subscriber = redis.subscriber();
    await subscriber.connect();
    expect(await subscriber.call('ACL', 'WHOAMI')).toBe('ladder');
    subscriber.disconnect();
    const stranger = connectionTo(url, certificates.otherCa);
    await expect(stranger.redis.connect()).rejects.toMatchObject({ code: 'PROJECTION_UNAVAILABLE' });
    expect(await redisFault(stranger.redis)).toMatch(/the certificate of Redis is not trusted/);
    expect(await redisFault(redis)).toBeNull();
  });
});

describe('a service that is set to TLS', () => {
  async function start(more: Record<string, string>, query = ''): Promise<RunningApp> {
    const url = `${server.url.replace('127.0.0.1', 'localhost')}${query}`;
    const installation = newInstallation(url, `rediss://ladder:ladder-password@${address}`);
    const settings = { DATABASE_CA_FILE: certificates.ca, REDIS_CA_FILE: certificates.ca, ...more };
    const app = await startApp('api', { ...installation, settings });
    undo.push(() => app.stop());
    return app;
  }

  it('is ready, and says nothing', async () => {
    expect((await start({})).output()).toBe('');
  });

  it('does not start with a server that it does not trust, and says which setting that is about', async () => {
    await expect(start({ DATABASE_CA_FILE: certificates.otherCa })).rejects.toThrow(
      /PostgreSQL cannot be used: the certificate of PostgreSQL is not trusted \(.+\): correct .* DATABASE_CA_FILE/,
    );
    await expect(start({ REDIS_CA_FILE: certificates.otherCa })).rejects.toThrow(
      /Redis cannot be used: the certificate of Redis is not trusted \(.+\): correct .* in REDIS_CA_FILE/,
    );
  });

  it('starts without a check of PostgreSQL where the address says so, and says that', async () => {
    const app = await start({ DATABASE_CA_FILE: '' }, '?sslmode=require');
    expect(app.output()).toMatch(/"level":"warn".*PostgreSQL is not checked/);
  });
});
