// Real: servers of the test's own that are stopped, started again and halted.
import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import { pipeline } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BoardOrdering } from '@laddercast/domain';
import {
  RedisConnection,
  RedisRankProjection,
  RedisSnapshotStore,
  type RankList,
  FIRST_GENERATION,
} from '@laddercast/projections';
import { freePort, openTcpProxy } from '@laddercast/testing';
import { Redis } from 'ioredis';
import { afterEach, describe, expect, it } from 'vitest';
import { formCluster } from '../../faults/redis-nodes.js';
import { startRedis, type RedisProcess } from '../nodes/redis-process.js';

const ordering: BoardOrdering = { order: 'desc', operator: 'best', tiebreak: 'none', columns: [] };
const list: RankList = { boardUid: 1, windowUid: 1, scope: 0, ordering, shards: 2, ...FIRST_GENERATION };
const CLUSTER = ['--cluster-enabled', 'yes', '--cluster-node-timeout', '2000'];
const undo: (() => Promise<unknown> | void)[] = [];

afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

async function start(options: Parameters<typeof startRedis>[0] = {}): Promise<RedisProcess> {
  const server = await startRedis(options);
  undo.push(() => server.stop());
  return server;
}

function connectionTo(url: string, said: string[] = []): RedisConnection {
  const onRefusal = (sentence: string): void => void said.push(sentence);
  const redis = new RedisConnection({ url, connectTimeoutMs: 1000, onRefusal });
  undo.push(() => redis.close());
  return redis;
}

const unavailable = { code: 'PROJECTION_UNAVAILABLE', status: 503 };

async function eventually(check: () => Promise<unknown>): Promise<void> {
  for (let tries = 0; ; tries += 1) {
    try {
      await check();
      return;
    } catch (error) {
      if (tries === 600) throw error;
      await sleep(50);
    }
  }
}

describe('a Redis that refuses', () => {
  const states = (redis: RedisConnection) => redis.masterStates(2000);

  it('a password is told from one that is away, and forgotten when it lets in', async () => {
    const server = await start({ password: 'the-right-one' });
    const redis = connectionTo(`redis://:another@127.0.0.1:${server.port}`);
    const projection = new RedisRankProjection(redis);
    await expect(redis.connect()).rejects.toMatchObject(unavailable);
    expect(redis.refusal).toMatch(/REDIS_URL.*WRONGPASS/);
    expect(await states(redis)).toMatchObject([{ answers: false }]);
    await expect(projection.total(list)).rejects.toMatchObject({
      message: expect.stringContaining('Redis refuses') as string,
    });
    await server.stop();
    await eventually(async () => expect(redis.refusal).toBeNull());
    await start({ port: server.port, password: 'another' });
    await eventually(() => projection.total(list));
    expect(redis.refusal).toBeNull();
  });

  it('a user what it does there is told from one that is away', async () => {
    const args = ['--user', 'limited', 'on', '>right', '~*', '+ping', '+info', '+client', '+hello', '+select', '+auth'];
    const server = await start({ args });
    const redis = connectionTo(`redis://limited:right@127.0.0.1:${server.port}`);
    await redis.connect();
    expect(await states(redis)).toMatchObject([{ answers: false }]);
    expect(redis.refusal).toMatch(/what Redis lets that user do \(NOPERM/);
    const refused = { ...unavailable, message: expect.stringMatching(/Redis refuses.*\/health\/ready\.$/) as string };
    await expect(new RedisRankProjection(redis).total(list)).rejects.toMatchObject(refused);
    const operator = new Redis(server.port, '127.0.0.1');
    undo.push(() => operator.disconnect());
    await operator.call('ACL', 'SETUSER', 'limited', '+@all');
    expect(await states(redis)).toMatchObject([{ answers: true }]);
    expect(redis.refusal).toBeNull();
  });
});

describe('a Redis that is set up for something else', () => {
  /** Told once, whatever is asked how often, and forgotten once it is put right. */
  async function expectTold(redis: RedisConnection, said: string[], sentence: RegExp): Promise<void> {
    const projection = new RedisRankProjection(redis);
    for (let tries = 0; tries < 3; tries += 1) {
      await expect(projection.openMark(tries)).rejects.toMatchObject(unavailable);
      expect((await redis.masterStates(2000)).filter(({ answers }) => answers)).toEqual([]);
      expect(redis.refusal).toMatch(sentence);
      expect(redis.isUserRefused).toBe(false);
    }
    expect(said).toEqual([expect.stringMatching(sentence)]);
  }
  async function expectWell(redis: RedisConnection): Promise<void> {
    const answers = async (): Promise<boolean[]> => (await redis.masterStates(2000)).map((state) => state.answers);
    await eventually(async () => expect(await answers()).toContain(true));
    await eventually(async () => expect(await answers()).not.toContain(false));
    expect(redis.refusal).toBeNull();
    await new RedisRankProjection(redis).openMark(0);
  }
  const operatorOf = (server: RedisProcess): Redis => {
    const operator = new Redis(server.port, '127.0.0.1');
    undo.push(() => operator.disconnect());
    return operator;
  };

  it('is told to be a replica, until it is a master', async () => {
    const master = await start();
    const replica = await start({ args: ['--replicaof', '127.0.0.1', String(master.port)] });
    const said: string[] = [];
    const redis = connectionTo(replica.url, said);
    await redis.connect();
    await expectTold(
      redis,
      said,
      /^Redis cannot be used: REDIS_URL leads to a replica.*it must lead to the master \(READONLY/,
    );
    await operatorOf(replica).replicaof('NO', 'ONE');
    await expectWell(redis);
    await operatorOf(replica).replicaof('127.0.0.1', master.port);
    await redis.masterStates(2000);
    expect(said).toHaveLength(2);
  });

  it('is left when it became a replica, as the name may lead to another one', async () => {
    const [first, second] = [await start(), await start()];
    let to = first.port;
    const door = createServer((socket) => void pipeline(socket, connect(to, '127.0.0.1'), socket, () => undefined));
    door.listen(0, '127.0.0.1');
    undo.push(() => void door.close());
    await once(door, 'listening');
    const redis = connectionTo(`redis://127.0.0.1:${(door.address() as AddressInfo).port}`);
    await redis.connect();
    await expectWell(redis);
    to = second.port;
    await operatorOf(first).replicaof('127.0.0.1', second.port);
    await expect(new RedisRankProjection(redis).openMark(1)).rejects.toMatchObject(unavailable);
    await expectWell(redis);
  });

  it('is told to be a cluster that is not formed, until it is', async () => {
    const nodes = [await start({ args: CLUSTER }), await start({ args: CLUSTER })];
    const said: string[] = [];
    const redis = connectionTo(nodes.map(({ url }) => url).join(','), said);
    // The client of a cluster goes on trying, and says nothing.
    void redis.connect().catch(() => undefined);
    const sentence = /^Redis cannot be used: the cluster of REDIS_URL is not formed.*\(CLUSTERDOWN/;
    await expectTold(redis, said, sentence);
    const saidOfOne: string[] = [];
    const one = connectionTo(nodes[0]!.url, saidOfOne);
    await one.connect();
    await expectTold(one, saidOfOne, sentence);
    await formCluster(nodes);
    await expectWell(redis);
  });

  it('is told to be a cluster of which nobody has some slots, where it serves the others, too', async () => {
    const args = [...CLUSTER, '--cluster-require-full-coverage', 'no'];
    const nodes = [await start({ args }), await start({ args })];
    await formCluster(nodes);
    const redis = connectionTo(nodes.map(({ url }) => url).join(','));
    await redis.connect();
    await expectWell(redis);
    for (const node of nodes) await operatorOf(node).call('CLUSTER', 'DELSLOTSRANGE', 16_000, 16_383);
    expect((await redis.masterStates(2000)).map(({ answers }) => answers)).toContain(false);
    expect(redis.refusal).toMatch(/not all of its slots are served.*\(CLUSTERDOWN 16000 of 16384/);
    await operatorOf(nodes[1]!).call('CLUSTER', 'ADDSLOTSRANGE', 16_000, 16_383);
    await expectWell(redis);
  });

  it('is told to be one node of a cluster, where that alone is named', async () => {
    const nodes = [await start({ args: CLUSTER }), await start({ args: CLUSTER })];
    await formCluster(nodes);
    const said: string[] = [];
    // Whatever key is asked for, one of the two has it not.
    for (const { url } of nodes) {
      const redis = connectionTo(url, said);
      await redis.connect();
      await redis.masterStates(2000);
    }
    const sentence = /REDIS_URL names one node of a cluster: name several, separated by commas \(MOVED/;
    expect(said).toEqual([expect.stringMatching(sentence)]);
  });

  it('is a master all the same, while it takes no writes for want of replicas', async () => {
    const server = await start({ args: ['--min-replicas-to-write', '1'] });
    const redis = connectionTo(server.url);
    await redis.connect();
    await expectNoMark(redis);
    expect(await redis.masterStates(2000)).toEqual([{ slots: 'all', answers: true }]);
    expect(redis.refusal).toBeNull();
  });

  const expectNoMark = (redis: RedisConnection): Promise<void> =>
    expect(new RedisRankProjection(redis).openMark(0)).rejects.toMatchObject(unavailable);
});

describe('the connection to Redis', () => {
  it('says that the ranks are unavailable while no server is there, and finds one that comes later', async () => {
    const port = await freePort();
    const redis = connectionTo(`redis://127.0.0.1:${port}`);
    const projection = new RedisRankProjection(redis);
    await expect(redis.connect()).rejects.toMatchObject(unavailable);
    await expect(projection.total(list)).rejects.toMatchObject(unavailable);
    await start({ port });
    await eventually(() => projection.total(list));
  });

  it('numbers sessions: a server that was replaced is another one', async () => {
    const server = await start();
    const redis = connectionTo(server.url);
    await redis.connect();
    const projection = new RedisRankProjection(redis);
    const session = projection.session();
    await projection.openMark(0);
    await projection.advanceMark(0, 0, 5, session);
    await server.stop();
    await eventually(() => expect(projection.total(list)).rejects.toMatchObject(unavailable));
    await start({ port: server.port });
    await eventually(() => projection.total(list));
    expect(projection.session()).not.toBe(session);
    await projection.openMark(0);
    await expect(projection.advanceMark(0, 0, 9, session)).rejects.toMatchObject(unavailable);
    await expect(projection.advanceMark(0, 5, 9, projection.session())).rejects.toMatchObject(unavailable);
    expect(await projection.readMark(0)).toBe(0);
  });

  it('does not wait for ever for a server that hangs', async () => {
    const server = await start();
    const redis = connectionTo(server.url);
    await redis.connect();
    const projection = new RedisRankProjection(redis);
    process.kill(server.pid, 'SIGSTOP');
    undo.push(() => void process.kill(server.pid, 'SIGCONT'));
    const began = performance.now();
    await expect(projection.total(list)).rejects.toMatchObject(unavailable);
    expect(performance.now() - began).toBeLessThan(20_000);
    process.kill(server.pid, 'SIGCONT');
    await eventually(() => projection.total(list));
  });

  it('is sent what comes next before it has answered what came before', async () => {
    const server = await start();
    const proxy = await openTcpProxy('127.0.0.1', server.port);
    undo.push(() => proxy.close());
    const redis = new RedisConnection({ url: `redis://127.0.0.1:${proxy.port}`, commandTimeoutMs: 20_000 });
    undo.push(() => redis.close());
    await redis.connect();
    const projection = new RedisRankProjection(redis);
    const answeredAtMs = async (): Promise<number> => {
      await projection.total(list);
      return performance.now();
    };
    // It knows the script from then on.
    await answeredAtMs();
    proxy.lag(1000);
    const first = answeredAtMs();
    await sleep(50);
    const second = answeredAtMs();
    expect((await second) - (await first)).toBeLessThan(1000);
  });

  it('loads its scripts again when the server has forgotten them', async () => {
    const server = await start();
    const redis = connectionTo(server.url);
    await redis.connect();
    const projection = new RedisRankProjection(redis);
    await projection.total(list);
    const other = new Redis(server.url);
    await other.script('FLUSH');
    other.disconnect();
    expect(await projection.total(list)).toEqual({ total: 0, listVersion: 0 });
  });

  it('tells a refused command from a server that is away', async () => {
    const server = await start();
    const redis = connectionTo(server.url);
    await redis.connect();
    await redis.command('SET', 'text', 'value');
    await expect(redis.command('ZCARD', 'text')).rejects.toThrow('Redis refused a command: WRONGTYPE');
    await redis.command('CONFIG', 'SET', 'maxmemory', '1', 'maxmemory-policy', 'noeviction');
    const change = { playerId: 'ada', version: 1, key: { score: 1, member: Buffer.from('ada') } };
    await expect(new RedisRankProjection(redis).apply(list, 0, [change], null)).rejects.toMatchObject(unavailable);
  });

  it('hears hints again after the server came back', async () => {
    const server = await start();
    const redis = connectionTo(server.url);
    await redis.connect();
    const store = new RedisSnapshotStore(redis);
    const heard: number[] = [];
    undo.push(store.onPublished((_list, seq) => heard.push(seq)));
    await server.stop();
    await start({ port: server.port });
    let seq = 0;
    const hears = async (): Promise<void> => {
      seq += 1;
      const snapshot = { seq, asOfMs: 0, total: 0, depth: 0, listVersion: 0, entries: [] };
      await store.publish({ boardUid: 1, windowUid: seq, scope: 0 }, null, snapshot, null);
      expect(heard.length).toBeGreaterThan(0);
    };
    await eventually(hears);
  });

  it('leaves a connection that died without a word, for commands and for hints', async () => {
    const server = await start();
    const proxy = await openTcpProxy('127.0.0.1', server.port);
    undo.push(() => proxy.close());
    const redis = connectionTo(`redis://127.0.0.1:${proxy.port}`);
    await redis.connect();
    const follower = new RedisSnapshotStore(redis);
    const heard: number[] = [];
    undo.push(follower.onPublished((_list, seq) => heard.push(seq)));
    const publisher = connectionTo(server.url);
    await publisher.connect();
    let seq = 0;
    const hears = async (): Promise<void> => {
      seq += 1;
      const snapshot = { seq, asOfMs: 0, total: 0, depth: 0, listVersion: 0, entries: [] };
      await new RedisSnapshotStore(publisher).publish({ boardUid: 1, windowUid: seq, scope: 0 }, null, snapshot, null);
      await sleep(50);
      expect(heard.at(-1) ?? 0).toBeGreaterThanOrEqual(seq - 1);
      expect(heard.length).toBeGreaterThan(0);
    };
    await eventually(hears);
    proxy.forsakeOpen();
    heard.length = 0;
    const startedAt = performance.now();
    for (;;) {
      if (
        await redis.command('PING').then(
          () => true,
          () => false,
        )
      )
        break;
      expect(performance.now() - startedAt).toBeLessThan(60_000);
      await sleep(50);
    }
    await expect
      .poll(
        async () =>
          hears().then(
            () => true,
            () => false,
          ),
        { interval: 100 },
      )
      .toBe(true);
  });
});
