// Real: PostgreSQL with the ledger, and Redis or Valkey; looks at what is lost come in the middle of what brings it back.
import { LostShardWatch, RedisLostShards, ShardRestorer, WindowLists, type RankList } from '@laddercast/projections';
import { createTestDatabase, emptyTestRedis, type TestDatabase } from '@laddercast/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LayoutNode } from '../nodes/layout-node.js';

const PLAYERS = 12;
const never = new AbortController().signal;

/** Stops where it is told to, and counts how often a board's shards are filled. */
class HeldShards extends RedisLostShards {
  readonly filled: number[] = [];
  beforeState: (list: RankList) => Promise<void> = async () => undefined;
  beforeFinish: (shard: number) => Promise<void> = async () => undefined;

  override async noted() {
    return (await super.noted()).sort((a, b) => a.boardUid - b.boardUid);
  }

  override async stateOf(list: RankList, shard: number) {
    await this.beforeState(list);
    return super.stateOf(list, shard);
  }

  override fill(...of: Parameters<RedisLostShards['fill']>) {
    this.filled.push(of[0].boardUid);
    return super.fill(...of);
  }

  override async finish(...of: Parameters<RedisLostShards['finish']>) {
    await this.beforeFinish(of[1]);
    return super.finish(...of);
  }
}

let testDatabase: TestDatabase;
let node: LayoutNode;
let lost: HeldShards;
let restorer: ShardRestorer;

beforeEach(async () => {
  const redisUrl = await emptyTestRedis();
  testDatabase = await createTestDatabase();
  node = new LayoutNode(testDatabase.url, redisUrl);
  await node.start();
  await node.follow();
  const { database, projection, boards } = node;
  lost = new HeldShards(node.redis);
  restorer = new ShardRestorer(database, projection, boards, new WindowLists(database), lost);
});
afterEach(async () => {
  await node.stop();
  await testDatabase.drop();
});

async function listOf(board: string, definition: Parameters<LayoutNode['put']>[1]): Promise<RankList> {
  await node.put(board, definition);
  for (let n = 0; n < PLAYERS; n += 1) await node.submit(board, `p${n}`, n);
  await node.caughtUp();
  return node.listOf(board);
}

async function lose(list: RankList): Promise<void> {
  await lost.close(list, 0);
  await lost.note(list, 0);
}

/** @returns what lets go of who waits, and where to wait */
function gate(): { open: () => void; opened: Promise<void> } {
  let open!: () => void;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { open, opened };
}

describe('a look at lost shards', () => {
  it('begins nothing anew that came to its end meanwhile', async () => {
    const early = await listOf('early', { sharding: { by: 'hash', count: 1 } });
    const late = await listOf('late', { sharding: { by: 'hash', count: 1 } });
    const watch = new LostShardWatch(restorer);
    const [filled, reached, looked] = [gate(), gate(), gate()];
    await lose(early);
    lost.beforeFinish = () => filled.opened;
    await watch.look(never);
    await expect.poll(() => lost.filled).toEqual([early.boardUid]);
    await lose(late);
    lost.beforeState = async (list) => {
      if (list.boardUid !== late.boardUid) return;
      reached.open();
      await looked.opened;
    };
    const look = watch.look(never);
    await reached.opened;
    filled.open();
    await watch.settled();
    expect((await node.projection.total(early)).total).toBe(PLAYERS);
    looked.open();
    await look;
    await watch.settled();
    expect(lost.filled).toEqual([early.boardUid, late.boardUid]);
    expect((await node.projection.total(late)).total).toBe(PLAYERS);
  });

  it('closes no shard of a list by ranges that another process has just brought back', async () => {
    const list = await listOf('ranges', { sharding: { by: 'range', boundaries: [4, 8] } });
    for (const shard of [0, 1, 2]) await lost.note(list, shard);
    await lost.close(list, 0);
    const [one] = await restorer.close();
    lost.beforeFinish = async (shard) => {
      if (shard === 2) await restorer.close();
    };
    expect(await restorer.restore(one!, never)).toBeGreaterThan(0);
    expect((await node.projection.total(list)).total).toBe(PLAYERS);
    expect(await restorer.close()).toEqual([]);
  });
});
