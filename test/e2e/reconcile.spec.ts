// Real: the built service in one process, PostgreSQL and Redis; Redis is damaged by hand while it is read and written.
import {
  createTestDatabase,
  emptyTestRedis,
  newInstallation,
  startApp,
  type RunningApp,
  type TestDatabase,
} from '@laddercast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Redis } from '../integration/nodes/redis-client.js';
import { RestClient } from './rest-client.js';

const PLAYERS = 300;
const SETTLED = { timeout: 60_000, interval: 100 };

interface Reconciliation {
  state: string;
  finishedAt: string | null;
  report: Record<'compared' | 'missing' | 'stale' | 'stray' | 'values' | 'counters', number> & {
    examples: { playerId: string; kind: string }[];
  };
}

describe('comparing a board with PostgreSQL', () => {
  let database: TestDatabase;
  let redis: Redis;
  let app: RunningApp;
  let admin: RestClient;

  beforeAll(async () => {
    database = await createTestDatabase();
    const redisUrl = await emptyTestRedis();
    redis = new Redis(redisUrl);
    const settings = { RECONCILE_EVERY_SECONDS: '1' };
    const installation = { ...newInstallation(database.url, redisUrl), settings };
    app = await startApp('standalone', installation);
    admin = new RestClient(app.url, installation.adminKey);
    await admin.makeBoard('whole', { operator: 'latest', sharding: { by: 'hash', count: 2 } });
    await admin.makeBoard('ranged', { sharding: { by: 'range', boundaries: [50, 200] }, dense: true });
    for (const board of ['whole', 'ranged']) {
      const submissions = Array.from({ length: PLAYERS }, (_, n) => ({ board, playerId: `p${n}`, score: n }));
      const answer = await admin.post('/v1/scores', { submissions }, { Prefer: 'wait=10' });
      expect(answer.status, answer.text).toBe(200);
    }
  });
  afterAll(async () => {
    redis?.disconnect();
    await app?.stop();
    await database?.drop();
  });

  async function reconcile(board: string): Promise<Reconciliation> {
    const path = `/v1/admin/boards/${board}/reconcile`;
    const begun = await admin.post(path);
    expect(begun.status, begun.text).toBe(202);
    await expect.poll(async () => ((await admin.get(path)).body as Reconciliation).finishedAt, SETTLED).not.toBeNull();
    return (await admin.get(path)).body as Reconciliation;
  }

  /** Takes some members out of the order of everybody, in whatever shard they are. */
  async function damage(boardUid: number, members: number): Promise<number> {
    let removed = 0;
    for (const key of await redis.keys(`*{${boardUid}.*.0.*:z`)) {
      for (const member of (await redis.zrangeBuffer(key, 0, -1)).slice(3, 3 + members)) {
        removed += await redis.zrem(key, member);
      }
    }
    return removed;
  }
  const total = async (board: string): Promise<number> =>
    ((await admin.get(`/v1/boards/${board}/entries?limit=1&offset=${PLAYERS - 50}`)).body as { total: number }).total;

  it('tells of none where none was asked for', async () => {
    expect((await admin.get('/v1/admin/boards/whole/reconcile')).body).toMatchObject({ board: 'whole', state: 'none' });
    expect((await admin.post('/v1/admin/boards/none/reconcile')).status).toBe(404);
    const reader = admin.as(await admin.makeKey('read'));
    expect((await reader.post('/v1/admin/boards/whole/reconcile')).status).toBe(403);
  });

  it('finds nothing while a board is written', async () => {
    const stop = new AbortController();
    const writing = (async () => {
      for (let n = 0; !stop.signal.aborted; n += 1) {
        const { status } = await admin.post('/v1/boards/whole/scores', { playerId: `p${n % PLAYERS}`, score: n });
        expect(status).toBe(200);
      }
    })();
    for (const board of ['whole', 'ranged']) {
      const { state, report } = await reconcile(board);
      expect(state).toBe('finished');
      expect(report).toMatchObject({ missing: 0, stale: 0, stray: 0, values: 0, counters: 0 });
      expect(report.compared).toBeGreaterThanOrEqual(2 * PLAYERS);
    }
    stop.abort();
    await writing;
    expect(app.output()).not.toContain('differed');
  });

  it.each([
    ['whole', 1],
    ['ranged', 2],
  ])('puts the board %s right, by samples or when asked', async (board, uid) => {
    const removed = await damage(uid, 5);
    expect(removed).toBeGreaterThanOrEqual(10);
    await reconcile(board);
    await expect.poll(() => total(board), SETTLED).toBe(PLAYERS);
    expect((await reconcile(board)).report).toMatchObject({ missing: 0, stale: 0, stray: 0 });
  });

  it('puts right by itself what nobody asks for, and says so', async () => {
    const said = (): number => app.output().split('differed from PostgreSQL').length - 1;
    const before = said();
    await damage(1, 2);
    await expect.poll(() => total('whole'), SETTLED).toBe(PLAYERS);
    await expect.poll(said, SETTLED).toBeGreaterThan(before);
  });
});
