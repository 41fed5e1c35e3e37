// Real: the built service as a user of Redis or Valkey that has no more rights than docs/operations/redis.md names; one
// server, and a cluster.
import { readFileSync } from 'node:fs';
import { createTestDatabase, newInstallation, startApp, type RunningApp, type TestDatabase } from '@laddercast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LiveClient } from '../../libs/realtime/test/follower.js';
import { formCluster } from '../faults/redis-nodes.js';
import { Redis } from '../integration/nodes/redis-client.js';
import { startRedis, type RedisProcess } from '../integration/nodes/redis-process.js';
import { RestClient } from './rest-client.js';

const SETTLED = { timeout: 60_000, interval: 100 };
const PLAYERS = 200;

/** Name, password and rights, as the page says. */
function userOfThePage(): string[] {
  const page = readFileSync('docs/operations/redis.md', 'utf8');
  const [, user] = /`ACL SETUSER ([^`]+)`/.exec(page)!;
  return user!.split(/\s+/);
}

describe.each([
  ['one server', 1],
  ['a cluster', 2],
] as const)('a user with the rights of the page, on %s', (_name, masters) => {
  let nodes: RedisProcess[] = [];
  let database: TestDatabase;
  let installation: ReturnType<typeof newInstallation>;
  let app: RunningApp;
  let admin: RestClient;
  const [name, ...rights] = userOfThePage();

  /** As one who may do everything, on each node. */
  async function onAll<T>(work: (client: Redis) => Promise<T>): Promise<T[]> {
    return Promise.all(
      nodes.map(async ({ port }) => {
        const client = new Redis(port, '127.0.0.1');
        return work(client).finally(() => client.disconnect());
      }),
    );
  }
  /** What was refused since the last look, by command. */
  const refused = async (): Promise<string[]> => {
    const logs = await onAll((client) => client.call('ACL', 'LOG') as Promise<string[][]>);
    await onAll((client) => client.call('ACL', 'LOG', 'RESET'));
    return logs.flat().map((entry) => `${entry[entry.indexOf('reason') + 1]} ${entry[entry.indexOf('object') + 1]}`);
  };

  beforeAll(async () => {
    const args = masters === 1 ? [] : ['--cluster-enabled', 'yes', '--cluster-node-timeout', '2000'];
    nodes = await Promise.all(Array.from({ length: masters }, () => startRedis({ args })));
    if (masters > 1) await formCluster(nodes);
    await onAll((client) => client.call('ACL', 'SETUSER', name!, ...rights));
    const password = rights.find((right) => right.startsWith('>'))!.slice(1);
    const redisUrl = nodes.map(({ url }) => url.replace('://', `://${name}:${password}@`)).join(',');
    database = await createTestDatabase();
    installation = newInstallation(database.url, redisUrl);
    app = await startApp('standalone', installation);
    admin = new RestClient(app.url, installation.adminKey);
  });
  afterAll(async () => {
    await app?.stop();
    await Promise.all(nodes.map((node) => node.stop()));
    await database?.drop();
  });

  const places = async (path: string): Promise<string[]> => {
    const { body } = await admin.get(path);
    return ((body as { entries?: { playerId: string }[] }).entries ?? []).map(({ playerId }) => playerId);
  };
  const expected = Array.from({ length: PLAYERS }, (_, at) => `p${PLAYERS - 1 - at}`);
  const whole = (board: string) => expect.poll(() => places(`/v1/boards/${board}/entries?limit=500&offset=0`), SETTLED);

  it('is let submit, read, follow, rebuild, compare and bring back, and is refused nothing', async () => {
    const scopes = ['global', 'guild'];
    await admin.makeBoard('hash', { sharding: { by: 'hash', count: 4 }, push: { intervalMs: 100 }, scopes });
    await admin.makeBoard('range', {
      sharding: { by: 'range', boundaries: [100] },
      dense: true,
      operator: 'latest',
      windows: ['alltime', 'daily'],
    });
    const boards = ['hash', 'range'];
    for (const board of boards) {
      const submissions = Array.from({ length: PLAYERS }, (_, score) => ({ board, playerId: `p${score}`, score }));
      const { status, text } = await admin.post('/v1/scores', { submissions }, { Prefer: 'wait=10' });
      expect(status, text).toBe(200);
      await whole(board).toEqual(expected);
    }
    const live = await LiveClient.connect(`${app.url.replace('http', 'ws')}/v1/live`, ['ladder.v1'], {
      headers: { authorization: `Bearer ${installation.adminKey}` },
    });
    expect((await live.ask({ type: 'subscribe', id: 'top', board: 'hash', channel: 'top' })).type).toBe('snapshot');
    await admin.post('/v1/boards/hash/scores', { playerId: 'p199', score: 5000 });
    await expect.poll(() => live.list('top').seq, SETTLED).toBeGreaterThan(PLAYERS);
    live.socket.terminate();
    for (const path of [
      'hash/players/p3?accuracy=estimated',
      'hash/players/p3?around=3',
      'range/players/p3?rankStyle=dense',
    ])
      expect((await admin.get(`/v1/boards/${path}`)).status).toBe(200);
    expect((await admin.get('/v1/boards/hash/entries?cursor=start')).status).toBe(200);
    for (const board of boards) {
      expect((await admin.post(`/v1/admin/boards/${board}/reconcile`)).status).toBe(202);
      expect((await admin.post(`/v1/admin/boards/${board}/rebuild`)).status).toBe(202);
    }
    for (const board of boards) {
      const layout = async (): Promise<unknown> =>
        ((await admin.get(`/v1/admin/boards/${board}/layout`)).body as { generations: object[] }).generations;
      await expect.poll(layout, SETTLED).toContainEqual(expect.objectContaining({ generation: 2, state: 'serving' }));
    }
    await onAll((client) => client.flushall());
    for (const board of boards) await whole(board).toEqual(expected);
    expect(await refused()).toEqual([]);
  });

  it('lets nothing start where it lacks a right, and names the command', async () => {
    const lacking = masters === 1 ? ['-zadd', '-scan'] : ['-cluster|info'];
    await onAll((client) => client.call('ACL', 'SETUSER', 'lesser', ...rights, ...lacking));
    const redisUrl = installation.redisUrl.replaceAll(`//${name}:`, '//lesser:');
    const refusal = `Redis refuses the user of REDIS_URL ${masters === 1 ? 'ZADD, SCAN' : 'CLUSTER INFO'} for keys and`;
    await expect(startApp('api', { ...installation, redisUrl })).rejects.toThrow(refusal);
  });

  it('loses no score while a right is taken away, answers 503 meanwhile, and is put right afterwards', async () => {
    const change = (...changes: string[]) => onAll((client) => client.call('ACL', 'SETUSER', name!, ...changes));
    await change('-zadd');
    const score = { playerId: 'p0', score: 9000 };
    expect((await admin.post('/v1/boards/hash/scores', score)).status).toBe(200);
    await expect.poll(refused, SETTLED).toContain('command zadd');
    await change('-zcard');
    const read = await admin.get('/v1/boards/hash/entries?limit=5&offset=150');
    expect([read.status, (read.body as { detail: string }).detail]).toEqual([
      503,
      expect.stringMatching(/refuses the service/),
    ]);
    await change(...rights);
    // A script that was refused in its middle has left an entry half changed: a comparison finds it.
    const compared = async (): Promise<string[]> => {
      await admin.post('/v1/admin/boards/hash/reconcile');
      return places('/v1/boards/hash/entries?limit=500&offset=0');
    };
    const better = ['p0', ...expected.filter((player) => player !== 'p0')];
    await expect.poll(compared, { timeout: 60_000, interval: 1000 }).toEqual(better);
    expect((await admin.get('/v1/admin/dead-letters')).body).toMatchObject({ deadLetters: [] });
  });
});
