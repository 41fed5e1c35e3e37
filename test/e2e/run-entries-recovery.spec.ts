// Real: the built service in one process, PostgreSQL and Redis, which is damaged, emptied and sharded anew; a board where each
// run is an entry, checked against all runs sorted as plainly as possible.
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

const PLAYERS = 12;
const RUNS = 400;
const MOST = 3;
const BOARD = {
  ...{ order: 'desc', operator: 'best', tiebreak: 'none', runs: { keepDays: 30 }, scopes: ['global', 'region'] },
  ...{ entriesPer: 'run', entriesPerPlayerMax: MOST, push: { intervalMs: 100 } },
};
const SETTLED = { timeout: 60_000, interval: 100 };

interface Run {
  submissionId: string;
  playerId: string;
  score: number;
}
interface Page {
  entries: { rank: number; playerId: string; entryId: string; score: number }[];
  total: number;
  next: string | null;
}

const linesOf = (entries: Page['entries']): string[] =>
  entries.map(({ rank, playerId, entryId, score }) => `${rank} ${playerId} ${entryId} ${score}`);

describe('entries of runs in Redis', () => {
  let database: TestDatabase;
  let redis: Redis;
  let app: RunningApp;
  let admin: RestClient;
  const runs: Run[] = [];

  beforeAll(async () => {
    database = await createTestDatabase();
    const redisUrl = await emptyTestRedis();
    redis = new Redis(redisUrl);
    const installation = newInstallation(database.url, redisUrl);
    app = await startApp('standalone', installation);
    admin = new RestClient(app.url, installation.adminKey);
    await admin.makeBoard('runs', { ...BOARD, sharding: { by: 'hash', count: 3 } });
    for (let player = 0; player < PLAYERS; player += 2) await admin.put(`/v1/players/p${player}`, { region: 'EU' });
    await submit(RUNS);
  });
  afterAll(async () => {
    redis?.disconnect();
    await app?.stop();
    await database?.drop();
  });

  /** Many with equal scores, so that ids decide. */
  async function submit(count: number): Promise<void> {
    const submissions = Array.from({ length: count }, (_, n): Run => {
      const at = runs.length + n;
      return { submissionId: `r${at}`, playerId: `p${(at * 7) % PLAYERS}`, score: (at * 31) % 20 };
    });
    const named = submissions.map((run) => ({ board: 'runs', ...run }));
    const answer = await admin.post('/v1/scores', { submissions: named }, { Prefer: 'wait=10' });
    expect(answer.status, answer.text).toBe(200);
    runs.push(...submissions);
  }

  function expected(of = runs): string[] {
    const sorted = [...of].sort((a, b) => b.score - a.score || (a.submissionId < b.submissionId ? -1 : 1));
    const taken = new Map<string, number>();
    const standing = sorted.filter(({ playerId }) => {
      const count = (taken.get(playerId) ?? 0) + 1;
      taken.set(playerId, count);
      return count <= MOST;
    });
    return standing.map(({ playerId, submissionId, score }, at) => `${at + 1} ${playerId} ${submissionId} ${score}`);
  }

  async function shown(query = 'limit=100'): Promise<string[] | number> {
    const { status, body } = await admin.get(`/v1/boards/runs/entries?${query}`);
    if (status !== 200) return status;
    return linesOf((body as Page).entries);
  }

  async function expectWhole(): Promise<void> {
    // Beyond the top in memory the shards are read.
    await expect.poll(() => shown('limit=100&offset=0'), SETTLED).toEqual(expected());
    const isOfEurope = ({ playerId }: Run): boolean => Number(playerId.slice(1)) % 2 === 0;
    await expect.poll(() => shown('limit=100&scope=region:EU'), SETTLED).toEqual(expected(runs.filter(isOfEurope)));
    for (const player of ['p0', 'p5']) {
      // While Redis is filled the top in memory is shown, and players are not.
      const ofPlayer = async (): Promise<string[] | number> => {
        const { status, body } = await admin.get(`/v1/boards/runs/players/${player}?around=0`);
        if (status !== 200) return status;
        return linesOf((body as Pick<Page, 'entries'>).entries);
      };
      await expect.poll(ofPlayer, SETTLED).toEqual(expected().filter((line) => line.split(' ')[1] === player));
    }
  }

  it('are those of PostgreSQL over hash shards, in each scope, and page by page under a cursor', async () => {
    await expectWhole();
    const lines: string[] = [];
    for (let path: string | null = '/v1/boards/runs/entries?limit=7&cursor=start'; path !== null;) {
      const answer = await admin.get(path);
      expect(answer.status, answer.text).toBe(200);
      const { entries, next }: Page = answer.body as Page;
      lines.push(...linesOf(entries));
      path = next;
    }
    expect(lines).toEqual(expected());
  });

  it('come back when Redis has lost everything, and nothing else does', async () => {
    await submit(60);
    await redis.flushall();
    await expectWhole();
  });

  it('are found by a reconciliation where they are missing, and found right where they are', async () => {
    const reconcile = async (): Promise<Record<string, unknown>> => {
      const path = '/v1/admin/boards/runs/reconcile';
      const begun = await admin.post(path);
      expect(begun.status, begun.text).toBe(202);
      await expect
        .poll(async () => ((await admin.get(path)).body as { finishedAt: string | null }).finishedAt, SETTLED)
        .not.toBeNull();
      return ((await admin.get(path)).body as { report: Record<string, unknown> }).report;
    };
    expect(await reconcile()).toMatchObject({ missing: 0, stale: 0, stray: 0 });
    const [key] = await redis.keys('*.0.*:z');
    const [member] = await redis.zrangeBuffer(key!, 0, 0);
    expect(await redis.zrem(key!, member!)).toBe(1);
    const report = await reconcile();
    expect(report).toMatchObject({ missing: 1 });
    const [example] = report['examples'] as { playerId: string; entryId: string }[];
    expect(example!.playerId).toMatch(/^p\d+$/);
    expect(example!.entryId).toMatch(/^r\d+$/);
    await expectWhole();
  });

  it('cross to shards by score while runs come', async () => {
    const ranges = { ...BOARD, sharding: { by: 'range', boundaries: [5, 10, 15] }, dense: true };
    expect((await admin.put('/v1/boards/runs', ranges)).status).toBe(200);
    await submit(80);
    await expect
      .poll(async () => {
        const { body } = await admin.get('/v1/admin/boards/runs/layout');
        return (body as { generations: { state: string; sharding: object }[] }).generations.map(
          ({ state, sharding }) => [state, (sharding as { by: string }).by],
        );
      }, SETTLED)
      .toEqual([['serving', 'range']]);
    await submit(40);
    await expectWhole();
  });
});
