// Real: PostgreSQL with the ledger (copied as a back-up, and restored from the copy), Redis or Valkey, the saga.
import {
  LayoutBuilder,
  LedgerStamp,
  LeftoverSweeper,
  ProjectionRecovery,
  ProjectionWatch,
  RedisLaneMarks,
  RedisProjectionStore,
} from '@laddercast/projections';
import { createTestDatabase, emptyTestRedis, type TestDatabase } from '@laddercast/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LayoutNode } from './layout-node.js';
import { Redis } from './redis-client.js';

let testDatabase: TestDatabase;
let redisUrl: string;
let redis: Redis;
let node: LayoutNode;
const never = new AbortController().signal;

const stampOf = ({ database, redis: connection, lanes }: LayoutNode): LedgerStamp =>
  new LedgerStamp({
    database,
    store: new RedisProjectionStore(connection),
    marks: new RedisLaneMarks(connection),
    lanes: lanes.all,
  });

async function start(): Promise<void> {
  node = new LayoutNode(testDatabase.url, redisUrl);
  await node.start();
}

async function standing(): Promise<[string, number][]> {
  const { entries } = await node.projection.page(await node.listOf('board'), 0, 500, 'ordinal');
  return entries.map(({ playerId, score }) => [playerId, score]);
}

beforeEach(async () => {
  redisUrl = await emptyTestRedis();
  redis = new Redis(redisUrl);
  testDatabase = await createTestDatabase();
  await start();
});

afterEach(async () => {
  await node.stop();
  redis.disconnect();
  await testDatabase.drop();
});

/** Has the ledger be what it was before the work; what the work did to Redis stays. */
async function restoredAfter(work: () => Promise<void>): Promise<void> {
  await node.stop();
  await testDatabase.backUp();
  await start();
  await work();
  await node.stop();
  await testDatabase.restore();
  await start();
}

describe('a Redis that is ahead of a restored PostgreSQL', () => {
  it.each([
    ['by its stamp, though as much was written since', true],
    ['by its marks', false],
  ])('is noticed %s, emptied, and filled with what there is', async (_how, byStamp) => {
    await node.put('board', {});
    await node.follow();
    await node.submit('board', 'ada', 10);
    await node.submit('board', 'bob', 20);
    await node.caughtUp();
    await stampOf(node).advance();
    await restoredAfter(async () => {
      await node.follow();
      await node.submit('board', 'ada', 99);
      await node.submit('board', 'lost', 98);
      await node.put('another', {});
      await node.submit('another', 'lost', 1);
      await node.caughtUp();
      if (byStamp) await stampOf(node).advance();
    });
    if (byStamp) {
      // The new history is as long as the lost one by now: its numbers are the same, and mean something else.
      for (let n = 0; n < 10; n += 1) await node.submit('board', 'cy', n);
    }
    const stamp = stampOf(node);
    expect(await stamp.isAhead()).toBe(true);
    const watch = new ProjectionWatch(node.projection, node.committed, node.lanes.all, () => stamp.isAhead());
    await watch.look();
    expect(() => watch.assertWhole()).toThrow('PROJECTION_UNAVAILABLE');
    const parts = {
      database: node.database,
      projection: node.projection,
      committed: node.committed,
      boards: node.boards,
    };
    const recovery = new ProjectionRecovery({
      ...parts,
      isAhead: () => stamp.isAhead(),
      onProgress: () => undefined,
      onError: (_lane, error) => expect(error).toBeNull(),
    });
    for (const lane of node.lanes.all) await node.projection.dropMark(lane);
    if (byStamp) for (const lane of node.lanes.all) expect(await recovery.check(lane, never)).toBe(false);
    expect(await stamp.empty(never)).toBeGreaterThan(0);
    expect(await stamp.isAhead()).toBe(false);
    expect(await redis.keys('{*:z')).toEqual([]);
    for (const lane of node.lanes.all) await recovery.check(lane, never);
    await watch.look();
    watch.assertWhole();
    await node.follow();
    await node.submit('board', 'ada', 30);
    await node.caughtUp();
    const cy: [string, number][] = byStamp ? [['cy', 9]] : [];
    expect(await standing()).toEqual([['ada', 30], ['bob', 20], ...cy]);
  });

  it('is not seen where the ledger only grew, and stays ahead while its emptying is interrupted', async () => {
    await node.put('board', {});
    await node.follow();
    for (let n = 0; n < 5; n += 1) {
      await node.submit('board', 'ada', n);
      await node.caughtUp();
      await stampOf(node).advance();
      expect(await stampOf(node).isAhead()).toBe(false);
    }
    await node.unfollow();
    await redis.set('{m0}ladder:mark:0', 2 ** 40);
    const stamp = stampOf(node);
    expect(await stamp.isAhead()).toBe(true);
    await expect(stamp.empty(AbortSignal.abort())).rejects.toThrow();
    expect(await redis.get('{m0}ladder:mark:0')).toBeNull();
    expect(await stamp.isAhead()).toBe(true);
    await stamp.empty(never);
    expect(await stamp.isAhead()).toBe(false);
    expect(await redis.keys('*')).toEqual(['{m0}ladder:stamp']);
  });
});

describe('keys of lists that are gone', () => {
  it('are removed when an older dump brings them back, and others are left alone', async () => {
    await node.put('board', { sharding: { by: 'hash', count: 2 } });
    await node.put('doomed', {});
    await node.follow();
    for (const player of ['ada', 'bob', 'cy']) {
      await node.submit('board', player, 1);
      await node.submit('doomed', player, 1);
    }
    await node.caughtUp();
    const before = await redis.keys('*');
    const dump = await Promise.all(before.map(async (key) => [key, (await redis.dumpBuffer(key))!] as const));
    await node.layouts.rebuild('board', 'test');
    await node.boards.refresh();
    await node.builder.build(node.boards.byId('board')!.uid, AbortSignal.timeout(10_000));
    await node.removeAll();
    await node.registry.delete('doomed', null, 'test');
    for (const [key, value] of dump) if (/^\{\d/.test(key)) await redis.restore(key, 0, value, 'REPLACE');
    const sweeper = new LeftoverSweeper({ ...node, store: new RedisProjectionStore(node.redis) });
    expect(await sweeper.sweep(never)).toBeGreaterThan(0);
    const { generation, boardUid } = await node.listOf('board');
    const ours = `{${boardUid}.`;
    for (const key of (await redis.keys('{*')).filter((one) => /^\{\d/.test(one))) {
      if (key.startsWith(ours) && key.includes(`}${generation}:`)) continue;
      // What says that a list was retired stays for a day.
      expect(await redis.get(key), key).toBe('retired');
    }
    expect((await standing()).length).toBe(3);
    expect(await sweeper.sweep(never)).toBe(0);
  });
});

describe('filling lists anew', () => {
  it('goes on where another process ended, and begins anew in a Redis that lacks what that one wrote', async () => {
    await node.put('board', {});
    await node.follow();
    await node.submit('board', 'first', 0);
    const { database, lanes } = node;
    const list = await node.listOf('board');
    for (const lane of lanes.all) {
      await database.query(
        `INSERT INTO entries (window_uid, player_id, board_uid, lane, version, removed, score, columns, achieved_at_ms)
         SELECT $1, 'p' || $3::int || '/' || n, $2, $3::int, 1, false, n, '{}', 1000 FROM generate_series(1, 10000) n`,
        [list.windowUid, list.boardUid, lane],
      );
    }
    await node.layouts.rebuild('board', 'test');
    await node.boards.refresh();
    const uid = node.boards.byId('board')!.uid;
    const readFrom: number[] = [];
    const build = async (stopAfterPages: number): Promise<void> => {
      const stop = new AbortController();
      let pages = 0;
      const applying = node.projection.apply.bind(node.projection);
      const projection = Object.assign(Object.create(node.projection) as typeof node.projection, {
        apply: (...parameters: Parameters<typeof applying>) => {
          pages += 1;
          if (pages > stopAfterPages) stop.abort();
          return applying(...parameters);
        },
      });
      const builder = new LayoutBuilder(
        { ...node, projection },
        { noteEveryMs: 0, onFailure: () => undefined, lookEveryMs: 20 },
      );
      const signal = AbortSignal.any([stop.signal, AbortSignal.timeout(20_000)]);
      await builder.build(uid, signal).catch(() => undefined);
      readFrom.push(pages);
    };
    await build(2);
    const noted = (await node.layouts.progressOf(uid))!;
    expect(noted).toMatchObject({ scans: 1, reached: { isGuild: false } });
    expect(noted.rowsScanned).toBeGreaterThan(0);
    await build(Infinity);
    expect(readFrom[1]).toBeLessThan(5);
    expect((await node.projection.total(await node.listOf('board'))).total).toBe(20_001);

    await node.removeAll();
    expect(await node.layouts.rebuild('board', 'test')).toBe(3);
    await node.boards.refresh();
    await build(2);
    await redis.del(...(await redis.keys('*ladder:proof:*')));
    await build(Infinity);
    expect(readFrom[3]).toBeGreaterThanOrEqual(5);
    expect((await node.listOf('board')).generation).toBe(3);
    expect((await node.projection.total(await node.listOf('board'))).total).toBe(20_001);
  }, 60_000);
});
