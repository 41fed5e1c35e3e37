// Real: six nodes with the settings of docker/redis/cluster.conf, three of them replicas; the three apps as processes on them.
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { createTestDatabase, newInstallation, startApp, type RunningApp, type TestDatabase } from '@laddercast/testing';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startRedis, type RedisProcess } from '../integration/nodes/redis-process.js';
import { RestClient } from './rest-client.js';

const SLOTS = 16_384;
const MASTERS = 3;
const FORMED_WITHIN_MS = 60_000;
/** The test's own. */
const OF_ONE_MACHINE = ['port', 'dir'];

/** The settings of the file as arguments of the server. */
function settingsOf(file: string): string[] {
  const lines = readFileSync(file, 'utf8').split('\n');
  const settings = lines.filter((line) => /^[a-z]/.test(line)).map((line) => line.split(/\s+/));
  return settings
    .filter(([name]) => !OF_ONE_MACHINE.includes(name!))
    .flatMap(([name, ...values]) => [`--${name}`, ...values]);
}

async function on<T>(node: RedisProcess, work: (client: Redis) => Promise<T>): Promise<T> {
  const client = new Redis(node.port, '127.0.0.1');
  try {
    return await work(client);
  } finally {
    client.disconnect();
  }
}

async function until(holds: () => Promise<boolean>, what: string): Promise<void> {
  for (const endsAtMs = Date.now() + FORMED_WITHIN_MS; Date.now() < endsAtMs;) {
    if (await holds()) return;
    await delay(100);
  }
  throw new Error(`not within ${FORMED_WITHIN_MS} ms: ${what}`);
}

async function formCluster(nodes: readonly RedisProcess[]): Promise<void> {
  const [masters, replicas] = [nodes.slice(0, MASTERS), nodes.slice(MASTERS)];
  const share = Math.ceil(SLOTS / MASTERS);
  for (const [at, node] of nodes.entries()) {
    await on(node, async (client) => {
      await client.call('CLUSTER', 'SET-CONFIG-EPOCH', at + 1);
      if (at > 0) await client.call('CLUSTER', 'MEET', '127.0.0.1', nodes[0]!.port);
    });
  }
  for (const [at, master] of masters.entries()) {
    const last = Math.min(SLOTS, (at + 1) * share) - 1;
    await on(master, (client) => client.call('CLUSTER', 'ADDSLOTSRANGE', at * share, last));
  }
  const infos = (): Promise<string[]> => Promise.all(nodes.map((node) => on(node, (client) => client.cluster('INFO'))));
  const knows = `cluster_known_nodes:${nodes.length}`;
  await until(async () => (await infos()).every((info) => info.includes(knows)), 'every node knows all others');
  for (const [at, replica] of replicas.entries()) {
    const id = String(await on(masters[at]!, (client) => client.cluster('MYID')));
    await on(replica, (client) => client.call('CLUSTER', 'REPLICATE', id));
  }
  await until(async () => (await infos()).every((info) => info.includes('cluster_state:ok')), 'the cluster is whole');
  const follow = async (): Promise<boolean> => {
    const links = await Promise.all(replicas.map((node) => on(node, (client) => client.info('replication'))));
    return links.every((info) => info.includes('role:slave') && info.includes('master_link_status:up'));
  };
  await until(follow, 'the replicas follow');
}

it('has the settings of a single server, and those of a cluster', () => {
  const cluster = settingsOf('docker/redis/cluster.conf').join(' ');
  // So that a server of the test's kind has seen each of them.
  expect(
    settingsOf('docker/redis/server.conf')
      .join(' ')
      .split(' --')
      .filter((one) => !cluster.includes(one)),
  ).toEqual([]);
});

let database: TestDatabase;
let nodes: RedisProcess[] = [];
const apps: RunningApp[] = [];

beforeAll(async () => {
  const args = settingsOf('docker/redis/cluster.conf');
  expect(args).toContain('--cluster-enabled');
  nodes = await Promise.all(Array.from({ length: 2 * MASTERS }, () => startRedis({ args })));
  await formCluster(nodes);
  database = await createTestDatabase();
});
afterAll(async () => {
  await Promise.all(apps.map((app) => app.stop()));
  await Promise.all(nodes.map((node) => node.stop()));
  await database?.drop();
});

it('serves a sharded board on a cluster with replicas, and names its masters', async () => {
  const installation = newInstallation(database.url, nodes.map(({ url }) => url).join(','));
  for (const app of ['api', 'projector', 'gateway'] as const) apps.push(await startApp(app, installation));
  const admin = new RestClient(apps[0]!.url, installation.adminKey);
  await admin.makeBoard('spread', { sharding: { by: 'hash', count: 6 }, push: { intervalMs: 100 } });
  const submissions = Array.from({ length: 300 }, (_, i) => ({
    board: 'spread',
    playerId: `p${i}`,
    score: (i * 7919) % 1009,
  }));
  const answer = await admin.post('/v1/scores', { submissions }, { Prefer: 'wait=10' });
  expect(answer.status).toBe(200);
  const expected = [...submissions].sort((a, b) => b.score - a.score).map(({ playerId }) => playerId);
  const read = async (): Promise<string[]> => {
    const { body } = await admin.get('/v1/boards/spread/entries?limit=500&offset=0');
    return ((body as { entries?: { playerId: string }[] }).entries ?? []).map(({ playerId }) => playerId);
  };
  await expect.poll(read).toEqual(expected);
  const ready = (await admin.get('/health/ready')).body as { components: { redis: { shards: { state: string }[] } } };
  expect(ready.components.redis.shards.map(({ state }) => state)).toEqual(['ok', 'ok', 'ok']);
  // A stream that replicas follow: what was applied is there, too.
  const empty = async (): Promise<number> => {
    const held = await Promise.all(nodes.slice(MASTERS).map((node) => on(node, (client) => client.dbsize())));
    return held.filter((keys) => keys === 0).length;
  };
  await expect.poll(empty).toBe(0);
});
