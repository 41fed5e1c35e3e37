import { RedisConnection } from '@laddercast/projections';
import { emptyTestRedis } from '@laddercast/testing';
import { Redis } from 'ioredis';

/** A connection that counts its calls, and its trips: one for all that is sent at once. */
export class CountingConnection extends RedisConnection {
  trips = 0;
  calls = 0;

  override run(calls: Parameters<RedisConnection['run']>[0]): Promise<unknown[]> {
    this.trips += 1;
    this.calls += calls.length;
    return super.run(calls);
  }
}

/** The test's Redis, emptied: by a connection that counts its trips, and by a plain client that sees what lies there. */
export async function openCountedRedis(): Promise<{ redis: CountingConnection; plain: Redis; close(): Promise<void> }> {
  const url = await emptyTestRedis();
  const plain = new Redis(url);
  const redis = new CountingConnection({ url, commandTimeoutMs: 10_000 });
  await redis.connect();
  const close = async (): Promise<void> => {
    plain.disconnect();
    await redis.close();
  };
  return { redis, plain, close };
}
