// Real: PostgreSQL with the ledgers of two processes. Boards change, and lanes are raised, under what is on its way.
import { ScoreSubmitter } from '@laddercast/commands';
import { withBoardDefaults, type Board, type BoardDefinition } from '@laddercast/domain';
import { NO_EXTENSIONS, type CheckedSubmission } from '@laddercast/extension';
import type { Identity } from '@laddercast/identity';
import type { SubmitReceipt } from '@laddercast/ledger';
import { sleep } from '@laddercast/platform';
import { createTestDatabase, type TestDatabase } from '@laddercast/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LedgerNode, submissionOf } from '../nodes/ledger-node.js';
import { outboxEvents } from '../nodes/outbox-events.js';
import { deafen, misplaced, raiseLanes, SCATTERED } from '../nodes/raises.js';

const GAME_SERVER: Identity = { kind: 'key', keyId: 'k', scopes: ['scores:write'] };
const mover = SCATTERED[3]!;
const definition = withBoardDefaults({ order: 'desc', operator: 'sum' });

let testDatabase: TestDatabase;
let node: LedgerNode;
let other: LedgerNode;

beforeEach(async () => {
  testDatabase = await createTestDatabase();
  node = new LedgerNode(testDatabase.url);
  other = new LedgerNode(testDatabase.url);
  await node.start();
  await other.start();
});
afterEach(async () => {
  await Promise.all([node.stop(), other.stop()]);
  await testDatabase.drop();
});

async function makeBoard(more: Partial<BoardDefinition> = {}): Promise<Board> {
  const { board } = await node.registry.put('board', { ...definition, ...more });
  await Promise.all([deafen(node), deafen(other)]);
  return board;
}

describe('submissions of one player', () => {
  it('count in the order of the array where their board changes and the check of an earlier one takes longer', async () => {
    const board = await makeBoard();
    const check = async ({ score }: CheckedSubmission) => {
      if (score === 1) await sleep(100);
      return { verdict: 'accept' as const };
    };
    const checks = [{ boards: null, check: (_: Board, submission: CheckedSubmission) => check(submission) }];
    const submitter = new ScoreSubmitter(node.boards, node.ledger, { ...NO_EXTENSIONS, checks } as never);
    const prepared = await Promise.all(
      [1, 2, 3].map((score) => submitter.prepare(GAME_SERVER, { boardId: board.id, body: { playerId: mover, score } })),
    );
    await other.registry.put('board', { ...definition, title: 'Another one' });
    const settled = await submitter.commitAll(prepared);
    const totals = settled.map((one) => one.status === 'fulfilled' && one.value.receipt.answer.score);
    expect(totals).toEqual([1, 3, 6]);
  });

  it('count as they came where more wait than one commit takes, and the first of them is refused for an earlier map', async () => {
    const board = await makeBoard({ operator: 'latest' });
    const [stays] = SCATTERED as [string];
    await raiseLanes(node, 8);
    const sent = Array.from({ length: 1100 }, (_, index) => other.ledger.write(submissionOf(board, stays, index)));
    const answers = (await Promise.all(sent)).map(({ answer }) => answer);
    expect(other.lanes.count).toBe(8);
    expect(answers.map(({ previousScore }) => previousScore)).toEqual([null, ...answers.keys()].slice(0, -1));
  });

  it('have one order that everybody tells, where lanes are raised under those that are under way at once', async () => {
    const board = await makeBoard({ operator: 'latest' });
    const receipts: Promise<SubmitReceipt>[] = [];
    const send = (by: LedgerNode, playerId: string): void => {
      receipts.push(by.ledger.write(submissionOf(board, playerId, receipts.length)));
    };
    for (const count of [4, 8, 16, 32, 64]) {
      const raised = raiseLanes(node, count);
      for (let turn = 0; turn < 5; turn += 1) {
        for (const playerId of SCATTERED) for (const by of [node, other]) send(by, playerId);
        await sleep(2);
      }
      await raised;
    }
    const answers = (await Promise.all(receipts)).map(({ answer }) => answer);
    const told = await outboxEvents(node.database, 'entry-changed');
    for (const [at, playerId] of SCATTERED.entries()) {
      const ofPlayer = answers.filter((_, index) => Math.floor(index / 2) % SCATTERED.length === at);
      ofPlayer.sort((a, b) => a.version - b.version);
      // Each stands in the place of the one before it, and the log says them in this order.
      expect(ofPlayer.map(({ previousScore }) => previousScore)).toEqual([
        null,
        ...ofPlayer.slice(0, -1).map(({ score }) => score),
      ]);
      const events = told.filter(({ key }) => key === playerId).map(({ event }) => event.changes[0]!.entry!.score);
      expect(events).toEqual(ofPlayer.map(({ score }) => score));
    }
    expect(await misplaced(node.database)).toEqual([]);
  });
});
