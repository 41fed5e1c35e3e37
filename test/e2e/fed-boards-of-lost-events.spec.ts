// Real: a projector process, PostgreSQL and Redis. The ledger is written by the test, and so is what a log leaves behind that is
// used no more: ratings of which it told nobody.
import {
  createTestDatabase,
  emptyTestRedis,
  newInstallation,
  startApp,
  type RunningApp,
  type TestDatabase,
} from '@laddercast/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { FeedNode } from '../integration/nodes/feed-node.js';
import { gameOf } from '../integration/nodes/pool-node.js';

const SOON = { timeout: 60_000, interval: 200 };

let testDatabase: TestDatabase;
let node: FeedNode;
let projector: RunningApp | undefined;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  node = new FeedNode(testDatabase.url);
  await node.start();
});
afterAll(async () => {
  await projector?.stop();
  await node.stop();
  await testDatabase.drop();
});

it('boards that a pool feeds get what another log held when it was left', async () => {
  await node.makeBoard('b');
  const pool = await node.makePool('p', { board: 'b' });
  await node.fill();
  await node.games.record(gameOf('p', 'g1', { ada: 1, bob: 2 }));
  await node.settle(pool.uid);
  await node.games.record(gameOf('p', 'g2', { ada: 1, cid: 2 }));
  await node.rater.rate(pool.uid);
  await node.database.query('DELETE FROM outbox');
  await node.database.query(`INSERT INTO installation (name, value) VALUES ('log', 'kafka/c1/ladder')`);
  const rated = ['ada', 'bob', 'cid'].map(async (id) => `alltime ${id} ${await node.ratingOf(pool, id)}`);
  const wanted = await Promise.all(rated);
  expect(await node.linesOf('b')).not.toEqual(wanted);
  projector = await startApp('projector', newInstallation(testDatabase.url, await emptyTestRedis()));
  await expect.poll(() => node.linesOf('b'), SOON).toEqual(wanted);
});
