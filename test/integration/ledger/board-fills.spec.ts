// Real: PostgreSQL and the ledger of two processes, of which one has the module of the algorithm. Events are delivered by hand.
import { RATING_ALGORITHMS } from '@laddercast/domain';
import { BoardFeeder, type Pool } from '@laddercast/ledger';
import { createTestDatabase, type TestDatabase } from '@laddercast/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { FeedNode } from '../nodes/feed-node.js';
import { gameOf } from '../nodes/pool-node.js';

const OF_TEAM = 'of-a-team';

describe('the filling of a fed board whose changes a process without the algorithm is told of', () => {
  let testDatabase: TestDatabase;
  let node: FeedNode;
  let without: FeedNode;
  let pool: Pool;
  let made = 0;
  let board = '';

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    node = new FeedNode(testDatabase.url);
    node.ofTeams.push({ ...RATING_ALGORITHMS.find(({ name }) => name === 'elo')!, name: OF_TEAM });
    await node.start();
    without = new FeedNode(testDatabase.url);
    await without.start();
  });
  beforeEach(async () => {
    board = `b${(made += 1)}`;
    await node.makeBoard(board, { windows: ['alltime', 'daily'] });
    pool = await node.makePool(`p${made}`, { algorithm: OF_TEAM, board });
    await node.fill();
  });
  afterAll(async () => {
    await without.stop();
    await node.stop();
    await testDatabase.drop();
  });

  const play = (gameId: string, places: Record<string, number>): Promise<unknown> =>
    node.games.record(gameOf(pool.id, gameId, places));
  const fill = (): Promise<void> => node.filler.run(new AbortController().signal, [OF_TEAM]);
  const playersIn = async (window: string): Promise<string[]> =>
    (await node.entriesOf(board)).flatMap((entry) => (entry.window.startsWith(window) ? [entry.playerId] : []));
  const makeVoid = async (gameIds: string[]): Promise<void> => {
    const selection = { gameIds, playerId: null, fromMs: null, toMs: null };
    await node.corrections.record(pool.id, { selection, mode: 'recompute', reason: 'r' }, 'test');
    await node.rater.rate(pool.uid);
  };

  it('takes off who has no game any more', async () => {
    await play('g1', { ada: 1, bob: 2 });
    await play('g2', { bob: 1, cy: 2 });
    await node.settle(pool.uid);
    expect(await playersIn('alltime')).toEqual(['ada', 'bob', 'cy']);
    await makeVoid(['g1']);
    await without.deliver(await node.ratingEvents(pool.uid));
    await fill();
    expect(await playersIn('alltime')).toEqual(['bob', 'cy']);
    expect(await playersIn('daily')).toEqual(['bob', 'cy']);
  });

  it('comes to its end though each batch asks for it anew, and begins once more for what changed behind it', async () => {
    await play('g1', { ada: 1, bob: 2 });
    await node.rater.rate(pool.uid);
    await copied('bob', 1200);
    const tell = async (): Promise<void> => without.deliver(await node.ratingEvents(pool.uid));
    await tell();
    const { feeder } = node;
    let chunks = 0;
    // A batch comes with each chunk of players.
    const asked = vi.spyOn(feeder, 'feedBoard').mockImplementation(async (...given) => {
      await BoardFeeder.prototype.feedBoard.apply(feeder, given);
      if ((chunks += 1) === 2) await play('g2', { ada: 1, bob: 2 });
      await node.rater.rate(pool.uid);
      await tell();
    });
    const scoreOfAda = async (): Promise<number | undefined> => (await node.entriesOf(board))[0]?.score;
    try {
      await fill();
      expect(await playersIn('alltime')).toHaveLength(1202);
      expect(await scoreOfAda()).toBe(1516);
    } finally {
      asked.mockRestore();
    }
    await fill();
    expect(await scoreOfAda()).toBe(await node.ratingOf(pool, 'ada'));
    expect(await node.database.query('SELECT FROM board_fills')).toEqual([]);
  });

  /** So many players more, who stand as one does. */
  async function copied(playerId: string, times: number): Promise<void> {
    const columns = await node.database.query<{ name: string }>(
      `SELECT attname AS name FROM pg_attribute WHERE attrelid = 'ratings'::regclass AND attnum > 0 AND attname <> 'player_id'`,
    );
    const names = columns.map(({ name }) => name).join(', ');
    await node.database.query(
      `INSERT INTO ratings (player_id, ${names}) SELECT 'copy-' || n, ${names}
       FROM ratings, generate_series(1, $3::int) AS n WHERE pool_uid = $1 AND player_id = $2`,
      [pool.uid, playerId, times],
    );
  }
});
