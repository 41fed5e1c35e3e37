// Real: PostgreSQL, the ledger of a process and what prunes its runs and ids; the ledger's clock is the test's.
import type { Board } from '@laddercast/domain';
import { SubmissionPruner } from '@laddercast/ledger';
import { Environment } from '@laddercast/platform';
import { createTestDatabase, DatabaseClock, type TestDatabase } from '@laddercast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RunNode } from '../nodes/run-node.js';

const DAY_MS = 86_400_000;
const START_MS = Date.parse('2026-11-20T10:10:00Z');
const running = new AbortController().signal;

describe('submission ids', () => {
  let testDatabase: TestDatabase;
  let node: RunNode;
  let clock: DatabaseClock;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    node = new RunNode(testDatabase.url);
    await node.start();
    clock = await DatabaseClock.of(testDatabase.url);
    await clock.stopAt(START_MS);
  });
  afterAll(async () => {
    await clock?.close();
    await node?.stop();
    await testDatabase?.drop();
  });

  const days = (count: number): Promise<void> => clock.stopAt(START_MS + count * DAY_MS);

  it('are remembered for as long as their runs are there, and for as long as others after it', async () => {
    const environment = Object.assign(new Environment(), { SUBMISSION_ID_DAYS: 2 });
    const ids = new SubmissionPruner(node.database, environment);
    const board = await node.put({ windows: ['alltime'], runs: { keepDays: 7 } });
    const plain = await node.put({ windows: ['alltime'] });
    for (const one of [board, plain])
      for (const submissionId of ['m1', 'm2']) await node.submit(one, 'ada', Number(submissionId[1]), { submissionId });
    await node.void(board, 'm1');
    const remembered = async (one: Board): Promise<string[]> =>
      (
        await node.database.query<{ id: string }>(
          'SELECT submission_id AS id FROM submissions WHERE board_uid = $1 ORDER BY 1',
          [one.uid],
        )
      ).map(({ id }) => id);
    await days(2.1);
    await ids.prune(running);
    expect(await remembered(plain)).toEqual([]);
    expect(await remembered(board)).toEqual(['m1', 'm2']);
    const again = await node.submit(board, 'ada', 1, { submissionId: 'm1' });
    expect(again.replayed).toBe(true);
    expect(await node.entries(board)).toMatchObject([{ playerId: 'ada', score: 2 }]);
    await days(6.9);
    await ids.prune(running);
    expect(await remembered(board)).toEqual(['m1', 'm2']);
    await days(7.1);
    await node.oldRuns.run(running);
    await ids.prune(running);
    await expect(node.restore(board, 'm1')).rejects.toMatchObject({ code: 'RUN_GONE' });
    await days(9.1);
    await ids.prune(running);
    expect(await remembered(board)).toEqual([]);
    await expect(node.restore(board, 'm1')).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' });
  });
});
