// Real: Redis, and a limiter for each of several processes over a connection of its own.
import { setTimeout as delay } from 'node:timers/promises';
import { RateLimiter, type RateLimit } from '@laddercast/platform';
import { RedisConnection, RedisTokenLeases } from '@laddercast/projections';
import { emptyTestRedis, openTcpProxy, redisCommandsRun } from '@laddercast/testing';
import { Redis } from 'ioredis';
import { afterEach, describe, expect, it } from 'vitest';

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

async function connection(url: string, commandTimeoutMs = 30_000): Promise<RedisConnection> {
  const redis = new RedisConnection({ url, namespace: 'test:', commandTimeoutMs });
  await redis.connect();
  ends.push(() => redis.close());
  return redis;
}

async function limiters(limit: RateLimit, count: number, url: string): Promise<RateLimiter[]> {
  return Promise.all(
    Array.from({ length: count }, async () => new RateLimiter(limit, new RedisTokenLeases(await connection(url)))),
  );
}

/**
 * Asks as fast as it can, `atOnce` side by side, until the time is over and `least` were let through; the moments at
 * which it was let through.
 */
async function flood(limiter: RateLimiter, forMs: number, atOnce: number, cost = 1, least = 0): Promise<number[]> {
  const until = performance.now() + forMs;
  const passed: number[] = [];
  const one = async (): Promise<void> => {
    while (performance.now() < until || passed.length < least) {
      if (await limiter.take(limiter.account('ada'), cost)) passed.push(performance.now());
      // As requests do, it leaves the loop to others now and then.
      else await delay(1);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, one));
  return passed;
}

describe('limiters of several processes on one Redis', () => {
  it.each([
    { perSecond: 50, windowSeconds: 2, processes: 4, cost: 1 },
    { perSecond: 1000, windowSeconds: 1, processes: 3, cost: 1 },
    { perSecond: 200, windowSeconds: 1, processes: 2, cost: 7 },
  ])(
    'let through what is said and no more, in any stretch: %o',
    async ({ perSecond, windowSeconds, processes, cost }) => {
      const all = await limiters({ name: 'x', perSecond, windowSeconds }, processes, await emptyTestRedis());
      const startedAt = performance.now();
      const passed = (await Promise.all(all.map((one) => flood(one, 3000, 8, cost)))).flat().sort((a, b) => a - b);
      const seconds = (performance.now() - startedAt) / 1000;
      const { chunk } = all[0]!;
      const mostIn = (stretch: number): number =>
        perSecond * (windowSeconds + stretch) + processes * Math.max(chunk, cost) * (1 + stretch / 60);
      const marginMs = 5;
      let from = 0;
      for (const stretchMs of [100, 500, 1000, 3000]) {
        from = 0;
        for (let to = 0; to < passed.length; to += 1) {
          while (passed[to]! - passed[from]! > stretchMs) from += 1;
          expect((to - from + 1) * cost).toBeLessThanOrEqual(mostIn((stretchMs + marginMs) / 1000) + 1);
        }
      }
      // And the limit is not a smaller one.
      expect(passed.length * cost).toBeGreaterThan(perSecond * (windowSeconds + 0.8 * seconds));
    },
  );

  it('ask Redis once for many requests', async () => {
    const url = await emptyTestRedis();
    const [limiter] = await limiters({ name: 'key', perSecond: 100_000, windowSeconds: 1 }, 1, url);
    const before = await redisCommandsRun(/^eval/);
    const passed = await flood(limiter!, 300, 8, 1, 20_000);
    expect((await redisCommandsRun(/^eval/)) - before).toBeLessThan(passed.length / 100);
  });

  it('keep nothing of a bucket that is full again', async () => {
    const url = await emptyTestRedis();
    const [limiter] = await limiters({ name: 'x', perSecond: 20, windowSeconds: 5 }, 1, url);
    const observer = new Redis(url);
    ends.push(async () => observer.disconnect());
    await flood(limiter!, 50, 1, 1, 100);
    expect(await observer.dbsize()).toBe(1);
    await expect.poll(() => observer.dbsize()).toBe(0);
  });

  it('go on each by itself while Redis is away, and together again after', async () => {
    const redisUrl = new URL(await emptyTestRedis());
    const wire = await openTcpProxy(redisUrl.hostname, Number(redisUrl.port));
    ends.push(() => wire.close());
    redisUrl.host = `127.0.0.1:${wire.port}`;
    const connections = [await connection(redisUrl.href, 500), await connection(redisUrl.href, 500)];
    const limit = { name: 'x', perSecond: 100, windowSeconds: 1 };
    const all = connections.map((redis) => new RateLimiter(limit, new RedisTokenLeases(redis)));
    const floods = async (): Promise<{ passed: number[]; seconds: number }> => {
      const startedAt = performance.now();
      const passed = (await Promise.all(all.map((one) => flood(one, 1500, 4)))).map(({ length }) => length);
      return { passed, seconds: (performance.now() - startedAt) / 1000 };
    };
    wire.cut();
    const alone = await floods();
    for (const one of alone.passed) {
      expect(one).toBeGreaterThan(180);
      expect(one).toBeLessThanOrEqual(100 + 100 * (alone.seconds + 0.1) + 10);
    }
    wire.mend();
    for (const redis of connections) {
      await expect.poll(() => redis.command('PING').then(String, () => 'away')).toBe('PONG');
    }
    await delay(2500);
    const { passed, seconds } = await floods();
    expect(passed[0]! + passed[1]!).toBeGreaterThan(180);
    expect(passed[0]! + passed[1]!).toBeLessThanOrEqual(100 + 100 * (seconds + 0.1) + 2 * 10);
  });
});
