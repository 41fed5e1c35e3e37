// Real: the Redis or Valkey of `npm test`, the Lua scripts, ioredis. Checked against a sorted array.
import { CHECKPOINT_LIMITS, RedisCheckpoints, RedisConnection, RedisRankProjection } from '@laddercast/projections';
import { checkpointsConformance, emptyTestRedis } from '@laddercast/testing';
import { afterAll, beforeAll, describe } from 'vitest';

let redis: RedisConnection;

beforeAll(async () => {
  redis = new RedisConnection({ url: await emptyTestRedis(), commandTimeoutMs: 10_000 });
  await redis.connect();
});

afterAll(() => redis.close());

describe('lists as of a checkpoint', () => {
  checkpointsConformance({
    checkpoints: () => new RedisCheckpoints(redis),
    projection: () => new RedisRankProjection(redis),
    runs: 15,
    firstWindowUid: 3_000_000,
  });
});

describe('lists as of a checkpoint, read and searched in small steps', () => {
  checkpointsConformance({
    checkpoints: () =>
      new RedisCheckpoints(redis, undefined, { ...CHECKPOINT_LIMITS, lookedAtMax: 3, skippedRowsMax: 1 }),
    projection: () => new RedisRankProjection(redis),
    runs: 15,
    firstWindowUid: 4_000_000,
  });
});
