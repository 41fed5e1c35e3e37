// Real: PostgreSQL with the ledger, whose clock is a day ahead of this process's, Redis or Valkey, the outbox as the log, the
// saga that feeds the ranks.
import { GLOBAL_SCOPE, type Board } from '@laddercast/domain';
import { listOfWindow, RedisLostShards, ShardRestorer, WindowLists } from '@laddercast/projections';
import { createTestDatabase, DatabaseClock, emptyTestRedis, type TestDatabase } from '@laddercast/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LayoutNode } from '../nodes/layout-node.js';
import { Redis } from '../nodes/redis-client.js';

const DAY_MS = 86_400_000;
const never = new AbortController().signal;

let testDatabase: TestDatabase;
let clock: DatabaseClock;
let node: LayoutNode;
let redis: Redis;

beforeEach(async () => {
  const redisUrl = await emptyTestRedis();
  testDatabase = await createTestDatabase();
  node = new LayoutNode(testDatabase.url, redisUrl);
  redis = new Redis(redisUrl);
  await node.start();
  clock = await DatabaseClock.of(testDatabase.url);
  await node.follow();
});
afterEach(async () => {
  redis.disconnect();
  await node.stop();
  await clock.close();
  await testDatabase.drop();
});

/** A board that was made a day ago, by the clock of the ledger, with an entry of today. */
async function putDaily(): Promise<Board> {
  const board = await node.put('daily', { windows: ['daily'] });
  await clock.goOnFrom((await clock.nowMs()) + DAY_MS);
  await node.submit('daily', 'ada', 10);
  await node.caughtUp();
  return board;
}

/** The list of the present day, as it is read. */
async function listOfToday(): Promise<ReturnType<typeof listOfWindow>> {
  await node.boards.refresh();
  const board = node.boards.byId('daily')!;
  const window = (await node.windows.ofBoard(board.uid)).find(({ kind }) => kind === 'daily')!;
  return listOfWindow(board, window, GLOBAL_SCOPE);
}

const versionNow = async (): Promise<number> => (await node.projection.total(await listOfToday())).listVersion;

/** Each change of an entry is another version: whoever knows one version knows one state. */
async function expectVersionsToGrow(): Promise<void> {
  let before = await versionNow();
  for (const score of [20, 30]) {
    await node.submit('daily', 'ada', score);
    await node.caughtUp();
    const after = await versionNow();
    expect(after).toBeGreaterThan(before);
    before = after;
  }
}

describe('the list of a window that began, by the clock of the ledger, later than it is by that of the process', () => {
  it('has another version with each change in a generation that was filled', async () => {
    const board = await putDaily();
    await expectVersionsToGrow();
    await node.put('daily', { windows: ['daily'], sharding: { by: 'hash', count: 2 } });
    await node.builder.build(board.uid, never);
    expect((await listOfToday()).generation).toBe(2);
    await expectVersionsToGrow();
  });

  it('has another version with each change after Redis lost everything', async () => {
    await putDaily();
    await node.unfollow();
    await redis.flushall();
    for (const lane of node.lanes.all) await node.recovery.check(lane, never);
    await node.follow();
    await expectVersionsToGrow();
  });

  it('has another version with each change after a shard was brought back', async () => {
    const { database, projection, boards } = node;
    const lost = new RedisLostShards(node.redis);
    const restorer = new ShardRestorer(database, projection, boards, new WindowLists(database), lost);
    await putDaily();
    await lost.note(await listOfToday(), 0);
    const [one] = await lost.noted();
    await restorer.restore(one!, never);
    await expectVersionsToGrow();
  });
});
