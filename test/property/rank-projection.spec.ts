// Real: the Redis or Valkey of `npm test`, the Lua scripts, ioredis. Checked against a sorted array.
import { RedisConnection, RedisRankProjection } from '@laddercast/projections';
import { emptyTestRedis, rankProjectionConformance } from '@laddercast/testing';
import { afterAll, beforeAll, describe } from 'vitest';

let redis: RedisConnection;

beforeAll(async () => {
  redis = new RedisConnection({ url: await emptyTestRedis(), commandTimeoutMs: 10_000 });
  await redis.connect();
});

afterAll(() => redis.close());

describe('ranks in Redis', () => {
  rankProjectionConformance({ projection: () => new RedisRankProjection(redis), runs: 60 });
});

describe('ranks in Redis, every page read as a deep one', () => {
  const projection = (): RedisRankProjection =>
    new RedisRankProjection(redis, undefined, { mergedRowsMax: 0, skippedRowsMax: 1 });
  rankProjectionConformance({ projection, runs: 40, firstWindowUid: 1_000_000 });
});
