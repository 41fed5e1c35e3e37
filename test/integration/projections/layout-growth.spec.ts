// Real: PostgreSQL with the ledger, Redis or Valkey.
import { LayoutGrowth, type RankList } from '@laddercast/projections';
import { createTestDatabase, emptyTestRedis, type TestDatabase } from '@laddercast/testing';
import { Logger } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { LayoutNode } from '../nodes/layout-node.js';
import { Redis } from '../nodes/redis-client.js';

const never = new AbortController().signal;

describe('another generation for a board that grows', () => {
  let testDatabase: TestDatabase;
  let redis: Redis;
  let node: LayoutNode;

  beforeEach(async () => {
    const redisUrl = await emptyTestRedis();
    redis = new Redis(redisUrl);
    testDatabase = await createTestDatabase();
    node = new LayoutNode(testDatabase.url, redisUrl);
    await node.start();
  });
  afterEach(async () => {
    await node.stop();
    redis.disconnect();
    await testDatabase.drop();
  });

  it('is not opened by itself where Redis has no room for a board twice', async () => {
    const board = await node.put('grown', {});
    await node.database.query(
      `UPDATE boards SET layouts = jsonb_set(layouts, '{serving,indexBuckets}', '1') WHERE board_uid = $1`,
      [board.uid],
    );
    await node.put('grown', { title: 'Seen anew' });
    const said = vi.spyOn(Logger.prototype, 'warn');
    const { boards, layouts, projection, store, windowLists } = node;
    const growth = new LayoutGrowth(boards, layouts, projection, store, windowLists, 0);
    const used = Number(/used_memory:(\d+)/.exec(await redis.info('memory'))![1]);
    try {
      await redis.config('SET', 'maxmemory', 2 * used);
      for (let look = 0; look < 3; look += 1) await growth.look(never);
      expect((await node.layoutsOf('grown')).opening).toBeNull();
      expect(said.mock.calls).toEqual([
        [expect.objectContaining({ board: 'grown', memoryUse: expect.closeTo(0.5, 1) })],
      ]);
      await redis.config('SET', 'maxmemory', 10 * used);
      await growth.look(never);
      expect((await node.layoutsOf('grown')).opening).toMatchObject({ generation: 2 });
    } finally {
      said.mockRestore();
      await redis.config('SET', 'maxmemory', 0);
    }
  });

  it('is looked for in the list of all time, too, where many windows have ended', async () => {
    const board = await node.put('long', { keepEndedSeconds: 86_400 });
    await node.submit('long', 'ada', 1);
    const { windowUid } = await node.listOf('long');
    await node.database.query(
      `INSERT INTO windows (board_uid, window_id, kind, ends_at)
       SELECT $1, 'hour ' || n, 'cron', now() + n * interval '1 minute' FROM generate_series(1, 150) n`,
      [board.uid],
    );
    const looked: number[] = [];
    const total = async (list: RankList): ReturnType<typeof node.projection.total> => {
      looked.push(list.windowUid);
      return node.projection.total(list);
    };
    await new LayoutGrowth(node.boards, node.layouts, { total }, node.store, node.windowLists).look(never);
    expect(looked).toContain(windowUid);
    expect(looked.length).toBe(101);
  });
});
