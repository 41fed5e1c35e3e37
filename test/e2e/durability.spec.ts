// Real: the built service, killed with SIGKILL under load and started again on the same PostgreSQL and Redis.
import {
  createTestDatabase,
  emptyTestRedis,
  newInstallation,
  logsUnderTest,
  settingsOfLog,
  startApp,
  type Installation,
  type RunningApp,
  type TestDatabase,
} from '@laddercast/testing';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import supertest from 'supertest';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

const ROUNDS = 4;
const CLIENTS = 8;
const PLAYERS = 20;
/** In each round, before the kill. */
const ANSWERED_MIN = 25;

describe.each(logsUnderTest())('a score that was answered with 200, over the log in %s', (log) => {
  let database: TestDatabase;
  let installation: Installation;
  let admin: { Authorization: string };
  let app: RunningApp;

  beforeAll(async () => {
    database = await createTestDatabase();
    installation = { ...newInstallation(database.url, await emptyTestRedis()), settings: settingsOfLog(log) };
    admin = { Authorization: `Bearer ${installation.adminKey}` };
    app = await startApp('standalone', installation);
    const board = { order: 'desc', operator: 'sum', sharding: { by: 'hash', count: 2 } };
    await supertest(app.url).put('/v1/boards/kill').set(admin).send(board).expect(201);
  });
  afterAll(async () => {
    await app?.stop();
    await database?.drop();
  });

  it('survives kill -9 at any instant, and its retries count once', async () => {
    const sent: { submissionId: string; playerId: string; score: number }[] = [];
    const answered = new Set<string>();
    const send = async (run: (typeof sent)[number]): Promise<boolean> => {
      const response = await fetch(`${app.url}/v1/boards/kill/scores`, {
        method: 'POST',
        headers: { ...admin, 'Content-Type': 'application/json' },
        body: JSON.stringify(run),
      }).catch(() => null);
      if (response?.status === 200) answered.add(run.submissionId);
      return response?.status === 200;
    };
    for (let round = 0; round < ROUNDS; round += 1) {
      let running = true;
      const client = async (number: number): Promise<void> => {
        for (let i = 0; running; i += 1) {
          const run = {
            submissionId: `${round}-${number}-${i}`,
            playerId: `p${(number * 7 + i) % PLAYERS}`,
            score: 1 + (i % 5),
          };
          sent.push(run);
          if (!(await send(run))) await sleep(20);
        }
      };
      const clients = Array.from({ length: CLIENTS }, (_, number) => client(number));
      const answeredBefore = answered.size;
      await vi.waitUntil(() => answered.size > answeredBefore + ANSWERED_MIN, { timeout: 60_000, interval: 5 });
      await sleep(Math.random() * 500);
      app.process.kill('SIGKILL');
      await once(app.process, 'exit');
      running = false;
      await Promise.all(clients);
      app = await startApp('standalone', installation);
    }
    expect(answered.size).toBeGreaterThan(100);
    // The clients' rule: what was not answered is sent again under its id, and so is some of what was.
    for (const run of sent)
      if (!answered.has(run.submissionId) || Math.random() < 0.2) await expect.poll(() => send(run)).toBe(true);

    const expected = new Map<string, number>();
    for (const { playerId, score } of sent) expected.set(playerId, (expected.get(playerId) ?? 0) + score);
    await expect
      .poll(
        async () => {
          const { body } = await supertest(app.url).get('/v1/boards/kill/entries?limit=500').expect(200);
          return Object.fromEntries(
            (body.entries as { playerId: string; score: number }[]).map(({ playerId, score }) => [playerId, score]),
          );
        },
        { timeout: 40_000, interval: 200 },
      )
      .toEqual(Object.fromEntries(expected));
  });
});
