// Real: an api and a projector process against one PostgreSQL, one Redis and each log; the projector is killed with SIGKILL
// in the middle of a recompute, which a lock of the test holds there.
import { PostgresDatabase } from '@laddercast/ledger';
import {
  createTestDatabase,
  eloSteps,
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
import type { Response } from 'supertest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RestClient } from './rest-client.js';

/** A recompute is written 1,000 games at a time: two parts are, and the third waits. */
const GAMES = 2500;
const PLAYERS = 12;
const SOON = { timeout: 60_000, interval: 20 };

interface Game {
  gameId: string;
  players: { playerId: string; place: number }[];
}

const games = Array.from({ length: GAMES }, (_, n): Game => {
  const [a, b] = [n % PLAYERS, (n + 1 + (n % (PLAYERS - 1))) % PLAYERS];
  const players = [a, b].map((player, at) => ({ playerId: `p${player}`, place: n % 5 === 0 ? 1 : at + 1 }));
  return { gameId: `g${n}`, players };
});

describe.each(logsUnderTest())('a long recompute on the log %s', (log) => {
  let testDatabase: TestDatabase;
  let installation: Installation;
  let api: RunningApp;
  let projector: RunningApp;
  let admin: RestClient;
  let database: PostgresDatabase;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    installation = { ...newInstallation(testDatabase.url, await emptyTestRedis()), settings: settingsOfLog(log) };
    api = await startApp('api', installation);
    projector = await startApp('projector', installation);
    admin = new RestClient(api.url, installation.adminKey);
    database = new PostgresDatabase({ url: testDatabase.url });
    await database.open({ migrate: false });
  }, 120_000);
  afterAll(async () => {
    await database?.close();
    await projector?.stop();
    await api?.stop();
    await testDatabase?.drop();
  });

  const poolNow = async (): Promise<{ pending: number; ratedPosition: number }> =>
    (await admin.get('/v1/pools/blitz')).body as { pending: number; ratedPosition: number };
  /** All that is stored of ratings, to the last bit. */
  const stored = (): Promise<unknown[]> =>
    database.query(`
      SELECT player_id, position, before_rating, after_rating, recomputed_by::text FROM rating_changes
      UNION ALL SELECT player_id, position, games, rating, 'now' FROM ratings ORDER BY player_id, position, 5`);

  it('goes on where the projector is killed in the middle of it, and nothing half is seen', async () => {
    expect((await admin.put('/v1/boards/blitz', { order: 'desc', operator: 'latest' })).status).toBe(201);
    expect((await admin.put('/v1/pools/blitz', { algorithm: 'elo', board: 'blitz' })).status).toBe(201);
    for (let from = 0; from < GAMES; from += 500) {
      const batch = games.slice(from, from + 500).map((game) => ({ pool: 'blitz', ...game }));
      expect((await admin.post('/v1/games', { games: batch })).status).toBe(200);
    }
    await expect.poll(async () => (await poolNow()).pending, SOON).toBe(0);
    const before = await stored();
    const { ratedPosition } = await poolNow();

    let answer: Promise<Response> | undefined;
    await database.transaction(async (holder) => {
      await holder.query(
        'SELECT FROM rating_changes WHERE position = (SELECT max(position) FROM rating_changes) FOR UPDATE',
      );
      answer = admin.send('DELETE', '/v1/pools/blitz/games/g1', { reason: 'a bot' });
      answer.catch(() => undefined);
      const waiting = 'SELECT FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid))';
      await expect.poll(async () => (await holder.query(waiting)).length, SOON).toBeGreaterThan(0);
      projector.process.kill('SIGKILL');
      await once(projector.process, 'exit');
    });
    // The statement that waited goes on, and is rolled back as nobody takes its answer.
    const users = `SELECT FROM pg_locks WHERE relation = 'rating_changes'::regclass AND pid <> pg_backend_pid()`;
    await expect.poll(async () => (await database.query(users)).length, SOON).toBe(0);
    expect(await stored()).toEqual(before);
    expect(await poolNow()).toMatchObject({ ratedPosition });

    projector = await startApp('projector', installation);
    const { status, body } = await answer!;
    expect(status).toBe(200);
    expect(body).toMatchObject({ games: 1 });
    await expect.poll(async () => (await poolNow()).ratedPosition, SOON).toBeGreaterThan(ratedPosition);

    const moves = games
      .filter(({ gameId }) => gameId !== 'g1')
      .map(({ players: [first, second] }) => ({
        ...{ winner: first!.playerId, loser: second!.playerId, isDraw: first!.place === second!.place },
        playedAtMs: 0,
      }));
    const { steps, ratings } = eloSteps(moves);
    for (const [playerId, rating] of ratings) {
      const { body: player } = await admin.get(`/v1/pools/blitz/players/${playerId}`);
      expect(player).toMatchObject({ rating: expect.closeTo(rating, 7) as number, games: steps.get(playerId)!.length });
    }
    const top = async (): Promise<number[]> => {
      const { entries } = (await admin.get(`/v1/boards/blitz/entries?limit=${PLAYERS}`)).body as {
        entries: { score: number }[];
      };
      return entries.map(({ score }) => Math.round(score * 1e6));
    };
    const expected = [...ratings.values()].sort((a, b) => b - a).map((rating) => Math.round(rating * 1e6));
    await expect.poll(top, SOON).toEqual(expected);
  });
});
