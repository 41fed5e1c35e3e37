// Real: PostgreSQL, its clock in the test's hands, and the ledger of one process. Tables are read in the order of their rows, as
// PostgreSQL does with small ones.
import type { Pool } from '@laddercast/ledger';
import { createTestDatabase, DatabaseClock, playersByPlace, type TestDatabase } from '@laddercast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { setForDatabase } from '../nodes/database-settings.js';
import { FeedNode } from '../nodes/feed-node.js';
import { gameOf } from '../nodes/pool-node.js';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const START_MS = Date.parse('2026-03-01T12:00:00Z');

describe('games that were recorded in one moment, of which the first was given another result', () => {
  let testDatabase: TestDatabase;
  let clock: DatabaseClock;
  let node: FeedNode;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    const scans = ['indexscan', 'indexonlyscan', 'bitmapscan'];
    await setForDatabase(
      testDatabase.url,
      scans.map((scan) => `enable_${scan} = off`),
    );
    node = new FeedNode(testDatabase.url);
    await node.start();
    clock = await DatabaseClock.of(testDatabase.url);
  });
  afterAll(async () => {
    await clock.close();
    await node.stop();
    await testDatabase.drop();
  });

  /** The row of the first game lies behind that of the second from then on. */
  const playTwo = async (pool: Pool): Promise<void> => {
    await clock.stopAt(START_MS);
    await node.games.record(gameOf(pool.id, 'g1', { ada: 1, bob: 2 }));
    await node.games.record(gameOf(pool.id, 'g2', { cy: 1, di: 2 }));
    await node.rater.rate(pool.uid);
    const players = playersByPlace({ ada: 2, bob: 1 }).map((player) => ({ ...player, score: null }));
    await node.corrections.record(pool.id, { gameId: 'g1', players, reason: 'typo' }, 'test');
    await node.settle(pool.uid);
    expect(await node.database.query('SELECT game_id FROM games WHERE pool_uid = $1', [pool.uid])).toEqual([
      { game_id: 'g2' },
      { game_id: 'g1' },
    ]);
  };

  it('are all in the window that begins with them', async () => {
    await node.makeBoard('board', { windows: ['daily'] });
    const pool = await node.makePool('fed', { board: 'board' });
    await node.boards.refresh();
    await playTwo(pool);
    expect(await node.linesOf('board')).toEqual(
      ['ada 1484', 'bob 1516', 'cy 1516', 'di 1484'].map((line) => `daily:2026-03-01 ${line}`),
    );
  });

  it('are all kept by a history that begins with them', async () => {
    const pool = await node.makePool('pruned', { history: { keepDays: 7 } });
    await playTwo(pool);
    await clock.stopAt(START_MS + 7 * DAY_MS + MINUTE_MS);
    await node.pruneHistory(pool);
    const history = async (playerId: string): Promise<number> => (await node.ratingsOf(pool, playerId)).length;
    expect([await history('ada'), await history('cy')]).toEqual([1, 1]);
  });
});
