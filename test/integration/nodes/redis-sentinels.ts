import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort, requiredService } from '@laddercast/testing';
import { Redis } from 'ioredis';
import { killWithData, startRedis, type RedisProcess } from './redis-process.js';

/** A master with replicas, and sentinels that make one of them the master when it dies. */
export interface WatchedRedis {
  /** As REDIS_URL names them. */
  url: string;
  sentinelPorts: number[];
  /** Which server the sentinels call the master now. */
  master(): Promise<RedisProcess>;
  /**
   * kill -9 of the master; resolves once the sentinels have made another one.
   * @param killed called in between
   */
  failOver(killed?: () => void): Promise<{ from: RedisProcess; to: RedisProcess }>;
  /** Starts a server anew that was killed, empty: the sentinels make it a replica. */
  revive(server: RedisProcess): Promise<void>;
  stop(): Promise<void>;
}

const MASTER_NAME = 'ladder.main';
/** Whom servers know the sentinels as: a test may take rights from it. */
const WATCHER = ['--user', 'watcher', 'on', '>watching', '~*', '&*', '+@all'];
const DOWN_AFTER_MS = 700;
const WITHIN_MS = 60_000;

/**
 * @param password of the servers
 * @param sentinelPassword of the sentinels, which have none by default
 * @param downAfterMs how long a master is away before the sentinels make another one
 */
export async function startWatchedRedis({
  replicas = 2,
  sentinels = 3,
  password,
  sentinelPassword,
  downAfterMs = DOWN_AFTER_MS,
}: {
  replicas?: number;
  sentinels?: number;
  password?: string;
  sentinelPassword?: string;
  downAfterMs?: number;
} = {}): Promise<WatchedRedis> {
  const access = password === undefined ? {} : { password };
  const trust = [...WATCHER, ...(password === undefined ? [] : ['--masterauth', password])];
  const start = (port?: number, of?: number): Promise<RedisProcess> => {
    const follows = of === undefined ? [] : ['--replicaof', '127.0.0.1', String(of)];
    return startRedis({ ...access, ...(port && { port }), args: [...trust, ...follows] });
  };
  const first = await start();
  const servers = [first];
  for (let replica = 0; replica < replicas; replica += 1) servers.push(await start(undefined, first.port));
  const watchers: Sentinel[] = [];
  for (let sentinel = 0; sentinel < sentinels; sentinel += 1) {
    const quorum = Math.floor(sentinels / 2) + 1;
    watchers.push(await startSentinel({ master: first.port, quorum, sentinelPassword, downAfterMs }));
  }
  const ask = (port: number, ...command: [string, ...string[]]): Promise<unknown> =>
    askOnce(port, sentinelPassword, command);
  const master = async (): Promise<RedisProcess> => {
    const [, port] = (await ask(watchers[0]!.port, 'SENTINEL', 'GET-MASTER-ADDR-BY-NAME', MASTER_NAME)) as string[];
    return servers.find((server) => server.port === Number(port))!;
  };
  const known = async (): Promise<boolean> => {
    const told = await Promise.all(watchers.map(({ port }) => ask(port, 'SENTINEL', 'MASTER', MASTER_NAME)));
    return (told as string[][]).every(
      (words) =>
        wordAfter(words, 'num-slaves') === `${replicas}` &&
        wordAfter(words, 'num-other-sentinels') === `${sentinels - 1}`,
    );
  };
  await until(known, 'the sentinels did not find the servers, and each other');
  const who = password === undefined ? '' : `:${password}@`;
  return {
    url: `redis-sentinel://${who}${watchers.map(({ port }) => `127.0.0.1:${port}`).join(',')}/${MASTER_NAME}`,
    sentinelPorts: watchers.map(({ port }) => port),
    master,
    failOver: async (killed) => {
      const from = await master();
      await from.stop();
      killed?.();
      await until(async () => (await master()).port !== from.port, 'the sentinels made no other master');
      return { from, to: await master() };
    },
    revive: async (server) => {
      servers[servers.indexOf(server)] = await start(server.port, (await master()).port);
    },
    stop: async () => {
      await Promise.all([...watchers, ...servers].map((one) => one.stop()));
    },
  };
}

export interface Sentinel {
  port: number;
  stop(): Promise<void>;
}

/** One sentinel, which calls the server at `host` and the port `master` so until `quorum` of them find that it is down. */
export async function startSentinel({
  host = '127.0.0.1',
  master,
  quorum,
  sentinelPassword,
  downAfterMs = DOWN_AFTER_MS,
}: {
  host?: string;
  master: number;
  quorum: number;
  sentinelPassword?: string | undefined;
  downAfterMs?: number;
}): Promise<Sentinel> {
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), 'ladder-sentinel-'));
  const lines = [
    `port ${port}`,
    'bind 127.0.0.1',
    `dir ${folder}`,
    ...(host === '127.0.0.1' ? [] : ['sentinel resolve-hostnames yes', 'sentinel announce-hostnames yes']),
    `sentinel monitor ${MASTER_NAME} ${host} ${master} ${quorum}`,
    `sentinel down-after-milliseconds ${MASTER_NAME} ${downAfterMs}`,
    `sentinel failover-timeout ${MASTER_NAME} 5000`,
    `sentinel auth-user ${MASTER_NAME} watcher`,
    `sentinel auth-pass ${MASTER_NAME} watching`,
    ...(sentinelPassword === undefined
      ? []
      : [`requirepass ${sentinelPassword}`, `sentinel sentinel-pass ${sentinelPassword}`]),
  ];
  const configuration = join(folder, 'sentinel.conf');
  writeFileSync(configuration, `${lines.join('\n')}\n`);
  const child = spawn(requiredService('TEST_REDIS_BINARY'), [configuration, '--sentinel'], { stdio: 'ignore' });
  await until(
    async () => (await askOnce(port, sentinelPassword, ['PING'])) === 'PONG',
    'the sentinel of the test does not answer',
    child,
  );
  return { port, stop: () => killWithData(child, folder) };
}

async function askOnce(
  port: number,
  password: string | undefined,
  [name, ...rest]: [string, ...string[]],
): Promise<unknown> {
  const redis = new Redis(port, '127.0.0.1', {
    ...(password !== undefined && { password }),
    lazyConnect: true,
    enableReadyCheck: false,
    retryStrategy: () => null,
  });
  redis.on('error', () => undefined);
  try {
    await redis.connect();
    return await redis.call(name, ...rest);
  } finally {
    redis.disconnect();
  }
}

async function until(check: () => Promise<boolean>, otherwise: string, child?: ChildProcess): Promise<void> {
  const giveUpAt = performance.now() + WITHIN_MS;
  while (!(await check().catch(() => false))) {
    if (performance.now() > giveUpAt || (child && child.exitCode !== null)) throw new Error(otherwise);
    await sleep(50);
  }
}

const wordAfter = (words: readonly string[], name: string): string | undefined => words[words.indexOf(name) + 1];
