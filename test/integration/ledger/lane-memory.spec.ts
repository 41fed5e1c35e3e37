// Real: PostgreSQL and the ledgers of two processes; in some tests the ledger's clock is the test's.
import { randomUUID } from 'node:crypto';
import { withBoardDefaults, type Board, type BoardDefinition } from '@laddercast/domain';
import { ADVISORY_LOCKS, StaleBoardError, takeLane, type SubmitReceipt } from '@laddercast/ledger';
import { metrics } from '@laddercast/platform';
import { createTestDatabase, DatabaseClock, Dice, entryOfRuns, type TestDatabase } from '@laddercast/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { lanesWaitedFor } from '../nodes/lanes-waited-for.js';
import { LedgerNode, submissionOf } from '../nodes/ledger-node.js';
import { outboxEvents } from '../nodes/outbox-events.js';

const DAY_MS = 86_400_000;
const PLAYERS = Array.from({ length: 12 }, (_, index) => `p${index}`);

describe('what the writer of a lane remembers', () => {
  let testDatabase: TestDatabase;
  let node: LedgerNode;
  let other: LedgerNode;
  let commits: { one: number; two: number; inVain: number };

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    node = new LedgerNode(testDatabase.url);
    other = new LedgerNode(testDatabase.url);
    await node.start();
    await other.start();
  });
  beforeEach(async () => {
    commits = await commitsMade();
  });
  afterAll(async () => {
    await Promise.all([node?.stop(), other?.stop()]);
    await testDatabase?.drop();
  });

  async function commitsMade(): Promise<typeof commits> {
    const { values } = await metrics.laneCommits.get();
    const of = (trips: string): number => values.find(({ labels }) => labels.trips === trips)?.value ?? 0;
    return { one: of('one'), two: of('two'), inVain: of('in vain') };
  }

  /** The commits since the test began, or since this was asked last. */
  async function newCommits(): Promise<typeof commits> {
    const [before, now] = [commits, await commitsMade()];
    commits = now;
    return { one: now.one - before.one, two: now.two - before.two, inVain: now.inVain - before.inVain };
  }

  async function makeBoard(definition: Partial<BoardDefinition> = {}): Promise<Board> {
    const full = withBoardDefaults({ order: 'desc', operator: 'best', ...definition });
    const { board } = await node.registry.put(`b${randomUUID().slice(0, 8)}`, full);
    await other.boards.refresh();
    return board;
  }

  const submit = (board: Board, playerId: string, score: number, more = {}): Promise<SubmitReceipt> =>
    node.ledger.write(submissionOf(board, playerId, score, more));

  const entries = (
    board: Board,
  ): Promise<{ window: string; playerId: string; score: number; achievedAtMs: number; version: number }[]> =>
    node.database.query(
      `SELECT window_id AS window, player_id AS "playerId", score, achieved_at_ms AS "achievedAtMs", version
       FROM entries JOIN windows USING (window_uid) WHERE entries.board_uid = $1 ORDER BY window_id, player_id`,
      [board.uid],
    );

  const timesOf = async (board: Board): Promise<Map<string, number>> => {
    const rows = await node.database.query<{ id: string; atMs: number }>(
      'SELECT submission_id AS id, achieved_at_ms AS "atMs" FROM submissions WHERE board_uid = $1',
      [board.uid],
    );
    return new Map(rows.map(({ id, atMs }) => [id, atMs]));
  };

  it('is committed in one trip, with what two trips give: entries, answers, events and their order', async () => {
    for (const operator of ['best', 'sum', 'latest'] as const) {
      const dice = new Dice(19 + operator.length);
      const board = await makeBoard({ operator, windows: ['alltime', 'daily'] });
      const runs = new Map<
        string,
        { playerId: string; score: number; columns: number[]; achievedAtMs: number; submissionId: string }[]
      >();
      const receipts: (SubmitReceipt & { playerId: string })[] = [];
      await newCommits();
      for (let round = 0; round < 60; round += 1) {
        const batch = Array.from({ length: dice.below(9) + 1 }, () => {
          const run = { playerId: dice.oneOf(PLAYERS), score: dice.below(7), submissionId: randomUUID() };
          return submissionOf(board, run.playerId, run.score, { submissionId: run.submissionId });
        });
        // Now and then another process takes the lane.
        const by = dice.below(8) === 0 ? other : node;
        const answered = await Promise.all(batch.map((write) => by.ledger.write(write)));
        const timeOf = await timesOf(board);
        for (const [index, { playerId, score, submissionId }] of batch.entries()) {
          const before = runs.get(playerId) ?? [];
          const now = [
            ...before,
            { playerId, score, columns: [], achievedAtMs: timeOf.get(submissionId)!, submissionId },
          ];
          runs.set(playerId, now);
          const previousScore = before.length === 0 ? null : entryOfRuns(board.definition, before).score;
          const { score: after } = entryOfRuns(board.definition, now);
          expect(answered[index]!.answer).toMatchObject({ score: after, previousScore });
        }
        receipts.push(...answered.map((receipt, index) => ({ ...receipt, playerId: batch[index]!.playerId })));
      }
      const made = await newCommits();
      expect(made.one, `${operator}: ${JSON.stringify(made)}`).toBeGreaterThan(20);
      const stored = await entries(board);
      expect(stored).toHaveLength(2 * runs.size);
      for (const { playerId, ...entry } of stored) {
        const { score, achievedAtMs } = entryOfRuns(board.definition, runs.get(playerId)!);
        expect(entry).toMatchObject({ score, achievedAtMs });
      }
      await expectEventsInOrder(board, receipts);
    }
  });

  /** Each change has one event under its own position, which its answer names, later ones of a player under higher ones. */
  async function expectEventsInOrder(
    board: Board,
    receipts: readonly (SubmitReceipt & { playerId: string })[],
  ): Promise<void> {
    const events = (await outboxEvents(node.database, 'entry-changed'))
      .map(({ position, event }) => ({ position, ...event }))
      .filter(({ boardUid }) => boardUid === board.uid);
    for (const { position, version } of events) expect(version).toBe(position);
    const lastOf = new Map(events.map(({ playerId, version }) => [playerId, version]));
    for (const { playerId, version } of await entries(board)) expect(version, playerId).toBe(lastOf.get(playerId));
    for (const player of PLAYERS) {
      const ofPlayer = events.filter(({ playerId }) => playerId === player).map(({ version }) => version);
      const answered = receipts.filter(({ playerId, answer }) => playerId === player && answer.outcome !== 'unchanged');
      expect(answered.map(({ answer }) => answer.version)).toEqual(ofPlayer);
    }
    const rows = await node.database.query<{ answer: string }>('SELECT answer FROM submissions WHERE board_uid = $1', [
      board.uid,
    ]);
    const stored = new Set(rows.map(({ answer }) => answer));
    for (const { answer, windowUid } of receipts) {
      const { version, outcome, score, previousScore, windows } = answer;
      expect(stored).toContain(JSON.stringify([version, windowUid, outcome, score, previousScore, windows]));
    }
  }

  it('is nothing any more once somebody else has written to the lane, be it by a statement of theirs alone', async () => {
    const board = await makeBoard();
    await submit(board, 'ada', 5);
    await submit(board, 'ada', 6);
    expect(await newCommits()).toMatchObject({ one: 1 });
    await node.database.transaction(async (transaction) => {
      await takeLane(transaction, node.lanes.placeOf('ada'));
      await transaction.query('UPDATE entries SET score = 50 WHERE board_uid = $1', [board.uid]);
    });
    expect((await submit(board, 'ada', 7)).answer).toMatchObject({ score: 50, outcome: 'unchanged' });
    expect(await newCommits()).toEqual({ one: 0, two: 1, inVain: 1 });
    await node.database.transaction(async (transaction) => {
      await takeLane(transaction, node.lanes.placeOf('ada'));
      await transaction.query('DELETE FROM entries WHERE board_uid = $1', [board.uid]);
      await transaction.query(
        `INSERT INTO entries (window_uid, player_id, board_uid, lane, version, removed, score, columns, achieved_at_ms,
           scopes, left_scopes)
         SELECT window_uid, 'ada', board_uid, $2, 1, false, 70, '{}', 1, '{}', '{}' FROM windows WHERE board_uid = $1`,
        [board.uid, node.lanes.of('ada')],
      );
    });
    expect((await submit(board, 'ada', 9)).answer).toMatchObject({ score: 70, outcome: 'unchanged' });
    expect(await newCommits()).toEqual({ one: 0, two: 1, inVain: 1 });
  });

  it('is nothing any more once another process has committed to the lane', async () => {
    const board = await makeBoard({ operator: 'sum' });
    await submit(board, 'ada', 1);
    await submit(board, 'ada', 1);
    await other.ledger.write(submissionOf(board, 'ada', 10));
    expect((await submit(board, 'ada', 1)).answer).toMatchObject({ score: 13, previousScore: 12 });
    expect((await submit(board, 'ada', 1)).answer).toMatchObject({ score: 14, previousScore: 13 });
    expect(await newCommits()).toEqual({ one: 2, two: 3, inVain: 1 });
  });

  it('says nothing of boards: one that changed meanwhile is found out', async () => {
    const board = await makeBoard();
    await submit(board, 'ada', 5);
    await other.registry.put(board.id, withBoardDefaults({ ...board.definition, graceSeconds: 60 }));
    await expect(submit(board, 'ada', 6)).rejects.toBeInstanceOf(StaleBoardError);
    await other.registry.reset(board.id, 'test');
    await expect(submit(board, 'ada', 6)).rejects.toBeInstanceOf(StaleBoardError);
    expect((await newCommits()).one).toBe(0);
  });

  it('says nothing of sanctions: a player that was banned meanwhile is found out, and then no commit is tried in vain', async () => {
    const board = await makeBoard();
    await submit(board, 'eve', 5);
    await node.database.transaction(async (transaction) => {
      await takeLane(transaction, node.lanes.placeOf('eve'));
      await transaction.query(
        `INSERT INTO sanctions (player_id, kind, reason, put_by, put_at, pending)
         VALUES ('eve', 'ban', 'a test', 'test', ladder_now(), false)`,
      );
    });
    await expect(submit(board, 'eve', 6)).rejects.toMatchObject({ code: 'PLAYER_BANNED' });
    expect((await newCommits()).inVain).toBe(1);
    await expect(submit(board, 'eve', 7)).rejects.toMatchObject({ code: 'PLAYER_BANNED' });
    expect((await newCommits()).inVain).toBe(0);
    await node.database.query(`UPDATE sanctions SET ended_at = ladder_now() WHERE player_id = 'eve'`);
    expect((await submit(board, 'eve', 8)).answer).toMatchObject({ score: 8, previousScore: 5 });
  });

  it('never says that an id is free: the first answer is found, be it that another process gave it', async () => {
    const board = await makeBoard();
    await submit(board, 'ada', 5);
    const first = await other.ledger.write(submissionOf(board, 'ada', 9, { submissionId: 'there' }));
    await submit(board, 'ada', 6);
    await newCommits();
    expect(await submit(board, 'ada', 9, { submissionId: 'there' })).toMatchObject({
      replayed: true,
      answer: first.answer,
    });
    await expect(submit(board, 'ada', 10, { submissionId: 'there' })).rejects.toMatchObject({
      code: 'SUBMISSION_ID_REUSED',
    });
    expect(await newCommits()).toMatchObject({ one: 0, inVain: 1 });
    const mine = await submit(board, 'ada', 11, { submissionId: 'mine' });
    await newCommits();
    expect(await submit(board, 'ada', 11, { submissionId: 'mine' })).toMatchObject({
      replayed: true,
      answer: mine.answer,
    });
    const twice = await Promise.all([1, 2].map(() => submit(board, 'ada', 12, { submissionId: 'twice' })));
    expect(twice.map(({ replayed }) => replayed).sort()).toEqual([false, true]);
    expect(new Set(twice.map(({ answer }) => inOneOrder(answer))).size).toBe(1);
  });

  it('refuses no repeated id for what speaks against another run: it is looked up', async () => {
    const board = await makeBoard({
      operator: 'sum',
      limits: { ...withBoardDefaults({} as never).limits, scoreMax: 100 },
    });
    await submit(board, 'ada', 50);
    const first = await other.ledger.write(submissionOf(board, 'ada', 40, { submissionId: 'there' }));
    await submit(board, 'ada', 1);
    await submit(board, 'ada', 1);
    const [again] = await Promise.all([submit(board, 'ada', 40, { submissionId: 'there' }), submit(board, 'ada', 1)]);
    expect(again).toMatchObject({ replayed: true, answer: first.answer });
    const twice = await Promise.all([1, 2].map(() => submit(board, 'ada', 5, { submissionId: 'twice' })));
    expect(twice.map(({ replayed }) => replayed)).toEqual([false, true]);
    await expect(submit(board, 'ada', 5)).rejects.toMatchObject({ code: 'SCORE_OUT_OF_BOUNDS' });
  });

  it('is not of entries that changed while their board kept runs', async () => {
    const board = await makeBoard({ operator: 'sum' });
    await submit(board, 'ada', 10);
    await submit(board, 'ada', 10);
    const redefined = async (runs: BoardDefinition['runs']): Promise<Board> => {
      const made = await node.registry.put(board.id, withBoardDefaults({ ...board.definition, runs }));
      await node.boards.refresh();
      return made.board;
    };
    expect((await submit(await redefined({ keepDays: 30 } as never), 'ada', 5)).answer.score).toBe(25);
    expect((await submit(await redefined(null), 'ada', 1)).answer).toMatchObject({ score: 26, previousScore: 25 });
  });

  it('does not outlive the connection: what was restored behind it is read', async () => {
    const board = await makeBoard();
    await submit(board, 'ada', 5);
    await submit(board, 'ada', 6);
    // As if an earlier state had come back with the very head that was left.
    await node.database.query('ALTER TABLE entries DISABLE TRIGGER USER');
    await node.database.query('UPDATE entries SET score = 4 WHERE board_uid = $1', [board.uid]);
    await node.database.query('ALTER TABLE entries ENABLE TRIGGER USER');
    await node.database.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND pid <> pg_backend_pid()`,
    );
    expect((await submit(board, 'ada', 5)).answer).toMatchObject({ score: 5, previousScore: 4 });
  });

  it('has its heads made once by processes that start together', async () => {
    for (let round = 0; round < 3; round += 1) {
      const fresh = await createTestDatabase();
      const nodes = Array.from({ length: 6 }, () => new LedgerNode(fresh.url));
      try {
        await Promise.all(nodes.map((one) => one.start()));
      } finally {
        await Promise.all(nodes.map((one) => one.stop()));
        await fresh.drop();
      }
    }
  });

  describe('with the time', () => {
    let clock: DatabaseClock;

    beforeAll(async () => {
      clock = await DatabaseClock.of(testDatabase.url);
    });
    afterAll(async () => {
      await clock?.close();
    });

    const toMidnight = async (fromMs: number): Promise<void> => {
      await clock.goOnFrom(DAY_MS * Math.ceil((await clock.nowMs()) / DAY_MS) - fromMs);
    };

    it('puts runs around midnight into the day that the ledger says', async () => {
      const board = await makeBoard({ operator: 'sum', windows: ['alltime', 'daily'] });
      await submit(board, 'ada', 1);
      await toMidnight(700);
      const untilMs = DAY_MS * Math.ceil((await clock.nowMs()) / DAY_MS) + 400;
      await newCommits();
      while ((await clock.nowMs()) < untilMs) await Promise.all(PLAYERS.map((playerId) => submit(board, playerId, 1)));
      expect((await newCommits()).one).toBeGreaterThan(10);
      const wrong = await node.database.query(
        `SELECT answer FROM submissions WHERE board_uid = $1
         AND answer::jsonb -> 5 ->> 1 <> 'daily:' || to_char(to_timestamp(achieved_at_ms / 1000) AT TIME ZONE 'UTC', 'YYYY-MM-DD')`,
        [board.uid],
      );
      expect(wrong).toEqual([]);
      const late = await node.database.query(
        `SELECT FROM submissions s WHERE board_uid = $1 AND achieved_at_ms > extract(epoch FROM ladder_now()) * 1000`,
        [board.uid],
      );
      expect(late).toEqual([]);
    });

    it('is refused by a clock that was set back or forward, and goes by it', async () => {
      const board = await makeBoard();
      await submit(board, 'ada', 1);
      await submit(board, 'ada', 2);
      for (const byMs of [-DAY_MS, 3 * DAY_MS]) {
        const setMs = (await clock.nowMs()) + byMs;
        await clock.goOnFrom(setMs);
        await newCommits();
        await submit(board, 'ada', 3 + Math.abs(byMs), { submissionId: `by ${byMs}` });
        expect(await newCommits()).toEqual({ one: 0, two: 1, inVain: 1 });
        const atMs = (await timesOf(board)).get(`by ${byMs}`)!;
        expect(Math.abs(atMs - setMs)).toBeLessThan(60_000);
        await submit(board, 'ada', 4 + Math.abs(byMs));
        expect((await newCommits()).one).toBe(1);
      }
    });

    const BANNED = `INSERT INTO sanctions (player_id, kind, reason, put_by, put_at, pending)
      VALUES ('ada', 'ban', 'a test', 'ops', ladder_now(), false)`;
    it.each([
      ['a board that was changed', 'UPDATE boards SET revision = revision + 1 WHERE board_uid = $1', 'STALE'],
      ['a player who was banned', `${BANNED} RETURNING $1::int`, 'PLAYER_BANNED'],
    ])('is refused by what the lane committed while it waited for it: %s', async (_, change, refusal) => {
      const board = await makeBoard({ operator: 'sum' });
      await submit(board, 'ada', 1);
      await submit(board, 'ada', 1);
      await submit(board, 'ada', 1);
      await newCommits();
      let waiting!: Promise<unknown>;
      await other.database.transaction(async (transaction) => {
        // Without moving its head.
        const { lane } = other.lanes.placeOf('ada');
        await transaction.query('SELECT pg_advisory_xact_lock($1, $2)', [ADVISORY_LOCKS.lanes, lane]);
        // In the middle of what is assumed, for as long as it waits.
        await clock.stopAt((await clock.nowMs()) + 50);
        waiting = submit(board, 'ada', 10).catch((error: unknown) => error);
        await expect.poll(() => lanesWaitedFor(other), { interval: 10 }).toBe(1);
        await transaction.query(change, [board.uid]);
      });
      const outcome = await waiting;
      expect(outcome instanceof StaleBoardError ? 'STALE' : (outcome as { code?: string }).code).toBe(refusal);
      expect(await newCommits()).toEqual({ one: 0, two: 1, inVain: 1 });
      expect((await entries(board)).map(({ score }) => score)).toEqual([3]);
      await node.database.query('DELETE FROM sanctions');
      await clock.goOnFrom(await clock.nowMs());
    });
  });
});

/** An answer as text that does not depend on the order of its fields. */
function inOneOrder(answer: object): string {
  return JSON.stringify(Object.entries(answer).sort(([a], [b]) => (a < b ? -1 : 1)));
}
