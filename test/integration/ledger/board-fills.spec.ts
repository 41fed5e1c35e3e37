// Real: PostgreSQL and the ledger of two processes, of which one has the module of the algorithm. Events are delivered by hand.
import { RATING_ALGORITHMS } from '@laddercast/domain';
import type { Pool } from '@laddercast/ledger';
import { createTestDatabase, type TestDatabase } from '@laddercast/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
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
});
