// Real: the command itself, against PostgreSQL and the ledger of one process.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import type { RatingAlgorithm } from '@laddercast/domain';
import { createTestDatabase, type TestDatabase } from '@laddercast/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { gameOf, PoolNode } from '../integration/nodes/pool-node.js';

const ROOT = join(import.meta.dirname, '../..');
const PARTY_POINTS = 'dist/examples/party-ladder/party-points.js';

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

const ratings = (...args: string[]): ReturnType<typeof ratingsOf> => ratingsOf(testDatabase.url, ...args);

const ratingsOf = (url: string, ...args: string[]): Promise<{ code: number | null; stdout: string; stderr: string }> =>
  new Promise((resolve) => {
    const env = { ...process.env, DATABASE_URL: url };
    const child = execFile(process.execPath, ['tools/ratings.mjs', ...args], { cwd: ROOT, env }, (_, stdout, stderr) =>
      resolve({ code: child.exitCode, stdout, stderr }),
    );
  });

it('npm run ratings -- verify says whether all of a pool is as stored, and what is not', async () => {
  const pool = await node.makePool('blitz');
  await node.games.record(gameOf(pool.id, 'g1', { ada: 1, bob: 2 }));
  await node.rater.rate(pool.uid);
  expect(await ratings('verify', 'blitz')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('Games 1, changes 2, ratings 2: all as stored') as string,
  });
  await node.database.query(`UPDATE ratings SET rating = 1517 WHERE pool_uid = $1 AND player_id = 'ada'`, [pool.uid]);
  const { code, stdout } = await ratings('verify', 'blitz');
  expect(code).toBe(1);
  expect(stdout).toContain('ada, rating');
  expect(stdout).toContain('1 are not as stored');
  expect(await ratings('verify', 'none')).toMatchObject({ code: 1, stderr: 'There is no pool "none".\n' });
  const { partyPoints } = (await import(join(ROOT, PARTY_POINTS))) as { partyPoints: RatingAlgorithm };
  node.ofTeams.push(partyPoints);
  const party = await node.makePool('party', { algorithm: 'party-points' });
  await node.games.record(gameOf(party.id, 'g1', { ada: 1, bob: 2, cy: 3 }));
  await node.rater.rate(party.uid);
  expect((await ratings('verify', 'party')).stderr).toContain('does not have the algorithm "party-points"');
  expect(await ratings('verify', 'party', '--algorithms', PARTY_POINTS)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('changes 3') as string,
  });
  expect((await ratings('verify')).stdout).toContain('npm run ratings -- verify POOL');
  expect((await ratingsOf('postgres://ladder:secret@127.0.0.1:1/x', 'verify', 'blitz')).stderr).toBe(
    'There is no answer from the PostgreSQL of DATABASE_URL (postgres://ladder:***@127.0.0.1:1/x): nothing listens there.\n' +
      'Start that server, or correct the address.\n',
  );
}, 120_000);
