// Real: PostgreSQL and the ledger of one process; a correction takes as long as the test lets it.
import { CorrectionFold, type PoolEventFold } from '@laddercast/ledger';
import { createTestDatabase, type TestDatabase } from '@laddercast/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { gameOf, PoolNode } from '../nodes/pool-node.js';

let testDatabase: TestDatabase;
let node: PoolNode;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  node = new PoolNode(testDatabase.url);
  await node.start();
});
afterAll(async () => {
  await node.stop();
  await testDatabase.drop();
});

it('a correction that takes long holds up no game, and no other pool', async () => {
  const [pool, beside] = [await node.makePool('long'), await node.makePool('beside')];
  const places = { ada: 1, bob: 2 };
  await node.games.record(gameOf(pool.id, 'g1', places));
  await node.rater.rate(pool.uid);
  let begin = (): void => undefined;
  let end = (): void => undefined;
  const begun = new Promise<void>((resolve) => (begin = resolve));
  const ending = new Promise<void>((resolve) => (end = resolve));
  const at = node.folds.findIndex((fold) => fold instanceof CorrectionFold);
  const fold = node.folds[at] as CorrectionFold;
  const slow: PoolEventFold = {
    type: fold.type,
    async fold(...given) {
      begin();
      await ending;
      return fold.fold(...given);
    },
  };
  node.folds.splice(at, 1, slow);
  const selection = { gameIds: ['g1'], playerId: null, fromMs: null, toMs: null };
  await node.corrections.record(pool.id, { selection, mode: 'recompute', reason: 'r' }, 'test');
  const rating = node.rater.rate(pool.uid);
  try {
    await begun;
    await node.games.record(gameOf(pool.id, 'g2', places));
    await node.games.record(gameOf(beside.id, 'g1', places));
    // A doorbell of the pool whose turn it is passes by; another pool is rated.
    await node.rater.rate(pool.uid);
    await node.rater.rate(beside.uid);
    expect(await node.pools.get(beside.id)).toMatchObject({ pending: 0, players: 2 });
    expect(await node.pools.get(pool.id)).toMatchObject({ pending: 1, games: 2 });
    expect(await node.ratingOf(pool, 'ada')).toBe(1516);
  } finally {
    end();
  }
  await rating;
  // g2 alone counts, from 1500 each.
  expect(await node.pools.get(pool.id)).toMatchObject({ pending: 0, games: 2, players: 2 });
  expect(await node.playerRating(pool, 'ada')).toMatchObject({ games: 1, state: { rating: 1516 } });
});
