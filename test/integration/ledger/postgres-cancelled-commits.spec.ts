// Real: PostgreSQL and the ledgers of two processes; the beginning of a commit fails as one does that an operator cancels in that moment.
import { withBoardDefaults, type Board, type BoardDefinition } from '@laddercast/domain';
import { sleep } from '@laddercast/platform';
import { createTestDatabase, type TestDatabase } from '@laddercast/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { CancelledBeginnings } from '../nodes/postgres-cancelled-beginnings.js';
import { LedgerNode, submissionOf } from '../nodes/ledger-node.js';

const DAY_MS = 86_400_000;
/** Long enough for what comes before the freeze. */
const FREEZES_IN_MS = 2000;

describe('a commit whose beginning is cancelled', () => {
  let testDatabase: TestDatabase;
  let node: LedgerNode;
  let other: LedgerNode;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    node = new LedgerNode(testDatabase.url);
    other = new LedgerNode(testDatabase.url);
    await node.start();
    await other.start();
  });
  afterEach(() => vi.restoreAllMocks());
  afterAll(async () => {
    await Promise.all([node?.stop(), other?.stop()]);
    await testDatabase?.drop();
  });

  const makeBoard = async (id: string, definition: Partial<BoardDefinition> = {}): Promise<Board> =>
    (await node.registry.put(id, withBoardDefaults({ order: 'desc', operator: 'sum', ...definition }))).board;

  function cancelNext(): CancelledBeginnings {
    const beginnings = new CancelledBeginnings();
    beginnings.next();
    return beginnings;
  }

  it.each([true, false])('stores nothing of what was sent behind it, with an id of the client: %s', async (given) => {
    const board = await makeBoard(`b-${given}`);
    for (const score of [1, 2]) await node.ledger.write(submissionOf(board, 'ada', score));
    const beginnings = cancelNext();
    const receipt = await node.ledger.write(submissionOf(board, 'ada', 4, { idFromClient: given }));
    expect(beginnings.cancelled).toBe(1);
    expect(receipt).toMatchObject({ replayed: false, answer: { score: 7, previousScore: 3 } });
    const [undeclared] = await node.database.query('SELECT is_called AS "isCalled" FROM undeclared_writes');
    expect(undeclared).toEqual({ isCalled: false });
  });

  it('saves no entry as it stood at the freeze by what its writer remembers', async () => {
    const nowMs = Date.now();
    const atMs = (inMs: number): string => new Date(nowMs + inMs).toISOString();
    const season = { season: 's1', startsAt: atMs(-DAY_MS), endsAt: atMs(DAY_MS), freezeAt: atMs(FREEZES_IN_MS) };
    const board = await makeBoard('frozen', { windows: [season] });
    for (const score of [1, 2]) await node.ledger.write(submissionOf(board, 'ada', score));
    await other.boards.refresh();
    await other.ledger.write(submissionOf(board, 'ada', 10));
    await sleep(nowMs + FREEZES_IN_MS + 200 - Date.now());
    const beginnings = cancelNext();
    const { answer } = await node.ledger.write(submissionOf(board, 'ada', 4));
    expect(beginnings.cancelled).toBe(1);
    expect(answer).toMatchObject({ score: 17, previousScore: 13 });
    expect(await node.database.query('SELECT score FROM frozen_entries')).toEqual([{ score: 13 }]);
  });
});
