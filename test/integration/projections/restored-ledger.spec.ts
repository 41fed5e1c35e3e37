// Real: PostgreSQL with the ledger (copied as a back-up, and restored from the copy), Redis or Valkey, the saga.
import type { LogRecord } from '@laddercast/event-log';
import {
  AppliedSessions,
  LayoutBuilder,
  RestoredLedgerCheck,
  LeftoverSweeper,
  MarkLaneCommand,
  MarkLaneHandler,
  ProjectionWatch,
  RedisLaneMarks,
  RedisProjectionStore,
  type ProjectionRecovery,
} from '@laddercast/projections';
import { createTestDatabase, emptyTestRedis, type TestDatabase } from '@laddercast/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LayoutNode } from '../nodes/layout-node.js';
import { Redis } from '../nodes/redis-client.js';

let testDatabase: TestDatabase;
let redisUrl: string;
let redis: Redis;
let node: LayoutNode;
const never = new AbortController().signal;

const stampWith = ({ database, redis: connection }: LayoutNode, store: RedisProjectionStore): RestoredLedgerCheck =>
  new RestoredLedgerCheck(database, store, new RedisLaneMarks(connection));
const stampOf = (of: LayoutNode): RestoredLedgerCheck => stampWith(of, of.store);

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
    const watch = new ProjectionWatch(new RedisLaneMarks(node.redis), node.committed, node.lanes, () =>
      stamp.isAhead(),
    );
    await watch.look();
    expect(() => watch.assertWhole()).toThrow('PROJECTION_UNAVAILABLE');
    const recovery = node.recoveryWith(stamp);
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

describe('what outlived a ledger that went back', () => {
  const recoveryOf = (of: LayoutNode): ProjectionRecovery => of.recoveryWith(stampOf(of));
  const recoverAll = async (of: LayoutNode): Promise<void> => {
    for (const lane of of.lanes.all) await recoveryOf(of).check(lane, never);
  };

  it('marks beyond the ledger, and the ranks are emptied for that once', async () => {
    await node.put('board', {});
    await node.follow();
    await node.submit('board', 'ada', 10);
    await node.caughtUp();
    await node.unfollow();
    await stampOf(node).advance();
    const marking = new MarkLaneHandler(node.projection, new AppliedSessions(), node.committed);
    await marking.execute(new MarkLaneCommand(0, (await node.committed.drawn()) + 500));
    let emptied = 0;
    for (let look = 0; look < 3; look += 1) {
      if (await stampOf(node).isAhead())
        emptied += await stampOf(node)
          .empty(never)
          .then(() => 1);
      else await stampOf(node).advance();
      await recoverAll(node);
    }
    expect(emptied).toBe(1);
    expect(await standing()).toEqual([['ada', 10]]);
    for (const lane of node.lanes.all) {
      expect(await node.committed.of(lane)).toBeLessThanOrEqual(await node.committed.drawn());
    }
  });

  it('reads events that the ledger never drew, and passes over them', async () => {
    await node.put('board', {});
    await node.follow();
    await node.submit('board', 'ada', 10);
    await node.caughtUp();
    await node.unfollow();
    const { boardUid, windowUid } = await node.listOf('board');
    const lane = node.lanes.of('ada');
    await node.database.query(`SELECT nextval('ladder_position')`);
    const drawn = await node.committed.drawn();
    let asked = 0;
    const committed = Object.assign(Object.create(node.committed) as typeof node.committed, {
      drawn: () => ((asked += 1), node.committed.drawn()),
    });
    const saga = node.sagaWith(committed);
    const recordAt = (position: number, score: number, ageMs: number): LogRecord => {
      const entry = { score, columns: [], achievedAtMs: 1 };
      const changes = [{ windowUid, keepUntilMs: null, entry }];
      const event = { type: 'entry-changed', boardUid, playerId: 'ada', version: position, changes } as const;
      return { topic: 'entry-changed', lane, position, writtenAtMs: Date.now() - ageMs, key: 'ada', event };
    };
    const lost = [recordAt(drawn + 500, 99, 60_000), recordAt(drawn + 501, 98, 60_000)];
    await saga.project({ lane, records: [recordAt(drawn, 11, 60_000), ...lost] });
    expect(await standing()).toEqual([['ada', 11]]);
    await saga.project({ lane, records: lost });
    expect(await node.projection.readMark(lane)).toBe(drawn);
    expect(await node.committed.of(lane)).toBe(drawn);
    expect(asked).toBe(2);
    // What comes at once is as it ever was, and what is late and known to be drawn: nobody is asked.
    await node.submit('board', 'ada', 12);
    const after = await node.committed.drawn();
    await saga.project({ lane, records: [recordAt(drawn, 11, 60_000)] });
    await saga.project({ lane, records: [recordAt(after, 12, 100)] });
    expect(asked).toBe(2);
    expect(await standing()).toEqual([['ada', 12]]);
  });

  it('ends, and until then takes nothing for done; who came after it goes on', async () => {
    await node.put('board', {});
    await node.stop();
    await testDatabase.backUp();
    await start();
    const old = node;
    let ended = 0;
    old.boards.onOtherHistory(() => (ended += 1));
    for (let n = 0; n < 3; n += 1) await old.put('lost', { keepEndedSeconds: n });
    await testDatabase.restore();
    await start();
    try {
      await node.put('after', {});
      await node.submit('after', 'ada', 5);
      // What the one before took for the newest is as old for the ledger: it never hears of the board.
      await expect.poll(() => old.boards.refresh().then(() => 'known')).toBe('known');
      expect([old.boards.byId('after'), old.boards.byId('lost')]).toEqual([undefined, expect.anything()]);
      await stampOf(node).empty(never);
      await node.boards.refresh();
      expect(node.boards.byId('after')).toBeDefined();
      const list = await node.listOf('after');
      await recoverAll(node);
      await node.projection.dropMark(0);
      const gone = { code: 'LEDGER_UNAVAILABLE' };
      await expect(old.boards.refresh()).rejects.toMatchObject(gone);
      expect(ended).toBeGreaterThan(0);
      await expect(recoveryOf(old).check(0, never)).rejects.toMatchObject(gone);
      await expect(old.saga.project({ lane: 1, records: [] })).rejects.toMatchObject(gone);
      await expect(new LeftoverSweeper(old.boards, old.layouts, old.store).sweep(never)).rejects.toMatchObject(gone);
      expect(await node.projection.readMark(0)).toBeNull();
      await recoverAll(node);
      expect((await node.projection.total(list)).total).toBe(1);
    } finally {
      await old.stop();
    }
  });

  it('slept while it emptied the ranks, and removes nothing for good that another has brought back', async () => {
    await node.put('board', {});
    await node.follow();
    await node.submit('board', 'ada', 10);
    await node.caughtUp();
    await stampOf(node).advance();
    await node.store.setStamp(1e6);
    const lease = new AbortController();
    let slept: Promise<void> | null = null;
    // Another empties and brings back all meanwhile.
    const sleep = async (): Promise<void> => {
      await stampOf(node).empty(never);
      await recoverAll(node);
      lease.abort();
    };
    // It sleeps between the answer of SCAN and UNLINK, beyond its lease.
    const sleepy = Object.assign(Object.create(node.redis) as typeof node.redis, {
      command: async (...call: Parameters<typeof node.redis.command>) => {
        if (call[0] === 'UNLINK') await (slept ??= sleep());
        return node.redis.command(...call);
      },
    });
    const store = new RedisProjectionStore(sleepy);
    await expect(stampWith(node, store).empty(lease.signal)).rejects.toThrow();
    await recoverAll(node);
    expect(await stampOf(node).isAhead()).toBe(false);
    expect(await standing()).toEqual([['ada', 10]]);
  });
});

describe('keys of lists that are gone', () => {
  it('are looked for without asking the ledger for the lists that are there', async () => {
    for (const board of ['one', 'two', 'three']) await node.put(board, {});
    await node.follow();
    for (const board of ['one', 'two', 'three']) await node.submit(board, 'ada', 1);
    await node.caughtUp();
    let asked = 0;
    const removalsOf = (uid: number): ReturnType<typeof node.layouts.removalsOf> => {
      asked += 1;
      return node.layouts.removalsOf(uid);
    };
    const { boards, store } = node;
    expect(await new LeftoverSweeper(boards, { removalsOf }, store).sweep(never)).toBe(0);
    expect(asked).toBe(0);
  });

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
    const sweeper = new LeftoverSweeper(node.boards, node.layouts, node.store);
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
    const written: number[] = [];
    const build = async (stopAfterRows: number, stopAfterProofs = Infinity): Promise<void> => {
      const stop = new AbortController();
      let rows = 0;
      let proofs = 0;
      const applying = node.projection.apply.bind(node.projection);
      const leaving = node.projection.leaveProof.bind(node.projection);
      const projection = Object.assign(Object.create(node.projection) as typeof node.projection, {
        apply: (...parameters: Parameters<typeof applying>) => {
          rows += parameters[2].length;
          if (rows > stopAfterRows) stop.abort();
          return applying(...parameters);
        },
        leaveProof: async (...parameters: Parameters<typeof leaving>) => {
          const isLeft = await leaving(...parameters);
          proofs += Number(isLeft);
          if (proofs <= stopAfterProofs) return isLeft;
          stop.abort();
          throw new Error('ends before it notes what the proof stands for');
        },
      });
      const { database, boards, layouts, committed, windowLists } = node;
      const options = { noteEveryMs: 0, lookEveryMs: 20 };
      const builder = new LayoutBuilder(database, boards, layouts, projection, committed, windowLists, options);
      const signal = AbortSignal.any([stop.signal, AbortSignal.timeout(20_000)]);
      await builder.build(uid, signal).catch(() => undefined);
      written.push(rows);
    };
    await build(10_000);
    const noted = (await node.layouts.progressOf(uid))!;
    expect(noted).toMatchObject({ scans: 1, reached: { isGuild: false } });
    expect(noted.rowsScanned).toBeGreaterThan(0);
    await build(Infinity);
    expect(written[1]).toBeLessThan(20_001);
    expect((await node.projection.total(await node.listOf('board'))).total).toBe(20_001);

    await node.removeAll();
    expect(await node.layouts.rebuild('board', 'test')).toBe(3);
    await node.boards.refresh();
    await build(10_000);
    await redis.del(...(await redis.keys('*ladder:proof:*')));
    await build(Infinity);
    expect(written[3]).toBeGreaterThanOrEqual(20_001);
    expect((await node.listOf('board')).generation).toBe(3);
    expect((await node.projection.total(await node.listOf('board'))).total).toBe(20_001);

    // Ended between a proof and its note: what was noted before it stands.
    await node.removeAll();
    expect(await node.layouts.rebuild('board', 'test')).toBe(4);
    await node.boards.refresh();
    await build(Infinity, 1);
    await build(Infinity);
    expect(written[5]).toBeLessThan(20_001);
    expect((await node.listOf('board')).generation).toBe(4);
    expect((await node.projection.total(await node.listOf('board'))).total).toBe(20_001);
  });
});
