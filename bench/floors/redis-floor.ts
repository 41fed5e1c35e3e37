import { spawnSync } from 'node:child_process';
import { Redis, type ChainableCommander } from 'ioredis';
import { findOnPath } from '../../tools/commands.mjs';

const key = 'floor:ranks';
const members = 1_000_000;
const pipelined = 16;
const connections = 64;
const requestsOfBenchmark = 400_000;
const [benchmark] = [...findOnPath('valkey-benchmark'), ...findOnPath('redis-benchmark')];

/** How the floor of Redis is measured: by its own benchmark, or where that is missing by a loop of ours. */
export const redisFloorName =
  benchmark === undefined
    ? `our own loop of ioredis, ${connections * pipelined} commands in flight`
    : `redis-benchmark, ${connections} connections, pipelines of ${pipelined}`;

/** Commands a second. */
export interface RedisFloor {
  zadd: number;
  zrevrank: number;
}

/** ZADD and ZREVRANK, into and from a sorted set of a million players beside the service's own. */
export async function redisFloor({ redisUrl, seconds }: { redisUrl: string; seconds: number }): Promise<RedisFloor> {
  const redis = new Redis(redisUrl, { maxRetriesPerRequest: 0 });
  try {
    if ((await redis.zcard(key)) === 0) await fill(redis);
    if (benchmark === undefined) {
      const zadd = await loop(redis, seconds, (pipeline) => pipeline.zadd(key, Math.random(), anyone()));
      return { zadd, zrevrank: await loop(redis, seconds, (pipeline) => pipeline.zrevrank(key, anyone())) };
    }
    const zadd = byBenchmark(benchmark, redisUrl, ['ZADD', key, '__rand_int__', 'player-__rand_int__']);
    return { zadd, zrevrank: byBenchmark(benchmark, redisUrl, ['ZREVRANK', key, 'player-__rand_int__']) };
  } finally {
    redis.disconnect();
  }
}

const memberOf = (number: number): string => `player-${String(number).padStart(12, '0')}`;
const anyone = (): string => memberOf(Math.floor(Math.random() * members));

async function fill(redis: Redis): Promise<void> {
  const atOnce = 1000;
  for (let from = 0; from < members; from += atOnce) {
    const pairs = Array.from({ length: atOnce }, (_, index): [number, string] => [
      Math.random() * members,
      memberOf(from + index),
    ]);
    await redis.zadd(key, ...pairs.flat());
  }
}

/** Calls a second. */
async function loop(redis: Redis, seconds: number, add: (pipeline: ChainableCommander) => unknown): Promise<number> {
  const endsAt = performance.now() + 1000 * seconds;
  const startedAt = performance.now();
  let done = 0;
  const run = async (): Promise<void> => {
    while (performance.now() < endsAt) {
      const pipeline = redis.pipeline();
      for (let one = 0; one < pipelined; one += 1) add(pipeline);
      for (const [error] of (await pipeline.exec()) ?? []) if (error) throw error;
      done += pipelined;
    }
  };
  await Promise.all(Array.from({ length: connections }, run));
  return (1000 * done) / (performance.now() - startedAt);
}

function byBenchmark(benchmark: string, redisUrl: string, command: readonly string[]): number {
  const { hostname, port, password } = new URL(redisUrl);
  const options = ['-h', hostname, '-p', port, ...(password ? ['-a', decodeURIComponent(password)] : [])];
  const load = ['-c', connections, '-P', pipelined, '-n', requestsOfBenchmark, '-r', members].map(String);
  const result = spawnSync(benchmark, [...options, ...load, '--csv', ...command], { encoding: 'utf8' });
  const perSecond = perSecondOf(result.stdout ?? '');
  if (result.status === 0 && perSecond !== null) return perSecond;
  throw new Error(`${benchmark} failed:\n${result.stdout}${result.stderr}`);
}

/** What the last line of `redis-benchmark --csv` says; null where it says nothing. */
export function perSecondOf(csv: string): number | null {
  const fields = /^"(?:[^"]|"")*","([\d.]+)"/.exec(csv.trim().split('\n').at(-1)!);
  return fields === null ? null : Number(fields[1]);
}
