import { Redis } from 'ioredis';
import { requiredService } from './services.js';

/** The address of the test Redis, emptied. */
export async function emptyTestRedis(): Promise<string> {
  const url = requiredService('TEST_REDIS_URL');
  const redis = new Redis(url, { lazyConnect: true });
  await redis.connect();
  await redis.flushall();
  redis.disconnect();
  return url;
}
