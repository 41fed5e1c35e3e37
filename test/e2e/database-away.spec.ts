// Real: the built service in one process, and a PostgreSQL of the test's own that is stopped, started, and made to hang by a
// proxy in between.
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  createTestDatabase,
  emptyTestRedis,
  newInstallation,
  openTcpProxy,
  startApp,
  type RunningApp,
  type TcpProxy,
} from '@laddercast/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { LiveClient } from '../../libs/realtime/test/follower.js';
import { PostgresProcess } from '../faults/postgres-process.js';
import { expectProblem, RestClient } from './rest-client.js';

/** A write that waits is given up after 5 s. */
const AT_ONCE_MS = 4000;
const AWAY_AFTER_MS = 2000;
const BACK_WITHIN_MS = 30_000;

const opened: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one.close();
});

async function start(databaseUrl: string): Promise<{ app: RunningApp; admin: RestClient }> {
  const installation = newInstallation(databaseUrl, await emptyTestRedis());
  const app = await startApp('standalone', installation);
  opened.push({ close: () => app.stop() });
  const admin = new RestClient(app.url, installation.adminKey);
  await admin.makeBoard('open');
  expect((await submit(admin)).status).toBe(200);
  return { app, admin };
}

/** A database behind a proxy, which is the caller's to close. */
async function proxied(): Promise<{ proxy: TcpProxy; url: string }> {
  const database = await createTestDatabase();
  opened.push({ close: () => database.drop() });
  const url = new URL(database.url);
  const proxy = await openTcpProxy(url.hostname, Number(url.port));
  url.port = String(proxy.port);
  return { proxy, url: url.href };
}

const submit = (admin: RestClient) => admin.post('/v1/boards/open/scores', { playerId: 'ada', score: 1 });

const notesOf = async (admin: RestClient): Promise<string> =>
  ((await admin.get('/health/ready')).body as { notes?: string[] }).notes?.join() ?? '';

const untilAway = (admin: RestClient): Promise<void> =>
  expect.poll(() => notesOf(admin), { timeout: BACK_WITHIN_MS }).toMatch(/writes are refused at once: PostgreSQL/);

/** Every way to write, each in a request of its own. */
const WRITES: ((admin: RestClient) => ReturnType<typeof submit>)[] = [
  submit,
  (admin) => admin.put('/v1/players/ada', { displayName: 'Ada' }),
  (admin) => admin.put('/v1/boards/another', { order: 'desc', operator: 'best' }),
  (admin) => admin.put('/v1/players/ada/friends/bob', undefined),
  (admin) => admin.delete('/v1/boards/open/players/ada'),
  (admin) => admin.post('/v1/admin/api-keys', { name: 'k', scopes: ['read'] }),
];

async function expectRefusedAtOnce(admin: RestClient): Promise<void> {
  for (const write of WRITES) {
    const beganAtMs = performance.now();
    const answer = await write(admin);
    const tookMs = performance.now() - beganAtMs;
    expectProblem(answer, 'LEDGER_UNAVAILABLE');
    expect(Number(answer.headers['retry-after'])).toBeGreaterThanOrEqual(1);
    expect(tookMs).toBeLessThan(AT_ONCE_MS);
  }
  const batch = await admin.post('/v1/scores', { submissions: [{ board: 'open', playerId: 'ada', score: 2 }] });
  expect(batch.text).toContain('LEDGER_UNAVAILABLE');
}

describe('a PostgreSQL that refuses connections', () => {
  it('is waited for if it is back soon', async () => {
    const { proxy, url } = await proxied();
    opened.push(proxy);
    const { admin } = await start(url);
    proxy.cut();
    const waiting = submit(admin);
    await sleep(300);
    proxy.mend();
    expect((await waiting).status).toBe(200);
    expect(await notesOf(admin)).toBe('');
  });

  it('has writes refused at once after two seconds, until it is back', async () => {
    const postgres = await PostgresProcess.start();
    opened.push({ close: () => postgres.remove() });
    const { app, admin } = await start(postgres.url);
    await postgres.stop('SIGQUIT');
    await sleep(AWAY_AFTER_MS);
    await untilAway(admin);
    await expectRefusedAtOnce(admin);
    const list = await admin.get('/v1/boards/open/entries');
    expect(list.status, list.text).toBe(200);
    expect(app.output()).toMatch(/PostgreSQL has not answered for 2 s/);

    await postgres.start();
    await expect.poll(() => submit(admin).then(({ status }) => status), { timeout: BACK_WITHIN_MS }).toBe(200);
    expect(await notesOf(admin)).not.toMatch(/writes are refused/);
  });

  it('is asked about once a second by a process, however much it is written to', async () => {
    const { proxy, url } = await proxied();
    const { admin } = await start(url);
    await proxy.close();
    // In the place of PostgreSQL: whoever comes is counted, and sent away.
    let came = 0;
    const turnstile = createServer((socket) => {
      came += 1;
      socket.destroy();
    }).listen(proxy.port, '127.0.0.1');
    opened.push(turnstile);
    await untilAway(admin);
    came = 0;
    const beganAtMs = performance.now();
    while (performance.now() - beganAtMs < 4000) await Promise.all(Array.from({ length: 20 }, () => submit(admin)));
    expect(came).toBeGreaterThan(0);
    expect(came).toBeLessThanOrEqual((performance.now() - beganAtMs) / 1000 + 2);
  });
});

describe('a board where each run is an entry, without PostgreSQL', () => {
  it('answers pages, ranks of scores and live tops, and says of players that they cannot be read now', async () => {
    const { proxy, url } = await proxied();
    opened.push(proxy);
    const { app, admin } = await start(url);
    await admin.makeBoard('runs', { runs: { keepDays: 30 }, entriesPer: 'run', push: { intervalMs: 100, top: 10 } });
    for (const [playerId, score] of [['ada', 5] as const, ['ada', 9] as const, ['bob', 7] as const]) {
      const run = { submissionId: `s${score}`, playerId, score };
      expect((await admin.post('/v1/boards/runs/scores', run, { Prefer: 'wait=10' })).status).toBe(200);
    }
    expect((await admin.put('/v1/players/ada/friends/bob')).status).toBe(200);
    const rows = ['s9', 's7', 's5'];
    const page = async (): Promise<{ entries: { entryId: string }[]; total: number; players: number | null }> => {
      const answer = await admin.get('/v1/boards/runs/entries');
      expect(answer.status, answer.text).toBe(200);
      return answer.body as Awaited<ReturnType<typeof page>>;
    };
    await expect.poll(page, { timeout: BACK_WITHIN_MS }).toMatchObject({ total: 3, players: 2 });
    proxy.freeze();
    await untilAway(admin);
    expect((await page()).entries.map(({ entryId }) => entryId)).toEqual(rows);
    expect((await admin.get('/v1/boards/runs/rank?score=8')).body).toMatchObject({ rank: 2, total: 3 });
    const live = await LiveClient.connect(`${app.url.replace('http', 'ws')}/v1/live`, ['ladder.v1']);
    opened.push({ close: () => live.socket.terminate() });
    const top = await live.ask({ type: 'subscribe', id: 'top', board: 'runs', channel: 'top' });
    expect(top.entries?.map(({ entryId }) => entryId)).toEqual(rows);
    for (const path of ['players/ada', 'friends/ada']) {
      const answer = await admin.get(`/v1/boards/runs/${path}`);
      expect(answer.status, `${path}: ${answer.text}`).toBe(503);
    }
    const lookup = await admin.post('/v1/boards/runs/lookups', { playerIds: ['ada'] });
    expectProblem(lookup, 'PROJECTION_UNAVAILABLE');
    expect((await page()).entries).toHaveLength(3);
    proxy.thaw();
    const read = async (): Promise<number> => (await admin.get('/v1/boards/runs/players/ada')).status;
    await expect.poll(read, { timeout: BACK_WITHIN_MS }).toBe(200);
  });
});

describe('a PostgreSQL that hangs', () => {
  it('is found by who looks, and so is its return', async () => {
    const { proxy, url } = await proxied();
    opened.push(proxy);
    const { admin } = await start(url);
    proxy.freeze();
    await untilAway(admin);
    await expectRefusedAtOnce(admin);
    proxy.thaw();
    await expect.poll(() => submit(admin).then(({ status }) => status), { timeout: BACK_WITHIN_MS }).toBe(200);
    expect(await notesOf(admin)).not.toMatch(/writes are refused/);
  });
});
