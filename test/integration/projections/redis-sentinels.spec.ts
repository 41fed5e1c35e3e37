// Real: a master with two replicas and three sentinels of the test's own, a master that is killed.
import {
  FIRST_GENERATION,
  RedisConnection,
  RedisRankProjection,
  redisFault,
  type RankList,
} from '@laddercast/projections';
import type { BoardOrdering, SortKey } from '@laddercast/domain';
import { freePort } from '@laddercast/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { Redis } from '../nodes/redis-client.js';
import { startWatchedRedis, type WatchedRedis } from '../nodes/redis-sentinels.js';

const ordering: BoardOrdering = { order: 'desc', operator: 'best', tiebreak: 'none', columns: [] };
const list: RankList = { boardUid: 1, windowUid: 1, scope: 0, ordering, shards: 2, ...FIRST_GENERATION };
const keyOf = (score: number, playerId: string): SortKey => ({ score: -score, member: Buffer.from(playerId) });
const undo: (() => Promise<unknown> | void)[] = [];

afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

async function start(options: Parameters<typeof startWatchedRedis>[0] = {}): Promise<WatchedRedis> {
  const watched = await startWatchedRedis(options);
  undo.push(() => watched.stop());
  return watched;
}

function connect(options: ConstructorParameters<typeof RedisConnection>[0]): {
  redis: RedisConnection;
  said: string[];
} {
  const said: string[] = [];
  const redis = new RedisConnection({
    connectTimeoutMs: 3000,
    ...options,
    onError: ({ message }) => said.push(message),
  });
  undo.push(() => redis.close());
  return { redis, said };
}

const unavailable = { code: 'PROJECTION_UNAVAILABLE', status: 503 };

describe('a master that sentinels name', () => {
  it('is found, followed over its death, and another master is another session', async () => {
    const watched = await start();
    const { redis } = connect({ url: watched.url, namespace: 'a:' });
    await redis.connect();
    const projection = new RedisRankProjection(redis);
    const session = projection.session();
    await projection.openMark(0);
    await projection.apply(list, 0, [{ playerId: 'ada', version: 1, key: keyOf(7, 'ada') }], null);
    await projection.advanceMark(0, 0, 1, session);
    const before = await watched.master();
    expect((await redis.nodeStates()).map(({ node }) => node)).toEqual([`127.0.0.1:${before.port}`]);
    const writer = new Redis(before.port, '127.0.0.1');
    await writer.set('last', 1);
    expect(await writer.wait(2, 10_000)).toBe(2);
    writer.disconnect();
    const { to } = await watched.failOver();
    // Also where it has not been written to yet.
    await expect.poll(() => projection.total(list).catch(() => null), { timeout: 30_000 }).toMatchObject({ total: 1 });
    expect(to.port).not.toBe(before.port);
    // Sentinels that were given no time may have made a third one since.
    const isAtMaster = async (): Promise<boolean> =>
      (await redis.nodeStates())[0]?.node === `127.0.0.1:${(await watched.master()).port}`;
    await expect.poll(isAtMaster).toBe(true);
    expect(projection.session()).not.toBe(session);
    expect(await projection.readMark(0)).toBe(1);
    await expect(projection.advanceMark(0, 0, 2, session)).rejects.toMatchObject(unavailable);
    await projection.advanceMark(0, 1, 2, projection.session());
  });

  it('is left where it lives on and another one took its place, and so is what it tells its listeners', async () => {
    const watched = await start();
    const { redis } = connect({ url: watched.url });
    await redis.connect();
    const listener = redis.subscriber();
    await listener.connect();
    const ended = new Promise<void>((resolve) => listener.once('end', () => resolve()));
    const from = await watched.master();
    const session = redis.session();
    // As one that they do not reach: it goes on as a master, and with its clients.
    const old = new Redis(from.port, '127.0.0.1');
    undo.push(() => old.disconnect());
    await old.call('ACL', 'SETUSER', 'watcher', '-slaveof', '-replicaof', '-client|kill');
    const sentinel = new Redis(watched.sentinelPorts[1]!, '127.0.0.1');
    undo.push(() => sentinel.disconnect());
    await sentinel.call('SENTINEL', 'FAILOVER', 'ladder.main');
    await expect.poll(async () => (await watched.master()).port, { timeout: 30_000 }).not.toBe(from.port);
    await ended;
    expect(((await old.call('ROLE')) as string[])[0]).toBe('master');
    await expect.poll(() => redis.session(), { timeout: 10_000 }).toBeGreaterThan(session);
    await expect.poll(() => redis.command('SET', 'probe', 1).catch(() => null), { timeout: 10_000 }).not.toBeNull();
    const { port } = await watched.master();
    await expect.poll(async () => (await redis.nodeStates())[0]?.node, { timeout: 10_000 }).toBe(`127.0.0.1:${port}`);
  });

  it('has a password of its own, and its sentinels have another', async () => {
    const watched = await start({ replicas: 1, password: 'of-servers', sentinelPassword: 'of-sentinels' });
    const { redis } = connect({ url: watched.url, sentinelUser: { password: 'of-sentinels' } });
    await redis.connect();
    expect(await redisFault(redis)).toBeNull();
    expect(await redis.answers()).toBe(true);
    const { redis: refused } = connect({
      url: watched.url,
      sentinelUser: { password: 'another' },
      connectTimeoutMs: 700,
    });
    await expect(refused.connect()).rejects.toMatchObject(unavailable);
    expect(refused.refusal).toMatch(/sentinels of REDIS_URL refuse.*REDIS_SENTINEL_PASSWORD.*WRONGPASS/);
    const { redis: locked } = connect({
      url: watched.url.replace('of-servers', 'another'),
      sentinelUser: { password: 'of-sentinels' },
      connectTimeoutMs: 700,
    });
    await expect(locked.connect()).rejects.toMatchObject(unavailable);
    expect(locked.refusal).toMatch(/user and the password of REDIS_URL.*WRONGPASS/);
  });

  it('is said to be away once, while no sentinel answers or none knows it, and is found when one does', async () => {
    const port = await freePort();
    const away = connect({ url: `redis-sentinel://127.0.0.1:${port}/ladder.main`, connectTimeoutMs: 1500 });
    const began = performance.now();
    await expect(away.redis.connect()).rejects.toMatchObject(unavailable);
    expect(performance.now() - began).toBeLessThan(5000);
    expect(new Set(away.said).size).toBeLessThan(4);
    expect(await away.redis.masterStates(200)).toEqual([{ slots: 'all', answers: false }]);
    const watched = await start({ replicas: 0, sentinels: 1 });
    const unknown = connect({ url: watched.url.replace('ladder.main', 'another'), connectTimeoutMs: 700 });
    await expect(unknown.redis.connect()).rejects.toMatchObject(unavailable);
    expect([...new Set(unknown.said)].join()).toMatch(/No such master with that name$/);
    // Sentinels that come later are asked, too: the client never gives up.
    const late = connect({
      url: `redis-sentinel://127.0.0.1:${port},127.0.0.1:${watched.sentinelPorts[0]}/ladder.main`,
    });
    await late.redis.connect();
    expect(await late.redis.answers()).toBe(true);
  });
});
