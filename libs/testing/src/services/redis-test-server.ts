import { Redis } from 'ioredis';
import { requiredService } from './services.js';

/** How often the test Redis has run commands whose names match, since its start. */
export async function redisCommandsRun(names: RegExp): Promise<number> {
  const redis = new Redis(requiredService('TEST_REDIS_URL'), { lazyConnect: true });
  await redis.connect();
  const statistics = await redis.info('commandstats');
  redis.disconnect();
  return [...statistics.matchAll(/^cmdstat_([\w|]+):calls=(\d+)/gm)]
    .filter(([, name]) => names.test(name!))
    .reduce((sum, [, , calls]) => sum + Number(calls), 0);
}

/** The address of the test Redis, emptied. */
export async function emptyTestRedis(url = requiredService('TEST_REDIS_URL')): Promise<string> {
  const redis = new Redis(url, { lazyConnect: true });
  await redis.connect();
  await redis.flushall();
  redis.disconnect();
  return url;
}
