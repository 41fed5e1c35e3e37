// Real: PostgreSQL with the ledger and its patches, Redis or Valkey, the outbox as the log, what fills and serves lists.
import { patchScopeOf, withBoardDefaults } from '@laddercast/domain';
import { PatchRegistry, Reconciliations } from '@laddercast/ledger';
import { RetaxProgress } from '@laddercast/queries';
import { createTestDatabase, emptyTestRedis, openTcpProxy, type TestDatabase } from '@laddercast/testing';
import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  BoardReconciler,
  EntryComparison,
  LeftoverSweeper,
  ListInspection,
  RedisLostShards,
  RedisRankInspection,
  ShardRestorer,
} from '@laddercast/projections';
import { submissionOf } from '../nodes/ledger-node.js';
import { LayoutNode } from '../nodes/layout-node.js';
import { Redis } from '../nodes/redis-client.js';

const soon = (): AbortSignal => AbortSignal.timeout(30_000);
const family = 'eu4';
const pace = { boardsAtOnce: 2, rowsPerSecond: 0, inUse: new Set<number>() };

describe('a publish', () => {
  let testDatabase: TestDatabase;
  let redisUrl: string;
  let nodes: LayoutNode[];
  let node: LayoutNode;

  beforeEach(async () => {
    testDatabase = await createTestDatabase();
    redisUrl = await emptyTestRedis();
    nodes = [];
    node = await newNode();
    await publish('1.28', node);
  });
  afterEach(async () => {
    for (const one of nodes) await one.stop();
    await testDatabase.drop();
  });

  const newNode = async (url = redisUrl): Promise<LayoutNode> => {
    const made = new LayoutNode(testDatabase.url, url, { feedMs: 0, keepMs: 0 });
    nodes.push(made);
    await made.start();
    return made;
  };
  const publish = async (id: string, by = node, publishedAtMs: number | null = null): Promise<void> => {
    const patches = new PatchRegistry(by.database, by.lanes, by.allLanes);
    await patches.put(id, family, { publishedAtMs, sameAs: null, title: null }, {}, 'ops');
    await by.boards.refresh();
  };
  const make = async (id: string): Promise<number> => {
    const decay = { family, perPatch: 0.1 };
    const { board } = await node.registry.put(
      id,
      withBoardDefaults({ order: 'asc', operator: 'best', limits: { scoreMin: 0 }, decay }),
    );
    await node.boards.refresh();
    return board.uid;
  };
  const submit = async (id: string, player: string, score: number, patch: string): Promise<void> => {
    const board = node.boards.byId(id)!;
    await node.ledger.write(submissionOf(board, player, score, { patch: board.patches!.published[patch]! }));
  };
  /** `player score`, the best first, as the board serves. */
  const shown = async (id: string, by = node, scope = 0): Promise<string[]> => {
    const page = await by.projection.page(await by.listOf(id, 'alltime', scope), 0, 500, 'ordinal');
    return page.entries.map(({ playerId, score }) => `${playerId} ${score}`);
  };
  const followed = async (): Promise<void> => {
    await node.follow();
    await node.caughtUp();
  };

  it('ranks a board anew beside what it shows, and then all of it at once', async () => {
    const uid = await make('b');
    await submit('b', 'ada', 109, '1.28');
    await submit('b', 'bob', 115, '1.28');
    await followed();
    await publish('1.29');
    await submit('b', 'bob', 112, '1.29');
    await node.caughtUp();
    // A run on the new patch is not below zero patches behind in the lists of before.
    expect(await shown('b')).toEqual(['ada 109', 'bob 112']);
    await node.builder.build(uid, soon());
    expect(await shown('b')).toEqual(['bob 112', 'ada 119.9']);
    const { serving } = await node.layoutsOf('b');
    expect(serving).toMatchObject({ taxOrder: 2, taxedSinceMs: expect.any(Number) as number });
    await publish('1.30');
    await submit('b', 'cy', 120, '1.30');
    await node.layouts.stopFeeding(uid, 1);
    await node.builder.build(uid, soon());
    expect(await shown('b')).toEqual(['cy 120', 'bob 123.2', 'ada 130.8']);
  });

  it('between two others ranks by the order that came of it', async () => {
    const uid = await make('b');
    await publish('1.30');
    await submit('b', 'ada', 100, '1.28');
    await followed();
    await publish('1.29', node, Date.now() - 24 * 3_600_000);
    // It is the oldest: nobody is further behind.
    await node.builder.build(uid, soon());
    expect(await shown('b')).toEqual(['ada 110']);
  });

  it.each(['filling', 'proving'] as const)(
    'is brought to its end by another builder when one ends while %s',
    async (step) => {
      const uid = await make('b');
      for (let n = 0; n < 50; n += 1) await submit('b', `p${n}`, 100 + n, '1.28');
      await followed();
      await publish('1.29');
      const dying = new AbortController();
      const watch = setInterval(() => node.news.some((one) => one.step === step) && dying.abort(), 1);
      await expect(node.builder.build(uid, dying.signal)).rejects.toThrow();
      clearInterval(watch);
      expect((await node.layoutsOf('b')).serving.taxOrder).toBe(1);
      expect((await shown('b'))[0]).toBe('p0 100');
      const other = await newNode();
      await other.builder.build(uid, soon());
      expect((await other.layoutsOf('b')).serving.taxOrder).toBe(2);
      expect(await shown('b', other)).toEqual(Array.from({ length: 50 }, (_, n) => `p${n} ${((100 + n) * 11) / 10}`));
    },
  );

  it('is brought to its end by another builder when one ends between the barrier and the switch', async () => {
    const uid = await make('b');
    await submit('b', 'ada', 100, '1.28');
    await followed();
    // The log's consumers do not go on: the barrier is not passed.
    await node.unfollow();
    await publish('1.29');
    const dying = new AbortController();
    const building = node.builder.build(uid, dying.signal);
    const barrier = async (): Promise<unknown> => (await node.layoutsOf('b')).opening?.filledAt;
    await expect.poll(barrier, { timeout: 10_000 }).toHaveLength(node.lanes.count);
    dying.abort();
    await expect(building).rejects.toThrow();
    expect(await shown('b')).toEqual(['ada 100']);
    const other = await newNode();
    await other.follow();
    await other.builder.build(uid, soon());
    expect(await shown('b', other)).toEqual(['ada 110']);
    expect((await other.layoutsOf('b')).opening).toBeNull();
  });

  it('comes though Redis is away, and is shown when it is back', async () => {
    const throughProxy = new URL(redisUrl);
    const proxy = await openTcpProxy(throughProxy.hostname, Number(throughProxy.port));
    try {
      throughProxy.host = `127.0.0.1:${proxy.port}`;
      const cutOff = await newNode(throughProxy.href);
      const uid = await make('b');
      await submit('b', 'ada', 100, '1.28');
      await cutOff.follow();
      await cutOff.caughtUp();
      proxy.cut();
      await publish('1.29');
      await submit('b', 'bob', 105, '1.29');
      const stop = new AbortController();
      cutOff.builder.look(stop.signal, pace);
      // It is tried for a while.
      await setTimeout(1500);
      expect(await shown('b')).toEqual(['ada 100']);
      proxy.mend();
      const look = async (): Promise<string[]> => {
        cutOff.builder.look(stop.signal, pace);
        return shown('b');
      };
      await expect.poll(look, { timeout: 20_000 }).toEqual(['bob 105', 'ada 110']);
      stop.abort();
      await cutOff.builder.settled();
      expect(uid).toBe(cutOff.boards.byId('b')!.uid);
    } finally {
      await proxy.close();
    }
  });

  it('is overtaken by the next one while a generation is filled, and neither is shown half', async () => {
    const uid = await make('b');
    for (let n = 0; n < 20; n += 1) await submit('b', `p${n}`, 100 + n, '1.28');
    await followed();
    await publish('1.29');
    const building = node.builder.build(uid, soon());
    const other = await newNode();
    await Promise.all([publish('1.30', other), publish('1.31', other), building]);
    await node.boards.refresh();
    await node.layouts.stopFeeding(uid, 1);
    await node.builder.build(uid, soon());
    await node.boards.refresh();
    if (node.boards.byId('b')!.layouts.opening) await node.builder.build(uid, soon());
    expect((await node.layoutsOf('b')).serving.taxOrder).toBe(4);
    expect((await shown('b'))[0]).toBe('p0 130');
  });

  it('has the boards in use filled first, and the next begin while those are proven', async () => {
    const ids = ['a', 'b', 'c', 'd', 'e', 'f'];
    const uids = new Map<string, number>();
    for (const id of ids) {
      uids.set(id, await make(id));
      await submit(id, 'ada', 100, '1.28');
    }
    await followed();
    await publish('1.29');
    await node.unfollow();
    expect(node.builder.hasChoice()).toBe(true);
    const stop = new AbortController();
    const look = (): void =>
      node.builder.look(stop.signal, { ...pace, inUse: new Set([uids.get('e')!, uids.get('f')!]) });
    look();
    // The log's consumers do not go on: nothing is proven, and yet all are filled.
    await expect
      .poll(
        () => {
          look();
          return node.news.filter(({ step }) => step === 'proving').length;
        },
        { timeout: 10_000 },
      )
      .toBe(6);
    const first = node.news.filter(({ step }) => step === 'filling').slice(0, 2);
    expect(first.map(({ board }) => board).sort()).toEqual(['e', 'f']);
    const progress = new RetaxProgress(node.layouts);
    const done = async (): Promise<number[]> => {
      await progress.look();
      return ids.map((id) => progress.doneOf(node.boards.byId(id)!));
    };
    // Told a moment before it is noted.
    await expect.poll(done, { timeout: 10_000 }).toEqual([1, 1, 1, 1, 1, 1]);
    await node.follow();
    await expect.poll(async () => (await node.layoutsOf('a')).serving.taxOrder, { timeout: 20_000 }).toBe(2);
    stop.abort();
    await node.builder.settled();
  });

  describe('goes on with the lists of patches', () => {
    let redis: Redis;
    let uid: number;
    let first: number;
    beforeEach(async () => {
      redis = new Redis(redisUrl);
      uid = await make('b');
      first = patchScopeOf(node.boards.byId('b')!.patches!.published['1.28']!.uid);
      await submit('b', 'ada', 109, '1.28');
      await submit('b', 'bob', 115, '1.28');
      await followed();
      await publish('1.29');
      await node.builder.build(uid, soon());
      await node.boards.refresh();
    });
    afterEach(() => redis.disconnect());

    /** The generations of which there are keys of the first patch's list. */
    const generationsKept = async (): Promise<string[]> => {
      const keys = await redis.keys(`{${uid}.*.${first}.0}*`);
      return [...new Set(keys.map((key) => /\}(\d+):[zik]/.exec(key)?.[1]).filter((one) => one !== undefined))].sort();
    };
    const leftOver = (): Promise<number> => new LeftoverSweeper(node.boards, node.layouts, node.store).sweep(soon());
    const versionShown = async (): Promise<number> =>
      (await node.projection.total(await node.listOf('b', 'alltime', first))).listVersion;

    it('which are fed, and stay when the generation before goes', async () => {
      const before = await versionShown();
      await submit('b', 'cy', 112, '1.28');
      await node.caughtUp();
      expect(await shown('b', node, first)).toEqual(['ada 109', 'cy 112', 'bob 115']);
      expect(await versionShown()).toBe(before + 1);
      await node.removeAll();
      expect((await node.layoutsOf('b')).retiring).toBeNull();
      expect(await generationsKept()).toEqual(['1']);
      expect(await leftOver()).toBe(0);
      await publish('1.30');
      await node.builder.build(uid, soon());
      await node.removeAll();
      expect((await node.layoutsOf('b')).serving).toMatchObject({ generation: 3, patchLists: { generation: 1 } });
      expect(await shown('b', node, first)).toEqual(['ada 109', 'cy 112', 'bob 115']);
      expect(await shown('b')).toEqual(['ada 130.8', 'cy 134.4', 'bob 138']);
    });

    it('which are filled anew with the board, and go with the last generation that has them', async () => {
      const before = await versionShown();
      await node.removeAll();
      await publish('1.30');
      // A board that is built anew is not content with a generation that goes on with lists.
      expect(await node.layouts.rebuild('b', 'ops')).toBe(4);
      await node.builder.build(uid, soon());
      await node.removeAll();
      expect(await generationsKept()).toEqual(['4']);
      expect(await shown('b', node, first)).toEqual(['ada 109', 'bob 115']);
      expect(await versionShown()).toBeGreaterThan(before);
      expect(await shown('b')).toEqual(['ada 130.8', 'bob 138']);
    });

    it('which are brought back when they lose a key', async () => {
      const restorer = new ShardRestorer(
        node.database,
        node.projection,
        node.boards,
        node.windowLists,
        new RedisLostShards(node.redis),
      );
      await shown('b', node, first);
      await redis.del(...(await redis.keys(`{${uid}.*.${first}.0}1:z`)));
      await expect(shown('b', node, first)).rejects.toMatchObject({ code: 'PROJECTION_UNAVAILABLE' });
      const [one] = await restorer.close();
      expect(await restorer.restore(one!, soon())).toBe(2);
      expect(await shown('b', node, first)).toEqual(['ada 109', 'bob 115']);
    });

    it('in which a reconciliation finds no drift', async () => {
      await submit('b', 'bob', 114, '1.28');
      await node.caughtUp();
      const { boards, committed, database, projection, scopes, windowLists } = node;
      const inspection = new RedisRankInspection(node.redis, projection);
      const comparison = new EntryComparison(database, projection, inspection, committed);
      const lists = new ListInspection(comparison, inspection);
      const jobs = new Reconciliations(database);
      const reconciler = new BoardReconciler(database, boards, windowLists, scopes, comparison, lists, jobs);
      const report = await reconciler.run(await jobs.request('b', 'ops'), soon());
      const nothing = { missing: 0, stale: 0, stray: 0, values: 0, counters: 0, unsettled: 0 };
      expect(report).toMatchObject({ lists: 3, ...nothing });
    });
  });

  it('waits its turn where rows are throttled, and says how far it is', async () => {
    await make('b');
    for (let n = 0; n < 10; n += 1) await submit('b', `p${n}`, 100 + n, '1.28');
    await make('idle');
    for (let n = 0; n < 10; n += 1) await submit('idle', `p${n}`, 100 + n, '1.28');
    await followed();
    await publish('1.29');
    const progress = new RetaxProgress(node.layouts);
    expect(progress.doneOf(node.boards.byId('b')!)).toBe(0);
    const startedAt = performance.now();
    const stop = new AbortController();
    node.builder.look(stop.signal, { ...pace, boardsAtOnce: 2, rowsPerSecond: 4 });
    await expect
      .poll(
        async () => (await Promise.all(['b', 'idle'].map((id) => node.layoutsOf(id)))).map(({ opening }) => opening),
        {
          timeout: 20_000,
        },
      )
      .toEqual([null, null]);
    // The second of two pages of 10 rows begins when the time of the first is over.
    expect(performance.now() - startedAt).toBeGreaterThan(2400);
    stop.abort();
    await node.builder.settled();
  });
});
