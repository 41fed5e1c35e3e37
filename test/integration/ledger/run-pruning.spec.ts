// Real: PostgreSQL, the ledgers of two processes and what prunes their runs; the ledger's clock is the test's.
import type { Board, BoardDefinition } from '@laddercast/domain';
import { LaneQueue, RunActs, RunPruner, type ListedRun, type Place, type SqlRunner } from '@laddercast/ledger';
import { createTestDatabase, DatabaseClock, type TestDatabase } from '@laddercast/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { submissionOf } from '../nodes/ledger-node.js';
import { RunNode } from '../nodes/run-node.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const START_MS = Date.parse('2026-11-20T10:10:00Z');
const running = new AbortController().signal;

/** The lanes of a process that ends before a commit. */
class EndingLanes extends LaneQueue {
  /** How many transactions are left to it. */
  left = Infinity;

  override holding<T>(at: string | Place, work: (transaction: SqlRunner, lane: number) => Promise<T>): Promise<T> {
    return super.holding(at, async (transaction, lane) => {
      const done = await work(transaction, lane);
      if ((this.left -= 1) < 0) throw new Error('killed');
      return done;
    });
  }
}

/** A clock that cannot void. */
class FailingActs extends RunActs {
  override voidHeld(): Promise<never> {
    return Promise.reject(new Error('cannot'));
  }
}

describe('runs that are older than their board keeps them', { timeout: 120_000 }, () => {
  let testDatabase: TestDatabase;
  let node: RunNode;
  let other: RunNode;
  let clock: DatabaseClock;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    [node, other] = [new RunNode(testDatabase.url), new RunNode(testDatabase.url)];
    await node.start();
    await other.start();
    clock = await DatabaseClock.of(testDatabase.url);
  });
  beforeEach(() => clock.stopAt(START_MS));
  afterAll(async () => {
    await clock?.close();
    await Promise.all([node?.stop(), other?.stop()]);
    await testDatabase?.drop();
  });

  const keeping = (more: Partial<BoardDefinition> = {}): Promise<Board> =>
    node.put({ windows: ['alltime'], runs: { keepDays: 7 }, ...more });
  const days = (count: number): Promise<void> => clock.stopAt(START_MS + count * DAY_MS);
  const prune = (): Promise<void> => node.oldRuns.run(running);
  const standing = async (board: Board): Promise<string[]> =>
    (await node.entries(board)).map(({ window, playerId, score }) => `${window} ${playerId} ${score}`);
  const keptIds = async (board: Board): Promise<string[]> =>
    (await node.runsOf(board)).map(({ submissionId }) => submissionId).reverse();
  const bases = (board: Board): Promise<{ window: string; player: string; score: number; position: number }[]> =>
    node.database.query(
      `SELECT w.window_id AS window, b.player_id AS player, b.score, b.position
       FROM windows w JOIN run_bases b USING (window_uid) WHERE w.board_uid = $1 ORDER BY 1, 2`,
      [board.uid],
    );
  const hold = (board: Board, submissionId: string): Promise<unknown> =>
    node.database.query('UPDATE runs SET held = true WHERE board_uid = $1 AND submission_id = $2', [
      board.uid,
      submissionId,
    ]);
  const runs = async (board: Board, player: string, scores: Record<string, number>): Promise<void> => {
    for (const [submissionId, score] of Object.entries(scores))
      await node.submit(board, player, score, { submissionId });
  };

  it('stand in a base, to the last bit, and what comes after it can be voided', async () => {
    const board = await keeping();
    await runs(board, 'ada', { a1: 1e16, a2: 1 });
    await days(3);
    await runs(board, 'ada', { a3: 1, a4: 5 });
    await days(8);
    await prune();
    expect(await keptIds(board)).toEqual(['a3', 'a4']);
    expect(await bases(board)).toMatchObject([{ window: 'alltime', player: 'ada', score: 1e16 }]);
    expect(await standing(board)).toEqual(['alltime ada 10000000000000004']);
    await node.void(board, 'a4');
    expect(await standing(board)).toEqual(['alltime ada 10000000000000000']);
    await expect(node.void(board, 'a1')).rejects.toMatchObject({ code: 'RUN_GONE' });
    await days(11);
    await prune();
    expect(await keptIds(board)).toEqual([]);
    expect(await bases(board)).toMatchObject([{ score: 1e16 }]);
    await expect(node.restore(board, 'a4')).rejects.toMatchObject({ code: 'RUN_GONE' });
    await runs(board, 'ada', { a5: 7 });
    expect(await standing(board)).toEqual(['alltime ada 10000000000000008']);
  });

  it('leave a base that the next ones are folded on top of, and a wall that takes it away', async () => {
    const board = await keeping({ operator: 'best' });
    await runs(board, 'ada', { b1: 50 });
    await days(1);
    await runs(board, 'ada', { b2: 40 });
    await days(2);
    await node.override(board, 'ada', null, 'b3');
    await days(3);
    await runs(board, 'ada', { b4: 10, b5: 30 });
    await days(7.5);
    await prune();
    const [first] = await bases(board);
    expect(first).toMatchObject({ score: 50 });
    await days(8.5);
    await prune();
    const [second] = await bases(board);
    expect(second).toMatchObject({ score: 50 });
    expect(second!.position).toBeGreaterThan(first!.position);
    await node.void(board, 'b3');
    expect(await standing(board)).toEqual(['alltime ada 50']);
    await node.restore(board, 'b3');
    await days(9.5);
    await prune();
    expect(await bases(board)).toEqual([]);
    await node.void(board, 'b5');
    expect(await standing(board)).toEqual(['alltime ada 10']);
  });

  it('are on top of the entry from before runs were kept, also where none of them changed it', async () => {
    const board = await node.put({ operator: 'best', windows: ['alltime'] });
    await runs(board, 'ada', { c0: 50 });
    await node.put({ ...board.definition, runs: { keepDays: 7 } }, board.id);
    await runs(board, 'ada', { c1: 20 });
    await days(8);
    await prune();
    expect(await bases(board)).toMatchObject([{ score: 50 }]);
    await runs(board, 'ada', { c2: 60 });
    expect(await standing(board)).toEqual(['alltime ada 60']);
    await node.void(board, 'c2');
    expect(await standing(board)).toEqual(['alltime ada 50']);
  });

  it('name no run any more that an entry rests on', async () => {
    const board = await keeping({ operator: 'best' });
    await runs(board, 'ada', { d1: 50 });
    await runs(board, 'bob', { d2: 10 });
    await days(3);
    await runs(board, 'bob', { d3: 20 });
    await days(8);
    await prune();
    const rests = await node.database.query(
      'SELECT player_id AS player, run_position IS NULL AS "isBase" FROM entries WHERE board_uid = $1 ORDER BY 1',
      [board.uid],
    );
    expect(rests).toEqual([
      { player: 'ada', isBase: true },
      { player: 'bob', isBase: false },
    ]);
    const [run] = await node.runsOf(board);
    expect(run).toMatchObject({ submissionId: 'd3', entryOf: ['alltime'] });
  });

  it('that came late stand in the base of the window that they came into', async () => {
    const board = await keeping({ windows: ['daily', 'alltime'], clientTime: true, graceSeconds: 3600 });
    const endMs = Date.parse('2026-11-21T00:00:00Z');
    await runs(board, 'ada', { e1: 5 });
    await clock.stopAt(endMs + HOUR_MS / 2);
    await node.submit(board, 'ada', 7, { submissionId: 'e2', achievedAtMs: endMs - 1000 });
    await node.submit(board, 'ada', 9, { submissionId: 'e3' });
    const before = await standing(board);
    await clock.stopAt(START_MS + 7 * DAY_MS + HOUR_MS);
    await prune();
    expect(await keptIds(board)).toEqual(['e2', 'e3']);
    await node.void(board, 'e2');
    expect((await standing(board)).sort()).toEqual([
      'alltime ada 14',
      'daily:2026-11-20 ada 5',
      'daily:2026-11-21 ada 9',
    ]);
    await node.restore(board, 'e2');
    await days(8);
    await prune();
    expect(await keptIds(board)).toEqual([]);
    expect(await standing(board)).toEqual(before);
    expect((await bases(board)).map(({ window, score }) => `${window} ${score}`)).toEqual([
      'alltime 21',
      'daily:2026-11-20 12',
      'daily:2026-11-21 9',
    ]);
  });

  it('are voided by the clock where they are held, and say so', async () => {
    const board = await keeping();
    await runs(board, 'ada', { f1: 1, f2: 2, f3: 4 });
    await hold(board, 'f2');
    await node.void(board, 'f1');
    await node.restore(board, 'f1');
    const before = await standing(board);
    await days(6.9);
    await prune();
    expect(await keptIds(board)).toHaveLength(3);
    await days(7.1);
    await prune();
    expect(await keptIds(board)).toEqual([]);
    // f2 counted until it was held by hand, so the act on f1 took it out.
    expect(before).toEqual(['alltime ada 5']);
    expect(await bases(board)).toMatchObject([{ score: 5 }]);
    const acts = await node.database.query(
      `SELECT action, details ->> 'reason' AS reason FROM audit_log WHERE actor = 'clock' AND subject = $1`,
      [`run:${board.id}/f2`],
    );
    expect(acts).toEqual([{ action: 'run.void', reason: 'held for 7 days' }]);
  });

  it('stay from the first on that is held', async () => {
    const board = await keeping();
    await runs(board, 'ada', { g1: 1, g2: 2, g3: 4 });
    await runs(board, 'bob', { g4: 8 });
    await hold(board, 'g2');
    await node.void(board, 'g1');
    await node.restore(board, 'g1');
    await node.boards.refresh();
    const current = node.boards.byId(board.id)!;
    // More than one look reads.
    await Promise.all(Array.from({ length: 5000 }, () => node.ledger.write(submissionOf(current, 'ada', 16))));
    await days(8);
    const failing = new FailingActs(node.database, node.lanes, node.work, node.acts['refold']);
    const pruner = new RunPruner(node.database, node.lanes, node.work, failing);
    for (let looks = 0; looks < 2; looks += 1) await expect(pruner.run(running)).rejects.toThrow('cannot');
    const [left] = await node.database.query(
      'SELECT count(*) AS runs, min(position) = (SELECT position FROM runs WHERE submission_id = $2) AS "isHeldFirst" FROM runs WHERE board_uid = $1',
      [board.uid, 'g2'],
    );
    expect(left).toEqual({ runs: 5002, isHeldFirst: true });
    expect((await bases(board)).map(({ player, score }) => `${player} ${score}`)).toEqual(['ada 1', 'bob 8']);
    const run = node.actOn(board, 'g2');
    await node.acts.verify(run, true);
    expect(await standing(board)).toEqual(['alltime ada 80007', 'alltime bob 8']);
  });

  it('are voided by the clock only while they are held', async () => {
    const board = await keeping();
    await runs(board, 'ada', { h1: 1 });
    const [{ version: position }] = (await node.runsOf(board)) as [ListedRun];
    const run = { boardUid: board.uid, playerId: 'ada', position };
    expect(await node.acts.voidHeld(run, node.actOn(board, 'h1'))).toMatchObject({ changed: false });
    expect(await standing(board)).toEqual(['alltime ada 1']);
  });

  it('are pruned once by two processes, one of which ends on its way, also 12,000 of one player', async () => {
    // What other boards have is gone before.
    await days(30);
    await prune();
    await clock.stopAt(START_MS);
    const board = await keeping({ windows: ['alltime', 'daily'], operator: 'sum' });
    const scores = [0.1, 0.2, 0.3, 1e16, -1e16, 7];
    // PostgreSQL goes by what it counted then: no plan of it may read a player's runs once for each of them.
    await node.database.query('ANALYZE runs');
    await node.boards.refresh();
    const current = node.boards.byId(board.id)!;
    for (let from = 0; from < 12_000; from += 2000)
      await Promise.all(
        Array.from({ length: 2000 }, (_, n) =>
          node.ledger.write(submissionOf(current, 'ada', scores[(from + n) % scores.length]!, { idFromClient: false })),
        ),
      );
    await Promise.all(
      Array.from({ length: 600 }, (_, n) =>
        node.ledger.write(submissionOf(current, `p${n}`, n, { idFromClient: false })),
      ),
    );
    const before = await node.entries(board);
    await days(8);
    const lanes = new EndingLanes(node.database, node.lanes, node.notifier);
    const ending = new RunPruner(node.database, node.lanes, lanes, node.acts);
    lanes.left = 1;
    await expect(ending.run(running)).rejects.toThrow('killed');
    const countOf = async (): Promise<number> =>
      (await node.database.query<{ n: number }>('SELECT count(*) AS n FROM runs WHERE board_uid = $1', [board.uid]))[0]!
        .n;
    const left = await countOf();
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThan(12_600);
    await Promise.all([node.oldRuns.run(running), other.oldRuns.run(running)]);
    expect(await countOf()).toBe(0);
    expect(await node.entries(board)).toEqual(before);
    // One more run folds the entry of the base anew.
    await runs(board, 'ada', { last: 1 });
    await node.void(board, 'last');
    const scoresOf = (all: typeof before): string[] =>
      all.map(({ window, playerId, score }) => `${window} ${playerId} ${score}`);
    const later = scoresOf(await node.entries(board)).filter((line) => !line.startsWith('daily:2026-11-28'));
    expect(later).toEqual(scoresOf(before));
  });

  it('do not change what a guild keeps of a player that left it before they came', async () => {
    const guildAggregate = { kind: 'sum', k: null, onLeave: 'keep' } as const;
    const board = await keeping({ scopes: ['global', 'guild'], guildAggregate });
    await runs(board, 'ada', { i1: 10 });
    const windowUid = await node.windowUid(board, 'alltime');
    await node.database.query(
      `INSERT INTO guild_kept (window_uid, guild_id, player_id, score, achieved_at_ms, left_at)
       VALUES ($1, 'blue', 'ada', 10, $2, to_timestamp($2::bigint / 1000 + 60))`,
      [windowUid, START_MS],
    );
    await days(1);
    await runs(board, 'ada', { i2: 5 });
    await days(3);
    await runs(board, 'ada', { i3: 2 });
    await days(8.5);
    await prune();
    expect(await keptIds(board)).toEqual(['i3']);
    await node.void(board, 'i3');
    expect(await standing(board)).toEqual(['alltime ada 15']);
    const parts = await node.database.query('SELECT score, present FROM guild_kept WHERE window_uid = $1', [windowUid]);
    expect(parts).toEqual([{ score: 10, present: true }]);
  });

  describe('of a board that stops keeping them', () => {
    const stop = (board: Board): Promise<Board> => node.put({ ...board.definition, runs: null }, board.id);
    const rowsOf = async (board: Board): Promise<number[]> => {
      const [rows] = await node.database.query<{ runs: number; bases: number }>(
        `SELECT (SELECT count(*) FROM runs WHERE board_uid = $1) AS runs,
           (SELECT count(*) FROM windows w JOIN run_bases USING (window_uid) WHERE w.board_uid = $1) AS bases`,
        [board.uid],
      );
      return [rows!.runs, rows!.bases];
    };

    it('go with their bases, and entries stand', async () => {
      const board = await keeping();
      await runs(board, 'ada', { j1: 1 });
      await days(8);
      await prune();
      await runs(board, 'ada', { j2: 2 });
      await stop(board);
      expect(await rowsOf(board)).toEqual([1, 1]);
      await node.endedRuns.run(running);
      expect(await rowsOf(board)).toEqual([0, 0]);
      expect(await standing(board)).toEqual(['alltime ada 3']);
      await expect(node.void(board, 'j2')).rejects.toMatchObject({ code: 'RUNS_NOT_KEPT' });
      const [marked] = await node.database.query('SELECT runs_left FROM boards WHERE board_uid = $1', [board.uid]);
      expect(marked).toEqual({ runs_left: false });
    });

    it('do not matter once it keeps runs again, whether they are gone yet or not', async () => {
      const board = await keeping();
      await runs(board, 'ada', { k1: 1 });
      await days(8);
      await prune();
      await runs(board, 'ada', { k2: 2 });
      const [{ version: position }] = (await node.runsOf(board)) as [ListedRun];
      await stop(board);
      await runs(board, 'ada', { k3: 4 });
      await node.put(board.definition, board.id);
      await expect(node.void(board, 'k2')).rejects.toMatchObject({ code: 'RUN_GONE' });
      const decided = await node.database.transaction((transaction) =>
        node.acts.within(
          transaction,
          'void',
          { boardUid: board.uid, playerId: 'ada', position },
          node.actOn(board, 'k2'),
        ),
      );
      expect(decided).toBeNull();
      await runs(board, 'ada', { k4: 8 });
      await node.void(board, 'k4');
      expect(await standing(board)).toEqual(['alltime ada 7']);
      expect(await keptIds(board)).toEqual(['k4']);
      await node.restore(board, 'k4');
      const [base] = await bases(board);
      await node.endedRuns.run(running);
      // What was kept since is none of what goes.
      expect(await keptIds(board)).toEqual(['k4']);
      expect(await bases(board)).toEqual([base]);
      expect(base).toMatchObject({ score: 7 });
      expect(await rowsOf(board)).toEqual([1, 1]);
      await days(16);
      await prune();
      expect(await bases(board)).toMatchObject([{ score: 15 }]);
      expect(await standing(board)).toEqual(['alltime ada 15']);
    });
  });

  it.each(['deleted', 'reset'] as const)('go with a board that is %s', async (how) => {
    const board = await keeping();
    const kept = await keeping();
    for (const one of [board, kept]) {
      await runs(one, 'ada', { l1: 1 });
      await runs(one, 'bob', { l2: 1 });
    }
    await days(8);
    await prune();
    for (const one of [board, kept]) await runs(one, 'ada', { l3: 1 });
    if (how === 'deleted') await node.registry.delete(board.id, null, 'test');
    else await node.registry.reset(board.id, 'test');
    await node.registry.purgeRows(board.uid);
    const rows = (uid: number): Promise<unknown[]> =>
      node.database.query(
        `SELECT player_id FROM runs WHERE board_uid = $1
         UNION ALL SELECT player_id FROM windows w JOIN run_bases USING (window_uid) WHERE w.board_uid = $1`,
        [uid],
      );
    expect(await rows(board.uid)).toEqual([]);
    expect(await rows(kept.uid)).toHaveLength(3);
  });
});
