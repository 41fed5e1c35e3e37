// Real: PostgreSQL with the ledger, Redis or Valkey, what fills and removes lists.
import { BoardRebuilds } from '@laddercast/ledger';
import { createTestDatabase, emptyTestRedis, type TestDatabase } from '@laddercast/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LayoutNode } from '../nodes/layout-node.js';

const BOARDS = 20;
const never = new AbortController().signal;

describe('rebuilding all boards', () => {
  let testDatabase: TestDatabase;
  let node: LayoutNode;

  beforeEach(async () => {
    testDatabase = await createTestDatabase();
    node = new LayoutNode(testDatabase.url, await emptyTestRedis(), { feedMs: 0 });
    await node.start();
  });
  afterEach(async () => {
    await node.stop();
    await testDatabase.drop();
  });

  it('holds few of them twice: it waits for the lists of before to be removed', async () => {
    for (let n = 0; n < BOARDS; n += 1) {
      await node.put(`board${n}`, {});
      await node.submit(`board${n}`, 'ada', n);
    }
    await node.follow();
    await node.caughtUp();
    const rebuilds = new BoardRebuilds(node.database, node.layouts);
    await rebuilds.request('the test');
    const rebuild = async (): Promise<number> => {
      for (let round = 0; round < BOARDS; round += 1) {
        await rebuilds.advance();
        await node.boards.refresh();
        const underWay = node.boards.all().filter(({ layouts }) => layouts.opening !== null);
        expect(underWay.length).toBeLessThanOrEqual(2);
        await Promise.all(underWay.map(({ uid }) => node.builder.build(uid, AbortSignal.timeout(60_000))));
        if (underWay.length === 0) break;
      }
      return (await rebuilds.progress()).done;
    };
    const removals = async (): Promise<number> => (await node.layouts.removals()).length;
    const done = await rebuild();
    expect(done).toBeGreaterThanOrEqual(16);
    expect(done).toBeLessThanOrEqual(18);
    expect(await removals()).toBe(done);
    expect(await rebuild()).toBe(done);
    await node.removeAll(never);
    expect(await rebuild()).toBe(BOARDS);
    for (let n = 0; n < BOARDS; n += 1) {
      const list = await node.listOf(`board${n}`);
      expect([list.generation, (await node.projection.total(list)).total]).toEqual([2, 1]);
    }
  });

  it('is one act, however often it is ordered while the boards wait for it', async () => {
    await node.put('one', {});
    const rebuilds = new BoardRebuilds(node.database, node.layouts);
    await rebuilds.request('first');
    await rebuilds.request('second');
    await node.layouts.rebuild('one', 'first');
    await node.layouts.rebuild('one', 'second');
    expect(await node.database.query(`SELECT actor, action FROM audit_log WHERE action LIKE '%.rebuild'`)).toEqual([
      { actor: 'first', action: 'boards.rebuild' },
      { actor: 'first', action: 'board.rebuild' },
    ]);
  });
});
