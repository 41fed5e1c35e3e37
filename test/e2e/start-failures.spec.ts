// Real: the built programs, each started by itself with something that is wrong; PostgreSQL, Redis.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer as createWebServer } from 'node:http';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PostgresDatabase } from '@laddercast/ledger';
import { VERSION } from '@laddercast/platform';
import { createTestDatabase, freePort, startApp, type TestDatabase } from '@laddercast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PostgresProcess } from '../faults/postgres-process.js';
import { startRedis, type RedisProcess } from '../integration/nodes/redis-process.js';

const ENDS_WITHIN_MS = 60_000;

type Settings = Record<string, string>;

let database: TestDatabase;
let redis: RedisProcess;
let locked: RedisProcess;
let taken: Server;
let takenPort: number;
let web: Server;
let good: Settings;

beforeAll(async () => {
  database = await createTestDatabase();
  redis = await startRedis();
  locked = await startRedis({ password: 'the-right-password' });
  takenPort = await freePort();
  taken = createServer().listen(takenPort, '127.0.0.1');
  await once(taken, 'listening');
  web = createWebServer().listen(0, '127.0.0.1');
  await once(web, 'listening');
  good = {
    PORT: String(await freePort()),
    METRICS_PORT: '0',
    DATABASE_URL: database.url,
    REDIS_URL: redis.url,
    BOOTSTRAP_ADMIN_KEY: 'a-key-of-these-tests',
    DATABASE_MAY_FORGET: 'true',
  };
  // Whoever is first fixes the lanes.
  await (
    await startApp('api', {
      databaseUrl: database.url,
      redisUrl: redis.url,
      adminKey: 'a-key-of-these-tests',
      jwtSecret: 's'.repeat(32),
    })
  ).stop();
});
afterAll(async () => {
  taken?.close();
  web?.close();
  await locked?.stop();
  await redis?.stop();
  await database?.drop();
});

async function run(app: string, settings: Settings): Promise<{ code: number | null; lines: string[] }> {
  const child = spawn(process.execPath, ['--enable-source-maps', join(process.cwd(), `dist/bundle/${app}.js`)], {
    env: { PATH: process.env.PATH, ...good, ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const killer = setTimeout(() => child.kill('SIGKILL'), ENDS_WITHIN_MS);
  const [code] = (await once(child, 'close')) as [number | null];
  clearTimeout(killer);
  const lines = output.trim().split('\n');
  // The server of a test run may forget, and that is said first.
  return { code, lines: lines.filter((line) => !line.includes('PostgreSQL runs with fsync=off')) };
}

/** Whatever is logged by default, one line is all that it writes. */
async function expectFailure(app: string, settings: Settings, sentence: RegExp): Promise<void> {
  const { code, lines } = await run(app, settings);
  expect(lines).toHaveLength(1);
  const line = JSON.parse(lines[0]!) as Record<string, unknown>;
  expect(line).toMatchObject({
    level: 'fatal',
    app,
    version: VERSION,
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string,
    msg: expect.stringMatching(sentence) as string,
  });
  expect(line['msg']).not.toContain('\n');
  expect(code).toBe(1);
}

const withDatabase = (change: (url: URL) => void): Settings => {
  const url = new URL(database.url);
  change(url);
  return { DATABASE_URL: url.href };
};

describe('a program started by itself', () => {
  const failures: [string, () => Settings, RegExp][] = [
    [
      'unreadable settings',
      () => ({ PORT: 'http', LEDGER_LANES: '0' }),
      /settings are wrong: .*PORT.*; .*LEDGER_LANES/,
    ],
    [
      'a user or password that PostgreSQL refuses',
      () => withDatabase((url) => Object.assign(url, { username: 'nobody_of_that_name', password: 'wrong' })),
      /PostgreSQL refuses the user or the password of DATABASE_URL/,
    ],
    [
      'a database that is missing',
      () => withDatabase((url) => (url.pathname = '/no_such_database')),
      /PostgreSQL has no such database: create it, or correct DATABASE_URL \(.*no_such_database/,
    ],
    [
      'a PostgreSQL that is away',
      () => ({ DATABASE_URL: 'postgres://127.0.0.1:1/x' }),
      /PostgreSQL cannot be reached: start it, or correct DATABASE_URL \(.*ECONNREFUSED/,
    ],
    [
      'a Redis in the place of PostgreSQL',
      () => ({ DATABASE_URL: redis.url.replace('redis://', 'postgres://') }),
      /What answers at the address of DATABASE_URL is no PostgreSQL: correct DATABASE_URL/,
    ],
    [
      'a server of HTTP in the place of PostgreSQL, by TLS',
      () => ({ DATABASE_URL: `postgres://127.0.0.1:${(web.address() as AddressInfo).port}/x?sslmode=require` }),
      /What answers at the address of DATABASE_URL is no PostgreSQL: correct DATABASE_URL/,
    ],
    ['other lanes', () => ({ LEDGER_LANES: '3' }), /made with LEDGER_LANES=2; set it back/],
    ['a port in use', () => ({ PORT: String(takenPort) }), /port \d+ of PORT is in use by another program: .*set PORT/],
    [
      'one port for both',
      () => ({ METRICS_PORT: good['PORT']! }),
      /PORT and METRICS_PORT are both \d+: set one of them/,
    ],
    [
      'one port for lanes, too',
      () => ({ LANE_ADDRESS: `127.0.0.1:${good['PORT']}` }),
      /PORT and LANE_ADDRESS are both \d+: set one of them/,
    ],
    [
      'a port for metrics in use',
      () => ({ METRICS_PORT: String(takenPort) }),
      /port \d+ of METRICS_PORT is in use by another program: .*set METRICS_PORT/,
    ],
    [
      'an address that cannot be read',
      () => ({ REDIS_URL: 'redis://:pass#word@127.0.0.1:6379' }),
      /settings are wrong: REDIS_URL: this is no address \(user:password@host:port\); .* write # /,
    ],
    ['an address that nobody knows', () => ({ HOST: 'no..where' }), /no address no\.\.where: set HOST .*ENOTFOUND/],
    ['an address that is not its own', () => ({ HOST: '192.0.2.1' }), /no address 192\.0\.2\.1: set HOST/],
    [
      'a Redis that wants a password',
      () => ({ REDIS_URL: locked.url.replace(/\/\/.*@/, '//') }),
      /Redis refuses this process: correct the user and the password of REDIS_URL.*NOAUTH/,
    ],
    [
      'a number of a database that Redis has not',
      () => ({ REDIS_URL: `${redis.url}/4711` }),
      /Redis has no database of the number that REDIS_URL ends with: correct it/,
    ],
    [
      'a Redis that wants another password',
      () => ({ REDIS_URL: locked.url.replace(/\/\/(.*@)?/, '//:another-password@') }),
      /Redis refuses this process: correct the user and the password of REDIS_URL.*WRONGPASS/,
    ],
  ];

  it.each(failures)('says %s in one JSON line with the way out, and ends with 1', (_what, settings, sentence) =>
    expectFailure('standalone', settings(), sentence),
  );

  const eachHas = ['unreadable settings', 'a user or password that PostgreSQL refuses', 'a port in use'];
  const ofEach = failures.filter(([what]) => eachHas.includes(what));
  it.each(['api', 'projector', 'gateway'].flatMap((app) => ofEach.map((failure) => [app, ...failure] as const)))(
    'says so whichever it is: %s, %s',
    (app, _what, settings, sentence) => expectFailure(app, settings(), sentence),
  );
});

describe('a program whose Redis is set up in the wrong way', () => {
  it('says that keys may be dropped, and what to set', async () => {
    const evicting = await startRedis({ args: ['--maxmemory', '100mb', '--maxmemory-policy', 'allkeys-lru'] });
    const app = await startApp('api', {
      databaseUrl: database.url,
      redisUrl: evicting.url,
      adminKey: 'a-key-of-these-tests',
      jwtSecret: 's'.repeat(32),
    });
    try {
      const sentence = new RegExp(
        `set maxmemory-policy noeviction at 127\\.0\\.0\\.1:${evicting.port} \\(allkeys-lru\\)`,
      );
      await expect.poll(() => app.output(), { timeout: 30_000 }).toMatch(sentence);
    } finally {
      await app.stop();
      await evicting.stop();
    }
  });
});

describe('a program whose PostgreSQL is of the wrong kind', () => {
  it('does not start where Citus spreads a table of the service', async () => {
    const spread = await createTestDatabase();
    const session = new PostgresDatabase({ url: spread.url });
    try {
      await session.open({ migrate: true });
      // Of Citus, its list of spread tables alone.
      await session.query('CREATE TABLE pg_dist_partition (logicalrelid regclass)');
      await session.query("INSERT INTO pg_dist_partition VALUES ('submissions'), ('pg_class')");
      await expectFailure('api', { DATABASE_URL: spread.url }, /Citus spreads submissions over nodes/);
    } finally {
      await session.close();
      await spread.drop();
    }
  });

  it('does not start on a database that cannot hold every name', async () => {
    const session = new PostgresDatabase({ url: database.url });
    const name = `${new URL(database.url).pathname.slice(1)}_latin`;
    try {
      await session.open({ migrate: false });
      await session.query(`CREATE DATABASE ${name} ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0`);
      await expectFailure(
        'api',
        withDatabase((url) => (url.pathname = `/${name}`)),
        /is in LATIN1, and ids and names need UTF-8: make another/,
      );
    } finally {
      await session.query(`DROP DATABASE IF EXISTS ${name}`);
      await session.close();
    }
  });

  it('does not start on a standby', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'ladder-standby-'));
    const postgres = await PostgresProcess.start({ folder });
    try {
      await postgres.stop('SIGINT');
      const cluster = join(folder, 'data');
      const signal = join(cluster, 'standby.signal');
      writeFileSync(signal, '');
      const { uid, gid } = statSync(cluster);
      chownSync(signal, uid, gid);
      await postgres.start();
      await expectFailure(
        'api',
        { DATABASE_URL: postgres.url },
        /is a standby, which takes no writes: name the primary/,
      );
    } finally {
      await postgres.remove();
      rmSync(folder, { recursive: true });
    }
  });
});
