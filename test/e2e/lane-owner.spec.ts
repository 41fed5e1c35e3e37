// Real: two built api processes on one PostgreSQL and one Redis, of which one is told to own no lanes.
import { setTimeout as sleep } from 'node:timers/promises';
import {
  createTestDatabase,
  emptyTestRedis,
  freePort,
  newInstallation,
  openTcpProxy,
  startApp,
  type Installation,
  type RunningApp,
  type TcpProxy,
  type TestDatabase,
} from '@laddercast/testing';
import supertest from 'supertest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sql } from './sql.js';

const LANES = 4;
const PLAYERS = 40;
const LOOK_MS = 200;

interface Api {
  app: RunningApp;
  metricsPort: number;
}

let database: TestDatabase;
let installation: Installation;
let far: Api;
let near: Api | null = null;
let proxy: TcpProxy | null = null;

const start = async (settings: Record<string, string>): Promise<Api> => {
  const ports = { port: await freePort(), metricsPort: await freePort() };
  const own = { ...installation, settings: { LEDGER_LANES: String(LANES), ...settings } };
  return { app: await startApp('api', own, ports), metricsPort: ports.metricsPort };
};

/** The value of a metric of a process; 0 where it has none of these labels. */
async function metricOf({ metricsPort }: Api, name: string): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  const line = text.split('\n').find((one) => one.startsWith(`${name} `));
  return Number(line?.slice(name.length + 1) ?? 0);
}

const lanesOf = (api: Api): Promise<number> => metricOf(api, 'laddercast_leases_held{lease="lane"}');
const handedOverBy = (api: Api, answer = 'came'): Promise<number> =>
  metricOf(api, `laddercast_lane_writes_handed_over_total{answer="${answer}"}`);

interface Result {
  outcome: string;
  score: number;
  previousScore: number | null;
  replayed: boolean;
}

async function submit({ app }: Api, submissions: readonly object[]): Promise<Result[]> {
  const sent = supertest(app.url)
    .post('/v1/scores')
    .set({ Authorization: `Bearer ${installation.adminKey}` });
  const { body } = await sent.send({ submissions }).expect(200);
  return body.results as Result[];
}

/** A score of every player, so that each lane has some. */
async function submitTo(api: Api): Promise<void> {
  const submissions = Array.from({ length: PLAYERS }, (_, at) => ({ board: 'b', playerId: `p${at}`, score: 1 }));
  const results = await submit(api, submissions);
  expect(results).toHaveLength(PLAYERS);
  for (const result of results) expect(result).toMatchObject({ outcome: expect.any(String) });
}

/** Puts a proxy before the port where the only owner takes writes: others find it when they look next. */
async function standBeforeOwner(): Promise<TcpProxy> {
  const [owner] = (await sql(database.url, 'SELECT port FROM lane_writers')) as { port: number }[];
  proxy = await openTcpProxy('127.0.0.1', owner!.port);
  await sql(database.url, `UPDATE lane_writers SET port = ${proxy.port}`);
  return proxy;
}

beforeAll(async () => {
  database = await createTestDatabase();
  installation = newInstallation(database.url, await emptyTestRedis());
  far = await start({ LANE_OWNER: 'false' });
  await supertest(far.app.url)
    .put('/v1/boards/b')
    .set({ Authorization: `Bearer ${installation.adminKey}` })
    .send({ order: 'desc', operator: 'sum' })
    .expect(201);
}, 120_000);

afterAll(async () => {
  await Promise.all([far, near].map((api) => api?.app.stop()));
  await proxy?.close();
  await database?.drop();
});

describe('an api with LANE_OWNER=false', () => {
  it('writes by itself while there is nobody to hand its writes to', async () => {
    await submitTo(far);
    expect(await handedOverBy(far)).toBe(0);
    expect(await lanesOf(far)).toBe(0);
  });

  it('owns no lane beside one that owns all, and hands its writes over to that', async () => {
    near = await start({});
    await expect.poll(() => lanesOf(near!), { timeout: 20_000 }).toBe(LANES);
    // It looks once a second who owns them.
    await expect
      .poll(
        async () => {
          const before = await handedOverBy(far);
          await submitTo(far);
          return (await handedOverBy(far)) - before;
        },
        { timeout: 20_000, interval: 200 },
      )
      .toBe(PLAYERS);
    await submitTo(near);
    expect(await handedOverBy(near)).toBe(0);
    expect(await lanesOf(far)).toBe(0);
    expect(await lanesOf(near)).toBe(LANES);
  });

  it('counts both of a batch’s submissions of one player, in order, when the message with both is lost', async () => {
    const way = await standBeforeOwner();
    const unanswered = await handedOverBy(far, 'none');
    let isLost = false;
    for (let tries = 1; !isLost; tries += 1) {
      const playerId = `twice-${tries}`;
      void way.cutAfter(`${playerId}-1`).then(() => (isLost = true));
      const two = [3, 4].map((score, at) => ({ board: 'b', playerId, score, submissionId: `${playerId}-${at + 1}` }));
      const results = await submit(far, two);
      const first = { outcome: 'created', score: 3, previousScore: null, replayed: false };
      const second = { outcome: 'changed', score: 7, previousScore: 3, replayed: false };
      expect(results).toMatchObject([first, second]);
      expect(await submit(near!, two)).toMatchObject([first, second].map((one) => ({ ...one, replayed: true })));
      if (!isLost) await sleep(LOOK_MS);
    }
    expect(await handedOverBy(far, 'none')).toBe(unanswered + 2);
  });
});
