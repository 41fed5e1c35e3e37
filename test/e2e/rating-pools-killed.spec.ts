// Real: an api and a projector process against one PostgreSQL, one Redis and each log; the projector is killed with SIGKILL
// again and again while it rates.
import {
  createTestDatabase,
  emptyTestRedis,
  logsUnderTest,
  newInstallation,
  settingsOfLog,
  startApp,
  type Installation,
  type RunningApp,
  type TestDatabase,
} from '@laddercast/testing';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RestClient } from './rest-client.js';

const KILLS = 3;
const BATCH = 100;
const PLAYERS = 20;

interface Game {
  gameId: string;
  position: number;
  players: { playerId: string; place: number }[];
  rated: { players: { playerId: string; before: number; after: number }[] };
}

describe.each(logsUnderTest())('ratings on the log %s', (log) => {
  let testDatabase: TestDatabase;
  let installation: Installation;
  let api: RunningApp;
  let projector: RunningApp;
  let admin: RestClient;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    const settings = settingsOfLog(log);
    installation = { ...newInstallation(testDatabase.url, await emptyTestRedis()), settings };
    api = await startApp('api', installation);
    projector = await startApp('projector', installation);
    admin = new RestClient(api.url, installation.adminKey);
  }, 120_000);

  afterAll(async () => {
    await projector?.stop();
    await api?.stop();
    await testDatabase?.drop();
  });

  const poolNow = async (): Promise<{ games: number; pending: number }> =>
    (await admin.get('/v1/pools/blitz')).body as { games: number; pending: number };

  /** All games in the order of their positions. */
  const allGames = async (): Promise<Game[]> => {
    const games: Game[] = [];
    for (let cursor = ''; ;) {
      const { body } = await admin.get(`/v1/pools/blitz/games?limit=100${cursor}`);
      const page = body as { games: Game[]; next: string | null };
      games.push(...page.games);
      if (page.next === null) return games.reverse();
      cursor = `&cursor=${page.next}`;
    }
  };

  it('are those of a plain replay, whenever the projector is killed', async () => {
    expect((await admin.put('/v1/pools/blitz', { algorithm: 'elo' })).status).toBe(201);
    let sent = 0;
    let isOver = false;
    const sending = (async () => {
      while (!isOver) {
        const games = Array.from({ length: BATCH }, (_, index) => {
          const n = sent + index;
          const [a, b] = [n % PLAYERS, (n * 7 + 1) % PLAYERS];
          const other = a === b ? (b + 1) % PLAYERS : b;
          const players = [
            { playerId: `p${a}`, place: 1 },
            { playerId: `p${other}`, place: 1 + (n % 3 === 0 ? 0 : 1) },
          ];
          return { pool: 'blitz', gameId: `g${n}`, players };
        });
        const response = await admin.post('/v1/games', { games });
        expect(response.status, response.text).toBe(200);
        sent += BATCH;
        await sleep(50);
      }
    })();

    const rated: number[] = [];
    for (let kill = 0; kill < KILLS; kill += 1) {
      const before = await poolNow();
      const done = before.games - before.pending;
      // Some of them: then it is at work.
      await expect
        .poll(async () => poolNow().then(({ games, pending }) => games - pending), { timeout: 30_000, interval: 20 })
        .toBeGreaterThan(done + 2 * BATCH);
      projector.process.kill('SIGKILL');
      await once(projector.process, 'exit');
      const after = await poolNow();
      rated.push(after.games - after.pending);
      projector = await startApp('projector', installation);
    }
    isOver = true;
    await sending;
    expect(rated).toEqual([...rated].sort((a, b) => a - b));
    await expect.poll(async () => (await poolNow()).pending, { timeout: 60_000, interval: 100 }).toBe(0);

    const games = await allGames();
    expect(games.map(({ gameId }) => gameId)).toEqual(Array.from({ length: sent }, (_, n) => `g${n}`));
    const ratings = new Map<string, number>();
    for (const { gameId, players, rated: changes } of games) {
      const [a, b] = players as [Game['players'][0], Game['players'][0]];
      const [ofA, ofB] = [ratings.get(a.playerId) ?? 1500, ratings.get(b.playerId) ?? 1500];
      const score = a.place === b.place ? 0.5 : 1;
      const moved = 32 * (score - 1 / (1 + 10 ** ((ofB - ofA) / 400)));
      ratings.set(a.playerId, ofA + moved).set(b.playerId, ofB - moved);
      changes.players.forEach(({ playerId, before, after }, index) => {
        expect(before, gameId).toBeCloseTo([ofA, ofB][index]!, 7);
        expect(after, gameId).toBeCloseTo(ratings.get(playerId)!, 7);
      });
    }
    for (const [playerId, rating] of ratings) {
      const { body } = await admin.get(`/v1/pools/blitz/players/${playerId}`);
      expect((body as { rating: number }).rating).toBeCloseTo(rating, 7);
    }
  }, 240_000);
});
