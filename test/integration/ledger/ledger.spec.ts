// Real: PostgreSQL, the ledger with its lanes, two of them as two processes would run.
import { randomUUID } from 'node:crypto';
import { LadderError, withBoardDefaults, type Board, type BoardDefinition } from '@laddercast/domain';
import { entityTagOf, StaleBoardError } from '@laddercast/ledger';
import { createTestDatabase, openTcpProxy, type TcpProxy, type TestDatabase } from '@laddercast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { outboxEvents } from '../nodes/outbox-events.js';
import { LedgerNode, submissionOf } from '../nodes/ledger-node.js';

describe('the ledger', () => {
  let testDatabase: TestDatabase;
  let a: LedgerNode;
  let b: LedgerNode;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    a = new LedgerNode(testDatabase.url);
    b = new LedgerNode(testDatabase.url);
    await Promise.all([a.start(), b.start()]);
  });

  afterAll(async () => {
    await Promise.all([a.stop(), b.stop()]);
    await testDatabase.drop();
  });

  async function makeBoard(definition: Partial<BoardDefinition> = {}): Promise<Board> {
    const full = withBoardDefaults({ order: 'desc', operator: 'sum', ...definition });
    const { board } = await a.registry.put(`b${randomUUID().slice(0, 8)}`, full);
    return board;
  }

  it('changes nothing of a board that is put as it is', async () => {
    const board = await makeBoard({ operator: 'best', title: 'Same' });
    await a.ledger.write(submissionOf(board, 'ada', 1));
    const condition = { ifMatch: entityTagOf(board) };
    expect(await a.registry.put(board.id, board.definition, condition)).toEqual({ board, created: false });
    const acts = await a.database.query('SELECT action FROM audit_log WHERE subject = $1', [board.id]);
    expect(acts).toEqual([{ action: 'board.create' }]);
    const { board: other } = await a.registry.put(board.id, { ...board.definition, title: 'Other' }, condition);
    expect(entityTagOf(other)).not.toBe(entityTagOf(board));
  });

  it('adds concurrent increments of one player without losing any, from two processes', async () => {
    const board = await makeBoard();
    await Promise.all(
      Array.from({ length: 400 }, (_, index) => [a, b][index % 2]!.ledger.write(submissionOf(board, 'ada', 1))),
    );
    const last = await a.ledger.write(submissionOf(board, 'ada', 1));
    expect(last.answer.score).toBe(401);
    expect(last.answer.previousScore).toBe(400);
  });

  it('counts a submission id once: in one batch, over two processes, and later', async () => {
    const board = await makeBoard();
    const write = submissionOf(board, 'ada', 5, { submissionId: 'once' });
    const receipts = await Promise.all(Array.from({ length: 60 }, (_, i) => [a, b][i % 2]!.ledger.write({ ...write })));
    expect(receipts.filter((receipt) => !receipt.replayed)).toHaveLength(1);
    expect(new Set(receipts.map((receipt) => JSON.stringify(receipt.answer))).size).toBe(1);
    const later = await b.ledger.write({ ...write });
    expect(later).toMatchObject({ replayed: true, answer: { score: 5, outcome: 'created' } });
  });

  it('gives a retry its first answer whatever speaks against the run by now, and refuses a new one for it', async () => {
    const board = await makeBoard();
    const refusal = new LadderError('SUBMISSION_REJECTED', 'not any more');
    const write = submissionOf(board, 'ada', 5, { submissionId: 'early' });
    const first = await a.ledger.write(write);
    expect(await a.ledger.write({ ...write, refusal })).toMatchObject({ replayed: true, answer: first.answer });
    await expect(a.ledger.write(submissionOf(board, 'ada', 5, { refusal }))).rejects.toBe(refusal);
  });

  it('settles one id that two players in different lanes carry at once', async () => {
    const board = await makeBoard();
    const players = ['p0', 'p1', 'p2', 'p3', 'p4', 'p5', 'p6', 'p7'];
    const results = await Promise.allSettled(
      players.map((player, i) =>
        [a, b][i % 2]!.ledger.write(submissionOf(board, player, 1, { submissionId: 'shared' })),
      ),
    );
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const result of results) {
      if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'SUBMISSION_ID_REUSED' });
    }
  });

  it('says of a run that lost its id to another lane, in a commit that was refused, that it is a repetition', async () => {
    const board = await makeBoard();
    const { bodySha256 } = submissionOf(board, 'p0', 1);
    const receipts = await Promise.all(
      ['p0', 'p1', 'p2', 'p3', 'p4', 'p5', 'p6', 'p7'].map((player, i) =>
        [a, b][i % 2]!.ledger.write(submissionOf(board, player, 1, { submissionId: 'one body', bodySha256 })),
      ),
    );
    expect(receipts.filter(({ replayed }) => !replayed)).toHaveLength(1);
  });

  it('refuses one overflowing sum among hundreds of good rows and counts the others', async () => {
    const board = await makeBoard();
    await a.ledger.write(submissionOf(board, 'big', 1.7e308));
    const results = await Promise.allSettled([
      a.ledger.write(submissionOf(board, 'big', 1.7e308)),
      ...Array.from({ length: 500 }, (_, i) => a.ledger.write(submissionOf(board, `p${i}`, i))),
    ]);
    expect(results[0]).toMatchObject({ status: 'rejected', reason: { code: 'SCORE_OUT_OF_BOUNDS' } });
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(500);
  });

  it('isolates a row that PostgreSQL itself refuses', async () => {
    const board = await makeBoard();
    const results = await Promise.allSettled([
      a.ledger.write(submissionOf(board, 'nul\u0000', 1)),
      ...Array.from({ length: 50 }, (_, i) => a.ledger.write(submissionOf(board, `p${i}`, i))),
    ]);
    expect(results[0]!.status).toBe('rejected');
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(50);
  });

  it('writes one outbox row per change, in each lane in the order of positions, and none for what changes nothing', async () => {
    const board = await makeBoard({ operator: 'best' });
    await a.ledger.write(submissionOf(board, 'ada', 10));
    await a.ledger.write(submissionOf(board, 'ada', 5));
    await a.ledger.write(submissionOf(board, 'ada', 20));
    const rows = (await outboxEvents(a.database, 'entry-changed')).filter(({ event }) => event.boardUid === board.uid);
    const events = rows.map(({ event }) => event);
    expect(events.map(({ version }) => version)).toEqual(rows.map(({ position }) => position));
    expect(events.map(({ changes }) => changes[0]!.entry!.score)).toEqual([10, 20]);
    const [entry] = await a.database.query<{ version: number }>('SELECT version FROM entries WHERE board_uid = $1', [
      board.uid,
    ]);
    expect(entry!.version).toBe(events[1]!.version);
  });

  it('refuses a write for a board that was reset, redefined or deleted after the caller looked', async () => {
    const board = await makeBoard();
    await a.registry.reset(board.id, 'test');
    await expect(a.ledger.write(submissionOf(board, 'ada', 1))).rejects.toBeInstanceOf(StaleBoardError);
    await a.registry.delete(board.id, null, 'test');
    await expect(a.ledger.write(submissionOf(board, 'ada', 1))).rejects.toBeInstanceOf(StaleBoardError);
  });

  it('feeds all windows of the board in one transaction, and only those still open for the run', async () => {
    const board = await makeBoard({ windows: ['alltime', 'daily', 'weekly', 'monthly'] });
    const now = await a.ledger.write(submissionOf(board, 'ada', 1));
    expect(now.answer.windows.map((id) => id.split(':')[0])).toEqual(['alltime', 'daily', 'weekly', 'monthly']);
    const old = await a.ledger.write(submissionOf(board, 'bob', 1, { achievedAtMs: Date.UTC(2020, 0, 1) }));
    expect(old.answer.windows).toEqual(['alltime']);
    await expect(
      a.ledger.write(
        submissionOf(board, 'cy', 1, { achievedAtMs: Date.UTC(2020, 0, 1), windowId: 'daily:2020-01-01' }),
      ),
    ).rejects.toMatchObject({ code: 'WINDOW_CLOSED' });
    await expect(a.ledger.write(submissionOf(board, 'cy', 1, { windowId: 'daily:2020-01-01' }))).rejects.toMatchObject({
      code: 'WINDOW_CLOSED',
    });
    const today = now.answer.windows.find((id) => id.startsWith('daily:'))!;
    await expect(
      a.ledger.write(submissionOf(board, 'cy', 1, { windowId: today, achievedAtMs: Date.UTC(2020, 0, 1) })),
    ).rejects.toMatchObject({ code: 'WINDOW_MISMATCH' });
    await expect(
      a.ledger.write(submissionOf(board, 'cy', 1, { achievedAtMs: Date.now() + 120_000 })),
    ).rejects.toMatchObject({
      code: 'ACHIEVED_AT_IN_FUTURE',
    });
  });

  it('answers a retry whose commit was cut with its first answer', async () => {
    const board = await makeBoard();
    const stop = { now: false };
    const cutter = (async () => {
      while (!stop.now) {
        await b.database
          .query(
            `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
           WHERE datname = current_database() AND pid <> pg_backend_pid() AND query LIKE '%COMMIT%'`,
          )
          .catch(() => undefined);
        await new Promise((resolve) => setTimeout(resolve, 15));
      }
    })();
    const outcomes = [];
    for (let round = 0; round < 20; round += 1) {
      outcomes.push(
        ...(await Promise.allSettled(
          Array.from({ length: 20 }, (_, i) =>
            a.ledger.write(submissionOf(board, `p${i}`, 1, { submissionId: `${round}-${i}` })),
          ),
        )),
      );
    }
    stop.now = true;
    await cutter;
    expect(outcomes.filter((outcome) => outcome.status === 'rejected' || outcome.value.replayed)).toEqual([]);
    const [sum] = await b.database.query<{ total: number; rows: number }>(
      `SELECT sum(score) AS total, count(*) AS rows FROM entries WHERE board_uid = $1`,
      [board.uid],
    );
    expect(sum).toEqual({ total: 400, rows: 20 });
  });

  /** A ledger of its own, whose way to PostgreSQL the test may cut. */
  async function behindProxy(work: (node: LedgerNode, proxy: TcpProxy) => Promise<void>): Promise<void> {
    const target = new URL(testDatabase.url);
    const proxy = await openTcpProxy(target.hostname, Number(target.port));
    target.port = String(proxy.port);
    const node = new LedgerNode(target.href);
    try {
      await node.start();
      await work(node, proxy);
    } finally {
      await node.stop();
      await proxy.close();
    }
  }

  it('says of a repeated run that it is one, also when the commit that it went along with was cut', async () => {
    const board = await makeBoard();
    await behindProxy(async (node, proxy) => {
      const run = submissionOf(board, 'ada', 1, { submissionId: 'first' });
      expect(await node.ledger.write(run)).toMatchObject({ replayed: false });
      const cut = proxy.cutAfter('COMMIT');
      const next = submissionOf(board, 'ada', 2, { submissionId: 'second' });
      const receipts = await Promise.all([node.ledger.write(run), node.ledger.write(next)]);
      await cut;
      expect(receipts).toMatchObject([{ replayed: true }, { replayed: false }]);
    });
  });

  it('says so too where another process has counted it, and a commit was cut that had not looked for it', async () => {
    const board = await makeBoard();
    await behindProxy(async (node, proxy) => {
      // What the next is made from is remembered: its commit is one trip.
      for (const score of [1, 2]) await node.ledger.write(submissionOf(board, 'ada', score));
      const run = submissionOf(board, 'ada', 3, { submissionId: 'counted' });
      const first = await a.ledger.write(run);
      const cut = proxy.cutAfter('COMMIT');
      const again = await node.ledger.write(run);
      await cut;
      expect(again).toMatchObject({ replayed: true, answer: first.answer });
    });
  });

  it('takes the words of a pooler that lost its server for no refusal: what it was sent may be stored', async () => {
    const board = await makeBoard({ operator: 'sum' });
    await behindProxy(async (node, proxy) => {
      for (const score of [1, 2]) await node.ledger.write(submissionOf(board, 'ada', score));
      const cut = proxy.cutAfter('COMMIT', fatalMessage('08P01', 'server conn crashed?'));
      const receipt = await node.ledger.write(submissionOf(board, 'ada', 4));
      await cut;
      expect(receipt).toMatchObject({ replayed: false });
      const entries = await a.database.query('SELECT score FROM entries WHERE board_uid = $1', [board.uid]);
      expect(entries).toEqual([{ score: 7 }]);
    });
  });

  it('keeps the lanes going while many boards are made at once', async () => {
    const board = await makeBoard({ windows: ['alltime', 'daily'] });
    let making = true;
    const writes: Promise<unknown>[] = [];
    const writer = (async () => {
      for (let i = 0; making; i += 1) {
        writes.push(a.ledger.write(submissionOf(board, `p${i % 50}`, 1)));
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
    })();
    const fresh = await Promise.all(Array.from({ length: 16 }, () => makeBoard({ windows: ['daily', 'weekly'] })));
    await Promise.all(fresh.map((one) => a.ledger.write(submissionOf(one, 'ada', 1))));
    making = false;
    await writer;
    const settled = await Promise.allSettled(writes);
    expect(settled.filter(({ status }) => status === 'rejected')).toEqual([]);
  });

  it('says within seconds that PostgreSQL hangs, stores nothing it called not stored, and goes on afterwards', async () => {
    const { hostname, port, pathname, username, password } = new URL(testDatabase.url);
    const proxy = await openTcpProxy(hostname, Number(port || 5432));
    const account = username ? `${username}${password ? `:${password}` : ''}@` : '';
    const hung = new LedgerNode(`postgres://${account}127.0.0.1:${proxy.port}${pathname}`);
    await hung.start();
    const board = await makeBoard();
    const answers: Promise<{ id: string; stored: boolean | null }>[] = [];
    const write = (): void => {
      const id = randomUUID();
      const unnamed = submissionOf(board, `p${answers.length % 40}`, 1, { submissionId: id, idFromClient: false });
      answers.push(
        hung.ledger.write(unnamed).then(
          () => ({ id, stored: true }),
          (error: { detail: string }) => ({ id, stored: /nothing was stored/.test(error.detail) ? false : null }),
        ),
      );
    };
    for (let i = 0; i < 300; i += 1) {
      write();
      if (i === 200) proxy.freeze();
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    const startedAt = performance.now();
    const settled = await Promise.all(answers);
    expect(performance.now() - startedAt).toBeLessThan(60_000);
    proxy.thaw();
    // Whatever the frozen connections still held has to have its chance to arrive.
    await expect
      .poll(async () => (await hung.ledger.write(submissionOf(board, 'after', 1))).answer.outcome)
      .toBe('created');
    await new Promise((resolve) => setTimeout(resolve, 500));
    await hung.database.transaction((transaction) => transaction.query('SELECT 1'));
    const rows = await a.database.query<{ submission_id: string }>(
      'SELECT submission_id FROM submissions WHERE board_uid = $1',
      [board.uid],
    );
    const stored = new Set(rows.map((row) => row.submission_id));
    for (const one of settled) if (one.stored !== null) expect(stored.has(one.id)).toBe(one.stored);
    expect(settled.some((one) => one.stored === false)).toBe(true);
    await hung.stop();
    await proxy.close();
  });
});

/** What a pooler tells a client before it hangs up (PostgreSQL's manual, "Message Formats": ErrorResponse). */
function fatalMessage(sqlState: string, message: string): Buffer {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C${sqlState}\0M${message}\0\0`);
  const head = Buffer.from('E\0\0\0\0');
  head.writeInt32BE(4 + fields.length, 1);
  return Buffer.concat([head, fields]);
}
