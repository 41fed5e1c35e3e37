import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import kafkajs from 'kafkajs';
import pg from 'pg';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { projectRoot } from '../build.mjs';
import { dataDirectory, makeDataDirectory } from '../data-directory.mjs';
import { identityOf } from '../process-identity.mjs';
import { RunningProcesses } from '../running.mjs';
import { startKafka } from './kafka.mjs';
import { removeDataDirectory } from './postgres-account.mjs';
import { startPostgres } from './postgres.mjs';
import { startRedis } from './redis.mjs';

// Real servers, found as npm start finds them, on data of their own.
const cacheDir = join(dataDirectory(projectRoot), 'cache');
let dataDir;
let runs;

function context() {
  const running = new RunningProcesses(dataDir);
  runs.push(running);
  const env = { ...process.env, DATABASE_URL: '', REDIS_URL: '', KAFKA_BROKERS: '' };
  return { root: projectRoot, dataDir, cacheDir, env, running };
}

async function sql(url, text) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

beforeEach(() => {
  vi.spyOn(console, 'log').mockImplementation(() => {});
  runs = [];
  dataDir = mkdtempSync(join(tmpdir(), 'started-spec-'));
  makeDataDirectory(dataDir);
  mkdirSync(cacheDir, { recursive: true });
});
afterEach(async () => {
  for (const running of runs) await running.stopAll();
  removeDataDirectory(dataDir);
  vi.restoreAllMocks();
});

describe('PostgreSQL as npm start starts it', () => {
  it('is durable, has a password, and a second start finds the data of the first', async () => {
    const first = await startPostgres(context());
    await sql(first.url, 'CREATE TABLE kept AS SELECT 42 AS answer');
    expect(await sql(first.url, 'SHOW synchronous_commit')).toEqual([{ synchronous_commit: 'on' }]);
    expect(await sql(first.url, 'SHOW fsync')).toEqual([{ fsync: 'on' }]);
    await expect(sql(first.url.replace(/:[^:@]+@/, ':wrong@'), 'SELECT 1')).rejects.toThrow(
      'password authentication failed',
    );
    await first.stop();
    const second = await startPostgres(context());
    expect(await sql(second.url, 'SELECT answer FROM kept')).toEqual([{ answer: 42 }]);
  });

  it('that was killed is started again with its data', async () => {
    const first = await startPostgres(context());
    await sql(first.url, 'CREATE TABLE kept AS SELECT 42 AS answer');
    process.kill(first.process.pid, 'SIGKILL');
    await first.process.exited;
    const second = await startPostgres(context());
    expect(await sql(second.url, 'SELECT answer FROM kept')).toEqual([{ answer: 42 }]);
  });

  it('that a killed start left running unrecorded is stopped before the next one', async () => {
    const first = await startPostgres(context());
    const second = await startPostgres(context());
    expect(identityOf(first.process.pid)).toBeNull();
    expect(await sql(second.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });
});

describe('Redis as npm start starts it', () => {
  it('keeps what it is told, wants a password, never evicts, and a second start finds the data of the first', async () => {
    const first = await startRedis(context());
    const client = new Redis(first.url);
    await client.set('kept', '42');
    expect(await client.config('GET', 'maxmemory-policy')).toEqual(['maxmemory-policy', 'noeviction']);
    expect(await client.config('GET', 'appendonly')).toEqual(['appendonly', 'yes']);
    client.disconnect();
    await first.stop();
    const second = await startRedis(context());
    const reader = new Redis(second.url);
    expect(await reader.get('kept')).toBe('42');
    reader.disconnect();
    const stranger = new Redis(second.url.replace(/:[^:@]+@/, ':wrong@'), {
      retryStrategy: () => null,
      lazyConnect: true,
    });
    stranger.on('error', () => {});
    await expect(stranger.connect().then(() => stranger.get('kept'))).rejects.toThrow();
    stranger.disconnect();
  });
});

describe.skipIf(!process.env.TEST_KAFKA_BROKERS)('Kafka as npm start starts it', () => {
  const topicsOf = async ({ brokers }, ...wanted) => {
    const admin = new kafkajs.Kafka({ brokers: [brokers], logLevel: kafkajs.logLevel.NOTHING }).admin();
    await admin.connect();
    try {
      if (wanted.length > 0) await admin.createTopics({ topics: wanted.map((topic) => ({ topic })) });
      return await admin.listTopics();
    } finally {
      await admin.disconnect();
    }
  };
  const formatted = () => console.log.mock.calls.filter(([line]) => String(line).includes('Preparing the log')).length;
  const killed = async (kafka) => {
    process.kill(kafka.process.pid, 'SIGKILL');
    await kafka.process.exited;
  };

  it('is there again after a kill, with its topics, and is formatted once', async () => {
    const first = await startKafka(context());
    await topicsOf(first, 'kept');
    await killed(first);
    const second = await startKafka(context());
    expect(await topicsOf(second)).toContain('kept');
    expect(formatted()).toBe(1);
  });

  it('is formatted again where the formatting was cut off', async () => {
    await killed(await startKafka(context()));
    rmSync(join(dataDir, 'kafka/logs'), { recursive: true });
    mkdirSync(join(dataDir, 'kafka/logs'));
    const second = await startKafka(context());
    expect(await topicsOf(second, 'new')).toContain('new');
    expect(formatted()).toBe(2);
  });
});
