// Real: an api process, a projector and a gateway, PostgreSQL and Redis; boards are rebuilt while scores are submitted and
// read, and PostgreSQL is restored.
import { PostgresDatabase } from '@laddercast/ledger';
import { createTestDatabase, newInstallation, startApp, type RunningApp, type TestDatabase } from '@laddercast/testing';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startRedis, type RedisProcess } from '../integration/nodes/redis-process.js';
import { RestClient } from './rest-client.js';

const BOARDS = ['one', 'two', 'three'];
const PLAYERS = 400;
const SETTLED = { timeout: 120_000, interval: 100 };

interface Rebuild {
  state: string;
  boards: number;
  done: number;
  underWay: { board: string; generation: number }[];
}

describe('rebuilding', () => {
  let database: TestDatabase;
  let redis: RedisProcess;
  let installation: ReturnType<typeof newInstallation>;
  let api: RunningApp;
  let projector: RunningApp;
  let admin: RestClient;

  beforeAll(async () => {
    database = await createTestDatabase();
    redis = await startRedis();
    installation = newInstallation(database.url, redis.url);
    await start();
    for (const board of BOARDS) {
      await admin.makeBoard(board, { operator: 'latest', sharding: { by: 'hash', count: 2 } });
      const submissions = Array.from({ length: PLAYERS }, (_, n) => ({ board, playerId: `p${n}`, score: n }));
      expect((await admin.post('/v1/scores', { submissions }, { Prefer: 'wait=10' })).status).toBe(200);
    }
  });
  afterAll(async () => {
    await Promise.all([api?.stop(), projector?.stop()]);
    await redis?.stop();
    await database?.drop();
  });

  async function start(): Promise<void> {
    [api, projector] = await Promise.all([startApp('api', installation), startApp('projector', installation)]);
    admin = new RestClient(api.url, installation.adminKey);
  }
  const progress = async (): Promise<Rebuild> => (await admin.get('/v1/admin/rebuild')).body as Rebuild;
  const scores = async (board: string): Promise<Record<string, number>> => {
    const { status, body, text } = await admin.get(`/v1/boards/${board}/entries?limit=500&offset=0`);
    expect(status, text).toBe(200);
    const { entries } = body as { entries: { playerId: string; score: number }[] };
    return Object.fromEntries(entries.map(({ playerId, score }) => [playerId, score]));
  };

  /** A board that is read is whole; before, while ranks are brought back, it is refused. */
  const scoresOnceRead = async (board: string): Promise<Record<string, number>> => {
    const path = `/v1/boards/${board}/entries?limit=500&offset=0`;
    await expect.poll(async () => (await admin.get(path)).status, SETTLED).toBe(200);
    return scores(board);
  };
  /** The first places may be the last that were known, while ranks are brought back. */
  const statusBelowTheTop = async (): Promise<number> =>
    (await admin.get('/v1/boards/one/entries?limit=5&offset=200')).status;
  const stampOfLedger = async (): Promise<number> => {
    const own = new PostgresDatabase({ url: database.url });
    await own.open({ migrate: false });
    const [row] = await own.query<{ value: string }>(`SELECT value FROM installation WHERE name = 'stamp'`);
    await own.close();
    return Number(row?.value ?? 0);
  };

  it('makes the lists of all boards anew, some at a time, though the projector is killed meanwhile', async () => {
    expect(await progress()).toMatchObject({ state: 'none', boards: 0 });
    const begun = await admin.post('/v1/admin/rebuild');
    expect([begun.status, begun.body]).toMatchObject([202, { state: 'running', boards: BOARDS.length, done: 0 }]);
    const { acts } = (await admin.get('/v1/admin/audit?action=boards.rebuild')).body as { acts: object[] };
    expect(acts).toMatchObject([{ actor: 'bootstrap', subject: '*' }]);
    const expected = new Map(BOARDS.map((board) => [board, new Map<string, number>()]));
    let [most, n] = [0, 0];
    let isKilled = false;
    // What is thrown in a poll is waited for.
    const faults: string[] = [];
    await expect
      .poll(async () => {
        for (const board of BOARDS) {
          const playerId = `p${(n += 1) % PLAYERS}`;
          const { status, text } = await admin.post(`/v1/boards/${board}/scores`, { playerId, score: 1000 + n });
          if (status === 200) expected.get(board)!.set(playerId, 1000 + n);
          else faults.push(`a run was answered ${status}: ${text}`);
          const read = await admin.get(`/v1/boards/${board}/entries?limit=500&offset=0`);
          const shown = (read.body as { entries?: object[] }).entries?.length;
          if (shown !== PLAYERS) faults.push(`${shown} players of ${board} by ${read.status}`);
        }
        const now = await progress();
        most = Math.max(most, now.underWay.length);
        if (!isKilled && now.underWay.length > 0) {
          isKilled = true;
          projector.process.kill('SIGKILL');
          await once(projector.process, 'exit');
          projector = await startApp('projector', installation);
        }
        return now;
      }, SETTLED)
      .toMatchObject({ state: 'finished', done: BOARDS.length, underWay: [] });
    expect(faults).toEqual([]);
    expect(isKilled).toBe(true);
    expect(most).toBeLessThanOrEqual(2);
    for (const board of BOARDS) {
      const { body } = await admin.get(`/v1/admin/boards/${board}/layout`);
      const { generations } = body as { generations: { generation: number; state: string }[] };
      expect(generations.find(({ state }) => state === 'serving')!.generation).toBe(2);
      await expect.poll(() => scores(board), SETTLED).toMatchObject(Object.fromEntries(expected.get(board)!));
    }
    const reader = admin.as(await admin.makeKey('read'));
    expect((await reader.post('/v1/admin/rebuild')).status).toBe(403);
  }, 300_000);

  it('fills an empty Redis at the start by itself', async () => {
    await Promise.all([api.stop(), projector.stop()]);
    await redis.stop();
    redis = await startRedis({ port: redis.port });
    await start();
    const sinceMs = Date.now();
    // Deeper than any snapshot, which shows the top as soon as a projector has it.
    await expect.poll(async () => (await admin.get('/v1/boards/one/entries?limit=500')).status, SETTLED).toBe(200);
    process.stdout.write(`An empty Redis was filled ${Date.now() - sinceMs} ms after the processes had started.\n`);
    for (const board of BOARDS) expect(Object.keys(await scoresOnceRead(board)).length).toBe(PLAYERS);
  });

  it('shows no rank of a future that a restored PostgreSQL does not have', async () => {
    const stopAll = (): Promise<unknown> => Promise.all([api.stop(), projector.stop()]);
    await stopAll();
    await database.backUp();
    await start();
    await admin.put('/v1/boards/later', { order: 'desc', operator: 'best' });
    for (const board of [...BOARDS, 'later']) {
      for (let n = 0; n < 20; n += 1) {
        await admin.post(`/v1/boards/${board}/scores`, { playerId: `lost${n}`, score: 5000 }, { Prefer: 'wait=5' });
      }
    }
    // The stamps of the ledger are seconds apart.
    const before = await stampOfLedger();
    await expect.poll(stampOfLedger, SETTLED).toBeGreaterThan(before);
    await stopAll();
    await database.restore();
    api = await startApp('api', installation);
    admin = new RestClient(api.url, installation.adminKey);
    // Until a projector has seen to it, what the ledger does not have is not shown.
    expect(await statusBelowTheTop()).toBe(503);
    for (let n = 0; n < 100; n += 1) {
      const { status } = await admin.post('/v1/boards/one/scores', { playerId: 'p1', score: n });
      expect(status).toBe(200);
    }
    projector = await startApp('projector', installation);
    await expect.poll(statusBelowTheTop, SETTLED).toBe(200);
    await expect.poll(async () => (await scores('one'))['p1'], SETTLED).toBe(99);
    for (const board of BOARDS) {
      const found = await scoresOnceRead(board);
      expect(Object.keys(found).filter((playerId) => playerId.startsWith('lost'))).toEqual([]);
      expect(Object.keys(found).length).toBe(PLAYERS);
    }
    expect(projector.output()).toContain('Redis was ahead of PostgreSQL');
  });

  it('ends every process that outlived a ledger which went back, and those that come after go on', async () => {
    await Promise.all([api.stop(), projector.stop()]);
    await database.backUp();
    await start();
    const gateway = await startApp('gateway', installation);
    try {
      const lost = { playerId: 'lost', score: 9000 };
      expect((await admin.post('/v1/boards/one/scores', lost, { Prefer: 'wait=10' })).status).toBe(200);
      await admin.makeBoard('lost');
      const before = await stampOfLedger();
      await expect.poll(stampOfLedger, SETTLED).toBeGreaterThan(before);
      // A stand-by takes over: connections are cut, nobody is stopped.
      await database.restore();
      const processes = [api, projector, gateway];
      await expect.poll(() => processes.map(({ process }) => process.exitCode), SETTLED).toEqual([1, 1, 1]);
      for (const one of processes) expect(one.output()).toContain('PostgreSQL went back to an earlier state');
      expect(projector.output()).toContain('Redis was ahead of PostgreSQL');
    } finally {
      await gateway.stop();
    }
    await start();
    await expect.poll(statusBelowTheTop, SETTLED).toBe(200);
    expect(Object.keys(await scores('one'))).not.toContain('lost');
    expect((await admin.get('/v1/boards/lost')).status).toBe(404);
  });
});
