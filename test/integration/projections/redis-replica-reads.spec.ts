// Real: a master and a replica of the test's own, whose stream can be held up; the watch over the marks.
import { setTimeout as sleep } from 'node:timers/promises';
import { shardOf, type BoardOrdering, type SortKey } from '@laddercast/domain';
import {
  FIRST_GENERATION,
  NoReplica,
  ProjectionWatch,
  RedisConnection,
  RedisLaneMarks,
  RedisRankProjection,
  RedisReplicaReads,
  RedisSketchStore,
  SketchBuilder,
  ShardCounters,
  SketchCache,
  type RankList,
  type ReplicaReads,
} from '@laddercast/projections';
import { RankEstimates } from '@laddercast/queries';
import { openTcpProxy, type TcpProxy } from '@laddercast/testing';
import { Logger } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { EMPTY_BOARD, MemoryList } from '../../../libs/queries/test/snapshot-ports.js';
import { Redis } from '../nodes/redis-client.js';
import { startRedis, type RedisProcess } from '../nodes/redis-process.js';

const ordering: BoardOrdering = { order: 'desc', operator: 'best', tiebreak: 'none', columns: [] };
const list: RankList = { boardUid: 1, windowUid: 1, scope: 0, ordering, shards: 2, ...FIRST_GENERATION };
const LANE = 0;

let servers: RedisProcess[];
let stream: TcpProxy;
let master: RedisConnection;
let replica: RedisConnection;
let projection: RedisRankProjection;
let watch: ProjectionWatch;
let reads: RedisReplicaReads;
let committed: number;

beforeEach(async () => {
  const server = await startRedis({ args: ['--repl-diskless-sync-delay', '0'] });
  stream = await openTcpProxy('127.0.0.1', server.port);
  servers = [server, await startRedis({ args: ['--replicaof', '127.0.0.1', String(stream.port)] })];
  master = new RedisConnection({ url: server.url, namespace: 'a:' });
  replica = new RedisConnection({ url: servers[1]!.url, namespace: 'a:', isReplica: true, commandTimeoutMs: 500 });
  await Promise.all([master.connect(), replica.connect()]);
  while (!String(await replica.command('INFO', 'replication')).includes('master_link_status:up')) await sleep(20);
  committed = 0;
  watch = new ProjectionWatch(new RedisLaneMarks(master), { ofAll: async () => [committed] }, { all: [LANE] });
  const counters = new ShardCounters();
  projection = new RedisRankProjection(master, watch, undefined, undefined, counters);
  await projection.openMark(LANE);
  await watch.start((listener) => master.onReady(listener));
  reads = new RedisReplicaReads(master, replica, { guard: watch, lanes: { all: [LANE] }, counters });
});

afterEach(async () => {
  watch.stop();
  await reads.close();
  await master.close();
  await stream.close();
  await Promise.all(servers.map((server) => server.stop()));
});

/** A score of somebody new, with its mark. */
async function submit(playerId: string, score: number): Promise<void> {
  const key: SortKey = { score: -score, member: Buffer.from(playerId) };
  await projection.apply(list, shardOf(playerId, list.shards), [{ playerId, version: committed + 1, key }], null);
  await projection.advanceMark(LANE, committed, committed + 1, projection.session());
  committed += 1;
}

/** How many entries the list shows, and where that was read. */
async function read(of: ReplicaReads = reads): Promise<[total: number, from: 'replica' | 'master']> {
  return of.read<[number, 'replica' | 'master']>(
    'page',
    list,
    async ({ ranks }) => [(await ranks.page(list, 0, 10, 'ordinal')).total, 'replica'],
    async () => [(await projection.page(list, 0, 10, 'ordinal')).total, 'master'],
  );
}

/** Resolves once the replica is read. */
async function untilNear(): Promise<void> {
  await expect
    .poll(
      async () => {
        await reads.look();
        return (await read())[1];
      },
      { timeout: 10_000, interval: 20 },
    )
    .toBe('replica');
}

describe('what may be read from a replica', () => {
  it('comes from the master where there is none', async () => {
    await submit('ada', 1);
    expect(await read(new NoReplica())).toEqual([1, 'master']);
  });

  it('is read there once it has all that the master had when the lists were first asked for', async () => {
    await submit('ada', 1);
    await untilNear();
    const other = { ...list, generation: 2 };
    const filled: SortKey = { score: -1, member: Buffer.from('ada') };
    const ofOther = () =>
      reads.read<[number, string]>(
        'page',
        other,
        async ({ ranks }) => [(await ranks.page(other, 0, 10, 'ordinal')).total, 'replica'],
        async () => [(await projection.page(other, 0, 10, 'ordinal')).total, 'master'],
      );
    stream.freeze();
    await projection.apply(other, 1, [{ playerId: 'ada', version: 1, key: filled }], null);
    expect(await read()).toEqual([1, 'replica']);
    expect(await ofOther()).toEqual([1, 'master']);
    stream.thaw();
    await expect.poll(ofOther, { timeout: 10_000 }).toEqual([1, 'replica']);
  });

  it('is of a moment ago while the stream is held up, and says of when', async () => {
    await submit('ada', 1);
    await untilNear();
    await reads.look();
    const beforeMs = Date.now();
    stream.freeze();
    await submit('bob', 2);
    await sleep(20);
    await reads.look();
    expect(await read()).toEqual([1, 'replica']);
    const asOfMs = await reads.read(
      'page',
      list,
      async (_, ms) => ms,
      async () => Infinity,
    );
    expect(asOfMs).toBeLessThanOrEqual(beforeMs);
    stream.thaw();
    await expect.poll(async () => (await read())[0], { interval: 20 }).toBe(2);
  });

  it('shows no older keys than were read from the master, and waits for them a little', async () => {
    await submit('ada', 1);
    const keys = () =>
      reads.read<[number | undefined, string]>(
        'key',
        list,
        async ({ ranks }) => [(await ranks.sortKeys(list, ['bob'])).keys[0]?.score, 'replica'],
        async () => [(await projection.sortKeys(list, ['bob'])).keys[0]?.score, 'master'],
      );
    await reads.look();
    expect(await keys()).toEqual([undefined, 'replica']);
    stream.freeze();
    await submit('bob', 2);
    expect(await keys()).toEqual([undefined, 'replica']);
    const ofMaster = () => reads.ofMaster('key', list, async () => 'master');
    expect(await ofMaster()).toBe('master');
    setTimeout(() => stream.thaw(), 200);
    expect(await keys()).toEqual([-2, 'replica']);
    stream.freeze();
    await ofMaster();
    await submit('cy', 3);
    expect(await keys()).toEqual([-2, 'master']);
    // Not a second time in vain.
    const beganAt = performance.now();
    expect(await keys()).toEqual([-2, 'master']);
    expect(performance.now() - beganAt).toBeLessThan(300);
    // What is exact is of another kind.
    expect(await read()).toEqual([2, 'replica']);
  });

  it('shows a player of an estimate no older than another estimate did for which the master was read', async () => {
    await submit('ada', 1);
    await untilNear();
    const store = new RedisSketchStore(master);
    const sketches = new SketchCache(store, new SketchBuilder(projection, store));
    const estimates = new RankEstimates(projection, sketches, reads);
    const resolved = { ...new MemoryList(EMPTY_BOARD).resolved, list };
    const scoreOf = async (options: { minVersion?: number }) =>
      (await estimates.ofPlayers(resolved, ['ada'], { style: 'ordinal', ...options }))?.players[0]?.key.score;
    // The first waits for a sketch no longer than a tenth of a second.
    await expect.poll(() => scoreOf({}), { interval: 20 }).toBe(-1);
    stream.freeze();
    await submit('ada', 2);
    expect(await scoreOf({})).toBe(-1);
    expect(await scoreOf({ minVersion: 1 })).toBe(-2);
    expect(await scoreOf({})).toBe(-2);
    stream.thaw();
  });

  it('is not taken from a master that lacks it, though no mark says so', async () => {
    await submit('ada', 1);
    await untilNear();
    const client = new Redis(servers[0]!.port, '127.0.0.1');
    const held = await Promise.all(
      (await client.keys('a:*')).map(async (key) => [key, await client.dumpBuffer(key)] as const),
    );
    const key: SortKey = { score: -2, member: Buffer.from('ada') };
    await projection.apply(list, shardOf('ada', list.shards), [{ playerId: 'ada', version: 2, key }], null);
    const scoreOf = () =>
      reads.read<number | undefined>(
        'key',
        list,
        async ({ ranks }) => (await ranks.sortKeys(list, ['ada'])).keys[0]?.score,
        async () => (await projection.sortKeys(list, ['ada'])).keys[0]?.score,
      );
    await expect.poll(scoreOf, { interval: 20 }).toBe(-2);
    // As another master that had not heard of it, with its replica away.
    await servers[1]!.stop();
    for (const [name, value] of held) await client.restore(name, 0, value, 'REPLACE');
    client.disconnect();
    await expect(scoreOf()).rejects.toMatchObject({ code: 'PROJECTION_UNAVAILABLE' });
  });

  it('is read from the master where the replica has lost it, and nothing is brought back for that', async () => {
    await submit('ada', 1);
    await untilNear();
    const client = new Redis(servers[1]!.port, '127.0.0.1');
    await client.config('SET', 'replica-read-only', 'no');
    // A list alone, and then everything.
    const [key] = await client.keys('*:z');
    await client.del(key!);
    expect(await read()).toEqual([1, 'master']);
    await client.flushall();
    expect(await read()).toEqual([1, 'master']);
    client.disconnect();
    expect(await master.command('SMEMBERS', 'ladder:lost')).toEqual([]);
  });

  it('is read from the master while the replica is away, at once, and there again when it is back', async () => {
    await submit('ada', 1);
    await untilNear();
    const { port } = servers[1]!;
    await servers[1]!.stop();
    await read();
    const beganAt = performance.now();
    expect(await read()).toEqual([1, 'master']);
    expect(performance.now() - beganAt).toBeLessThan(300);
    servers[1] = await startRedis({ port, args: ['--replicaof', '127.0.0.1', String(stream.port)] });
    await untilNear();
  });

  it.each([
    ['looks', '-info', '+info'],
    ['reads', '-evalsha -eval', '+evalsha +eval'],
  ])(
    'is read from the master where the replica refuses %s, which is said, and there again once it does not',
    async (_what, less, more) => {
      await submit('ada', 1);
      await untilNear();
      const client = new Redis(servers[1]!.port, '127.0.0.1');
      const said = vi.spyOn(Logger.prototype, 'warn');
      try {
        await client.call('ACL', 'SETUSER', 'default', ...less.split(' '));
        expect(await read()).toEqual([1, 'master']);
        expect(said.mock.calls.flat()).toContainEqual(
          expect.stringMatching(/^The replica is not read: it refuses .*REDIS_REPLICA_URL/),
        );
        await client.call('ACL', 'SETUSER', 'default', ...more.split(' '));
        await untilNear();
      } finally {
        said.mockRestore();
        client.disconnect();
      }
    },
  );

  it('is not read from a server that follows another master, whatever that holds', async () => {
    await submit('ada', 1);
    await untilNear();
    const other = await startRedis({ args: ['--repl-diskless-sync-delay', '0'] });
    servers.push(other);
    const client = new Redis(servers[1]!.port, '127.0.0.1');
    await client.replicaof('127.0.0.1', other.port);
    await expect.poll(() => client.info('replication'), { timeout: 10_000 }).toContain('master_link_status:up');
    client.disconnect();
    await reads.look();
    expect(await read()).toEqual([1, 'master']);
  });

  it('is nowhere to be read once the master has lost it, before anybody has noticed', async () => {
    await submit('ada', 1);
    await untilNear();
    // What was recorded is looked up once a second.
    await watch.look();
    await master.command('FLUSHALL');
    await expect(read()).rejects.toMatchObject({ code: 'PROJECTION_UNAVAILABLE' });
  });

  it('counts sketches, too, which are published on the master', async () => {
    await submit('ada', 1);
    const sketches = new RedisSketchStore(master);
    await sketches.publish(list, { generation: 1, listVersion: 7, asOfMs: Date.now(), shards: [] });
    await untilNear();
    const stamp = await reads.read(
      'sketch',
      list,
      async (of) => (await of.sketches.stamps([list]))[0]!,
      async () => null,
    );
    expect(stamp).toMatchObject({ listVersion: 7 });
  });
});
