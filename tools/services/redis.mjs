import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { keptSecret } from '../data-directory.mjs';
import { freePort } from '../ports.mjs';
import { Problem } from '../problem.mjs';
import { step } from '../progress.mjs';
import { waitUntilReady } from '../running.mjs';
import { doesNotAnswer, requireUrl, withoutPassword } from './answers.mjs';
import { findRedisBinary } from './redis-binary.mjs';

const answerTimeoutMs = 5_000;
const loadingWaitMs = 60_000;
const readyWaitMs = 120_000;
/** @type {import('../process-identity.mjs').StopSignal[]} */
const stopSignals = [
  ['SIGTERM', 15_000],
  ['SIGKILL', 5_000],
];

/**
 * Redis or Valkey: the one of `REDIS_URL`, else one that is started with its data under `dataDir`.
 * @param {Omit<import('../running.mjs').StartContext, 'root'>} context
 * @param suffix tells a second one from the first, by its data and its name
 * @returns `{ url, origin, describe, process, stop() }`
 * @throws Problem
 */
export async function startRedis({ dataDir, cacheDir, env, running }, suffix = '') {
  if (env.REDIS_URL) return fromEnvironment(env.REDIS_URL, env.REDIS_CA_FILE);
  const binary = await findRedisBinary(cacheDir, env);
  const name = `${binary.product}${suffix}`;
  const folder = join(dataDir, name.toLowerCase());
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const password = keptSecret(join(folder, 'password'));
  const port = await freePort();
  writeFileSync(join(folder, 'server.conf'), configuration(port, password), { mode: 0o600 });
  step(`Starting ${binary.product} ${binary.version} (${binary.command}) on port ${port}`);
  const entry = await running.launch({
    name,
    command: binary.command,
    args: ['./server.conf'],
    cwd: folder,
    signals: stopSignals,
    logPath: join(dataDir, `${name.toLowerCase()}.log`),
  });
  const url = `redis://:${password}@127.0.0.1:${port}`;
  await waitUntilReady(entry, async () => (await ask(url)).error === null, readyWaitMs);
  return {
    url,
    origin: binary.origin,
    binary: binary.command,
    describe: `${binary.product} ${binary.version} on port ${port} (${binary.origin === 'path' ? 'of the PATH' : 'of the package'})`,
    process: entry,
    stop: () => entry.stop(),
  };
}

// Without `dir`: the server writes where it is started, and no path has to be quoted.
function configuration(port, password) {
  return [
    'bind 127.0.0.1',
    `port ${port}`,
    `requirepass ${password}`,
    'daemonize no',
    'appendonly yes',
    'appendfsync everysec',
    // A smaller file is read in seconds, and to rewrite it takes a core while the ranks are brought back.
    'auto-aof-rewrite-min-size 512mb',
    'save ""',
    'maxmemory-policy noeviction',
    'loglevel notice',
    '',
  ].join('\n');
}

async function fromEnvironment(value, caFile) {
  if (/^rediss?-sentinel:/.test(value)) {
    // Whom they name can be another one in a moment: the service asks them itself, and says what is wrong.
    const describe = 'the Redis that the sentinels of REDIS_URL name';
    return { url: value, origin: 'environment', describe, process: null, stop: async () => {} };
  }
  const urls = value.split(',').map((url) => url.trim());
  for (const url of urls) requireUrl('REDIS_URL', url, ['redis:', 'rediss:'], 'redis://127.0.0.1:6379');
  const deadlineMs = Date.now() + loadingWaitMs;
  let answer;
  for (const url of urls) {
    step(`Asking the Redis of REDIS_URL (${withoutPassword(url)})`);
    answer = await ask(url, caFile);
    while (answer.error?.message.startsWith('LOADING') && Date.now() < deadlineMs) {
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      answer = await ask(url, caFile);
    }
    if (answer.error === null) break;
  }
  if (answer.error !== null) {
    throw doesNotAnswer('REDIS_URL', value, answer.error, 'Start that server, or correct the address.');
  }
  if (Number.parseInt(answer.version, 10) < 7) {
    throw new Problem(`REDIS_URL names a Redis ${answer.version}; Redis 7 or Valkey 8 is the oldest that works.`);
  }
  const describe = `${answer.product} ${answer.version} of REDIS_URL`;
  return { url: value, origin: 'environment', describe, process: null, stop: async () => {} };
}

async function ask(url, caFile) {
  const { Redis } = await import('ioredis');
  const host = new URL(url).hostname;
  const client = new Redis(url, {
    lazyConnect: true,
    connectTimeout: answerTimeoutMs,
    commandTimeout: answerTimeoutMs,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
    enableReadyCheck: false,
    ...(caFile && { tls: { ca: readFileSync(caFile), ...(isIP(host) === 0 && { servername: host }) } }),
  });
  let failure = null;
  client.on('error', (error) => (failure ??= error));
  try {
    await client.connect();
    await client.ping();
    const info = await client.info('server');
    const [, valkey] = /^valkey_version:(\S+)/m.exec(info) ?? [];
    const [, redis] = /^redis_version:(\S+)/m.exec(info) ?? [];
    return { error: null, product: valkey ? 'Valkey' : 'Redis', version: valkey ?? redis };
  } catch (error) {
    return { error: failure ?? error };
  } finally {
    client.disconnect();
  }
}
