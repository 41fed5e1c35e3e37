// Real: an api and a projector process against one PostgreSQL and one Redis; the projector is killed with SIGKILL while it restates
// a window, at a moment that nobody chose, and another goes on.
import {
  createTestDatabase,
  Dice,
  emptyTestRedis,
  newInstallation,
  seedOfRun,
  startApp,
  type Installation,
  type RunningApp,
  type TestDatabase,
} from '@laddercast/testing';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Response } from 'supertest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RestClient } from './rest-client.js';

const GAMES = 2000;
const BATCH = 500;
const ROUNDS = 4;
const SEASON = { season: 's1', startsAt: '2020-01-01T00:00:00Z', endsAt: '2090-01-01T00:00:00Z' };
const WINDOW = 'season:s1';
const SOON = { timeout: 90_000, interval: 200 };

describe('a restatement whose process is killed', () => {
  let testDatabase: TestDatabase;
  let api: RunningApp;
  let projector: RunningApp;
  let installation: Installation;
  let admin: RestClient;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    installation = newInstallation(testDatabase.url, await emptyTestRedis());
    api = await startApp('api', installation);
    projector = await startApp('projector', installation);
    admin = new RestClient(api.url, installation.adminKey);
  }, 120_000);
  afterAll(async () => {
    await projector?.stop();
    await api?.stop();
    await testDatabase?.drop();
  });

  const done = ({ status, text, body }: Response): unknown => {
    expect(status, text).toBeLessThan(300);
    return body;
  };
  const totalNow = async (query = ''): Promise<number> =>
    (done(await admin.get(`/v1/boards/b/entries?window=${WINDOW}&limit=1${query}`)) as { total: number }).total;
  const newest = async (): Promise<number> =>
    (done(await admin.get(`/v1/boards/b/windows/${WINDOW}/editions?limit=1`)) as { editions: { edition: number }[] })
      .editions[0]!.edition;

  it('is done by another, whole and once', { timeout: 300_000 }, async () => {
    await admin.makeBoard('b', { order: 'desc', operator: 'latest', windows: ['alltime', SEASON] });
    done(await admin.put('/v1/pools/p', { algorithm: 'elo', board: 'b' }));
    for (let first = 0; first < GAMES; first += BATCH) {
      const games = Array.from({ length: BATCH }, (_, at) => ({
        pool: 'p',
        gameId: `g${first + at}`,
        players: ['w', 'l'].map((side, place) => ({ playerId: `${side}${first + at}`, place: place + 1 })),
      }));
      done(await admin.post('/v1/games', { games }));
    }
    await expect.poll(() => totalNow(), SOON).toBe(2 * GAMES);
    done(await admin.post('/v1/admin/boards/b/close-window', { window: WINDOW }));
    const { below } = new Dice(seedOfRun());
    const left = GAMES / (ROUNDS + 1);
    for (let round = 1; round <= ROUNDS; round += 1) {
      const gameIds = Array.from({ length: left }, (_, at) => `g${(round - 1) * left + at}`);
      for (let at = 0; at < left; at += 100) {
        done(await admin.post('/v1/pools/p/voids', { gameIds: gameIds.slice(at, at + 100), reason: 'a bot' }));
      }
      const asked = admin.post(`/v1/admin/boards/b/restate?window=${WINDOW}`, { reason: `round ${round}` });
      const steps = [2 * (GAMES - (round - 1) * left), 2 * (GAMES - round * left)];
      let isAnswered = false;
      void asked.then(() => (isAnswered = true));
      const watching = (async (): Promise<number[]> => {
        const seen = new Set<number>();
        for (; !isAnswered; await sleep(20)) seen.add(await totalNow());
        return [...seen];
      })();
      await sleep(below(900));
      projector.process.kill('SIGKILL');
      await once(projector.process, 'exit');
      projector = await startApp('projector', installation);
      done(await asked);
      // Half of it is never seen.
      for (const seen of await watching) expect(steps).toContain(seen);
      await expect.poll(() => totalNow(), SOON).toBe(2 * (GAMES - round * left));
      expect(await newest()).toBe(round + 1);
      expect(await totalNow('&edition=1')).toBe(2 * GAMES);
    }
    const { acts } = done(await admin.get('/v1/admin/audit?action=standings.restate')) as {
      acts: { details: object }[];
    };
    const told = Array.from({ length: ROUNDS }, (_, at) => ({
      details: { reason: `round ${ROUNDS - at}`, entries: 2 * left },
    }));
    expect(acts).toMatchObject(told);
  });
});
