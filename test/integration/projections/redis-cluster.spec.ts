// Real: three masters of the Redis or Valkey found, made into a cluster here.
import { setTimeout as sleep } from 'node:timers/promises';
import { encodeSortKey, type BoardOrdering } from '@laddercast/domain';
import {
  RedisAnnouncements,
  RedisConnection,
  RedisProjectionStore,
  RedisRankInspection,
  RedisRankProjection,
  RedisSnapshotStore,
  type Announcement,
  type IndexPlace,
  type RankList,
  FIRST_GENERATION,
} from '@laddercast/projections';
import { applyAll, rankProjectionConformance } from '@laddercast/testing';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startRedis, type RedisProcess } from '../nodes/redis-process.js';

const SLOTS = 16_384;
let masters: RedisProcess[] = [];
let redis: RedisConnection;

beforeAll(async () => {
  const args = ['--cluster-enabled', 'yes', '--cluster-node-timeout', '2000'];
  masters = await Promise.all([0, 1, 2].map(() => startRedis({ args })));
  await formCluster(masters);
  redis = new RedisConnection({ url: masters.map(({ url }) => url).join(','), commandTimeoutMs: 10_000 });
  await redis.connect();
});

afterAll(async () => {
  await redis?.close();
  await Promise.all(masters.map((master) => master.stop()));
});

describe('ranks in a Redis cluster', () => {
  rankProjectionConformance({ projection: () => new RedisRankProjection(redis), runs: 6 });
});

describe('a Redis cluster', () => {
  it('says of each master which slots it serves, and whether it answers', async () => {
    const states = await redis.masterStates(1000);
    expect(states.map(({ answers }) => answers)).toEqual([true, true, true]);
    const runs = states.flatMap(({ slots }) => slots.split(' ')).map((run) => run.split('-').map(Number));
    // Together they are all slots, each once.
    const served = runs.flatMap(([first, last = first]) =>
      Array.from({ length: last! - first! + 1 }, (_, i) => first! + i),
    );
    expect(served.sort((a, b) => a - b)).toEqual(Array.from({ length: SLOTS }, (_, slot) => slot));
  });

  it('is one session from the start on, whichever master is written to first', async () => {
    const fresh = new RedisConnection({ url: masters.map(({ url }) => url).join(','), commandTimeoutMs: 10_000 });
    await fresh.connect();
    const session = fresh.session();
    const keyOf = (tag: number): string => `{${tag}}`;
    for (const tag of fresh.tagsOfMasters(keyOf)) await fresh.command('SET', keyOf(tag), tag);
    expect(fresh.session()).toBe(session);
    await fresh.close();
  });

  it('holds the shards of one list on several masters, each script in one slot', async () => {
    const ordering: BoardOrdering = { order: 'desc', operator: 'best', tiebreak: 'none', columns: [] };
    const list: RankList = { boardUid: 2, windowUid: 1, scope: 0, ordering, shards: 12, ...FIRST_GENERATION };
    const projection = new RedisRankProjection(redis);
    for (let shard = 0; shard < list.shards; shard += 1) {
      const playerId = `p${shard}`;
      const key = encodeSortKey(ordering, { score: shard, columns: [], achievedAtMs: 0 }, playerId);
      await projection.apply(list, shard, [{ playerId, version: 1, key }], null);
    }
    const sizes = await Promise.all(masters.map((master) => onServer(master, (server) => server.dbsize())));
    // A script that left its slot would have been refused by the server (CROSSSLOT, or an undeclared key).
    expect(sizes.every((size) => size > 0)).toBe(true);
    expect((await projection.total(list)).total).toBe(12);
  });

  it('takes out entries of a list by ranges whose removal one master has forgotten', async () => {
    const ordering: BoardOrdering = { order: 'asc', operator: 'best', tiebreak: 'none', columns: [] };
    const boundaries = [10, 20, 30, 40, 50, 60, 70];
    const list: RankList = {
      ...FIRST_GENERATION,
      boardUid: 3,
      windowUid: 1,
      scope: 0,
      ordering,
      shards: 8,
      boundaries,
    };
    const projection = new RedisRankProjection(redis);
    const history = Array.from({ length: 1200 }, (_, at) => ({
      playerId: `p${at}`,
      version: at + 1,
      values: { score: at % 80, columns: [], achievedAtMs: 0 },
    }));
    await applyAll(projection, list, history);
    const before = await projection.page(list, 0, 500, 'ordinal');
    const forgotten = ['p5', 'p6', 'p77'];
    for (const master of masters) {
      await onServer(master, async (server) => {
        // Only the master that has the slot takes it.
        for (const id of forgotten) await server.zadd('{3.1.0.4}1:z', 44, id).catch(() => undefined);
      });
    }
    expect((await projection.total(list)).total).toBe(1203);
    expect(await projection.removeStrays(list, null)).toBe(3);
    expect(await projection.page(list, 0, 500, 'ordinal')).toMatchObject({ total: 1200, entries: before.entries });
    expect(await projection.removeStrays(list, null)).toBe(0);
  });

  it('has a mark on each master, and no mark when one master lost everything', async () => {
    const projection = new RedisRankProjection(redis);
    await projection.openMark(1);
    await projection.advanceMark(1, 0, 7, projection.session());
    expect(await projection.readMark(1)).toBe(7);
    await onServer(masters[1]!, (server) => server.flushall());
    expect(await projection.readMark(1)).toBeNull();
    await expect(projection.advanceMark(1, 7, 9, projection.session())).rejects.toMatchObject({
      code: 'PROJECTION_UNAVAILABLE',
    });
  });

  it('is looked into, stamped and emptied on every master', async () => {
    const ordering: BoardOrdering = { order: 'asc', operator: 'best', tiebreak: 'none', columns: [] };
    const list: RankList = { boardUid: 4, windowUid: 1, scope: 0, ordering, shards: 6, ...FIRST_GENERATION };
    const projection = new RedisRankProjection(redis);
    const history = Array.from({ length: 300 }, (_, at) => ({
      playerId: `p${at}`,
      version: at + 1,
      values: { score: at, columns: [], achievedAtMs: 0 },
    }));
    await applyAll(projection, list, history);
    const inspection = new RedisRankInspection(redis, projection);
    const found = new Set<string>();
    for (let place: IndexPlace | null = { shard: 0, bucket: 0, scan: '0' }; place !== null;) {
      const part: { playerIds: string[]; next: IndexPlace | null } = await inspection.players(list, place);
      for (const playerId of part.playerIds) found.add(playerId);
      place = part.next;
    }
    expect(found.size).toBe(300);
    const held = await inspection.held(list, ['p7', 'nobody', 'p299']);
    expect(held.map(({ version, isStanding }) => [version, isStanding])).toEqual([
      [8, true],
      [null, false],
      [300, true],
    ]);
    expect(await projection.leaveProof('4.1', 'word', projection.session())).toBe(true);
    expect(await projection.findProof('4.1')).toBe('word');
    await onServer(masters[2]!, async (server) => {
      for (const key of await server.keys('*ladder:proof*')) await server.del(key);
    });
    expect(await projection.findProof('4.1')).toBeNull();
    const store = new RedisProjectionStore(redis);
    expect(await store.stamp()).toBe(0);
    await store.setStamp(7);
    let keys = 0;
    for await (const part of store.shardKeys()) keys += part.filter(({ boardUid }) => boardUid === 4).length;
    expect(keys).toBeGreaterThan(300 / 2);
    expect(await store.empty(new AbortController().signal)).toBeGreaterThanOrEqual(keys);
    expect((await projection.total(list)).total).toBe(0);
    expect(await store.stamp()).toBe(7);
    for (const master of masters) expect(await onServer(master, (server) => server.dbsize())).toBe(1);
  });

  it('finds a script again that a master has forgotten', async () => {
    await Promise.all(masters.map((master) => onServer(master, (server) => server.script('FLUSH'))));
    const ordering: BoardOrdering = { order: 'asc', operator: 'best', tiebreak: 'none', columns: [] };
    const list: RankList = { boardUid: 2, windowUid: 2, scope: 0, ordering, shards: 9, ...FIRST_GENERATION };
    expect(await new RedisRankProjection(redis).total(list)).toEqual({ total: 0, listVersion: 0 });
  });

  it('carries hints from any master to every listener', async () => {
    const store = new RedisSnapshotStore(redis);
    const heard: number[] = [];
    const stop = store.onPublished((_list, seq) => heard.push(seq));
    for (let seq = 1; heard.length === 0 && seq < 600; seq += 1) {
      const snapshot = { seq, asOfMs: 0, total: 0, depth: 0, listVersion: 0, entries: [] };
      expect(await store.publish({ boardUid: seq, windowUid: 1, scope: 0 }, null, snapshot, null)).toBe(true);
      await sleep(50);
    }
    expect(heard.length).toBeGreaterThan(0);
    stop();
  });

  it('carries announcements, and says when some may be missed because a connection was replaced', async () => {
    const announcements = new RedisAnnouncements(redis);
    const heard: (Announcement | null)[] = [];
    const stop = announcements.onAnnounced((announcement) => heard.push(announcement));
    await expect.poll(() => heard).toEqual([null]);
    const closed: Announcement = { kind: 'window-closed', boardUid: 1, windowUid: 2 };
    await announcements.announce(closed);
    await expect.poll(() => heard).toEqual([null, closed]);
    for (const master of masters) await onServer(master, (server) => server.client('KILL', 'TYPE', 'pubsub'));
    await expect.poll(() => heard).toEqual([null, closed, null]);
    await announcements.announce(closed);
    await expect.poll(() => heard).toEqual([null, closed, null, closed]);
    stop();
  });

  it('says within seconds that the ranks are unavailable when a master is gone', async () => {
    const projection = new RedisRankProjection(redis);
    const ordering: BoardOrdering = { order: 'asc', operator: 'best', tiebreak: 'none', columns: [] };
    const list: RankList = { boardUid: 2, windowUid: 3, scope: 0, ordering, shards: 12, ...FIRST_GENERATION };
    await projection.total(list);
    await masters[2]!.stop();
    const began = performance.now();
    await expect(projection.total(list)).rejects.toMatchObject({ code: 'PROJECTION_UNAVAILABLE' });
    await expect(projection.readMark(1)).rejects.toMatchObject({ code: 'PROJECTION_UNAVAILABLE' });
    expect(performance.now() - began).toBeLessThan(30_000);
  });
});

async function formCluster(nodes: readonly RedisProcess[]): Promise<void> {
  const share = Math.ceil(SLOTS / nodes.length);
  for (const [at, node] of nodes.entries()) {
    await onServer(node, async (server) => {
      await server.call('CLUSTER', 'SET-CONFIG-EPOCH', at + 1);
      await server.call('CLUSTER', 'ADDSLOTSRANGE', at * share, Math.min(SLOTS, (at + 1) * share) - 1);
      if (at > 0) await server.call('CLUSTER', 'MEET', '127.0.0.1', nodes[0]!.port);
    });
  }
  for (let tries = 0; tries < 600; tries += 1) {
    const infos = await Promise.all(nodes.map((node) => onServer(node, (server) => server.cluster('INFO'))));
    const formed = infos.every(
      (info) => info.includes('cluster_state:ok') && info.includes(`cluster_known_nodes:${nodes.length}`),
    );
    if (formed) return;
    await sleep(100);
  }
  throw new Error('the three masters did not become a cluster within a minute');
}

async function onServer<T>(server: RedisProcess, work: (client: Redis) => Promise<T>): Promise<T> {
  const client = new Redis(server.port, '127.0.0.1');
  try {
    return await work(client);
  } finally {
    client.disconnect();
  }
}
