// Real: an api and a projector process against one PostgreSQL and one Redis. The projector is killed with SIGKILL around the end
// of a window of a board that a pool feeds, again and again.
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
import { afterAll, beforeAll, expect, it } from 'vitest';
import { RestClient } from './rest-client.js';

const ENDS_AFTER_MS = 6000;
const GAMES_OF_A_BATCH = 5;
const PAGE = 500;
const WINDOW = 'season:s1';
const SOON = { timeout: 90_000, interval: 200 };

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

const done = <Body>({ status, text, body }: Response): Body => {
  expect(status, text).toBeLessThan(300);
  return body as Body;
};
const playersOf = async (window: string): Promise<string[]> => {
  const found: string[] = [];
  for (let total = 1; found.length < total;) {
    const page = done<{ total: number; entries: { playerId: string }[] }>(
      await admin.get(`/v1/boards/b/entries?window=${window}&limit=${PAGE}&offset=${found.length}`),
    );
    ({ total } = page);
    found.push(...page.entries.map(({ playerId }) => playerId));
  }
  return found.sort();
};

it('a window that a pool feeds holds all games that came in time, though nobody rated them by then', async () => {
  const { below } = new Dice(seedOfRun());
  const endsAtMs = Date.now() + ENDS_AFTER_MS;
  const season = { season: 's1', startsAt: '2020-01-01T00:00:00Z', endsAt: new Date(endsAtMs).toISOString() };
  await admin.makeBoard('b', { order: 'desc', operator: 'latest', graceSeconds: 0, windows: ['alltime', season] });
  done(await admin.put('/v1/pools/p', { algorithm: 'elo', board: 'b' }));
  const answered: string[] = [];
  const playing = (async (): Promise<void> => {
    while (Date.now() < endsAtMs + 500) {
      const games = Array.from({ length: GAMES_OF_A_BATCH }, (_, at) => `g${answered.length + at}`);
      const bodies = games.map((gameId) => ({
        ...{ pool: 'p', gameId },
        players: ['w', 'l'].map((side, place) => ({ playerId: `${side}-${gameId}`, place: place + 1 })),
      }));
      done(await admin.post('/v1/games', { games: bodies }));
      answered.push(...games);
      await sleep(50);
    }
  })();
  const kill = async (): Promise<void> => {
    projector.process.kill('SIGKILL');
    await once(projector.process, 'exit');
  };
  await sleep(ENDS_AFTER_MS - 2000 + below(2000));
  await kill();
  await playing;
  // The first that come are killed as well: while they rate, feed, or close.
  for (let round = 0; round < 3; round += 1) {
    projector = await startApp('projector', installation);
    await sleep(below(600));
    await kill();
  }
  projector = await startApp('projector', installation);
  const inTime: string[] = [];
  for (const gameId of answered) {
    const { playedAt } = done<{ playedAt: string }>(await admin.get(`/v1/pools/p/games/${gameId}`));
    if (Date.parse(playedAt) < endsAtMs) inTime.push(`l-${gameId}`, `w-${gameId}`);
  }
  expect(inTime.length).toBeGreaterThan(0);
  expect(inTime.length).toBeLessThan(2 * answered.length);
  const stateOf = async (): Promise<unknown> => {
    const { windows } = done<{ windows: { id: string; state: string }[] }>(await admin.get('/v1/boards/b/windows'));
    return windows.find(({ id }) => id === WINDOW)?.state;
  };
  await expect.poll(stateOf, SOON).toBe('settled');
  expect(await playersOf(WINDOW)).toEqual(inTime.sort());
  await expect.poll(() => playersOf('alltime').then(({ length }) => length), SOON).toBe(2 * answered.length);
});
