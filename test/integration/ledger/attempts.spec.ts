// Real: PostgreSQL and the ledgers of two processes; the ledger's clock is the test's.
import { withBoardDefaults, type Board, type BoardDefinition } from '@laddercast/domain';
import { createTestDatabase, DatabaseClock, type TestDatabase } from '@laddercast/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { LimitNode } from '../nodes/limit-node.js';

const at = (time: string): number => Date.parse(time);
const running = new AbortController().signal;
const audit = { actor: 'test', action: 'entry.remove', subject: 'ada', details: {} };

describe('attempts', () => {
  let testDatabase: TestDatabase;
  let a: LimitNode;
  let b: LimitNode;
  let clock: DatabaseClock;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    a = new LimitNode(testDatabase.url);
    b = new LimitNode(testDatabase.url);
    await a.start();
    await b.start();
    clock = await DatabaseClock.of(testDatabase.url);
  });
  beforeEach(() => clock.stopAt(at('2026-11-20T10:00:00Z')));

  afterAll(async () => {
    await clock.close();
    await Promise.all([a.stop(), b.stop()]);
    await testDatabase.drop();
  });

  const allowing = (attemptsMax: number, more: Partial<BoardDefinition> = {}): Promise<Board> =>
    a.best({
      ...more,
      limits: withBoardDefaults({ order: 'desc', operator: 'best', limits: { attemptsMax } }).limits,
    });
  const used = async (resetsAt: string | null, attemptsMax: number): Promise<object> => ({
    code: 'ATTEMPTS_EXHAUSTED',
    extensions: { attemptsMax, resetsAt },
  });

  it('are so many in each window, whatever became of the runs', async () => {
    const board = await allowing(2, { windows: ['daily'] });
    expect(await a.attempt(board, 'ada', 5)).toEqual(['daily:2026-11-20']);
    expect((await a.submit(board, 'ada', 3)).answer.outcome).toBe('unchanged');
    const refused = await a.attempt(board, 'ada', 9);
    expect(refused).toMatchObject(await used('2026-11-21T00:00:00.000Z', 2));
    expect((refused as Error).message).toContain('daily:2026-11-20');
    expect(await a.standing(board, 'daily:2026-11-20')).toEqual(['ada 5']);
    expect(await a.attempt(board, 'bob', 1)).toEqual(['daily:2026-11-20']);
    await clock.stopAt(at('2026-11-21T00:00:00Z'));
    expect(await a.attempt(board, 'ada', 1)).toEqual(['daily:2026-11-21']);
  });

  it('leave a window out once they are used up there', async () => {
    const board = await allowing(1, { windows: ['alltime', 'daily'] });
    expect(await a.attempt(board, 'ada', 5)).toEqual(['alltime', 'daily:2026-11-20']);
    expect(await a.attempt(board, 'ada', 6)).toMatchObject(await used('2026-11-21T00:00:00.000Z', 1));
    await clock.stopAt(at('2026-11-21T10:00:00Z'));
    const next = await a.submit(board, 'ada', 7);
    expect(next.answer).toMatchObject({ windows: ['daily:2026-11-21'], outcome: 'created', score: 7 });
    expect(await a.standing(board)).toEqual(['ada 5']);
  });

  it('are refused in a named window, though there are some in others', async () => {
    const board = await allowing(1, { windows: ['alltime', 'daily'] });
    await a.submit(board, 'ada', 5);
    await clock.stopAt(at('2026-11-21T10:00:00Z'));
    expect(await a.attempt(board, 'ada', 7, { windowId: 'alltime' })).toMatchObject(await used(null, 1));
    expect(await a.attempt(board, 'ada', 7, { windowId: 'daily:2026-11-21' })).toEqual(['daily:2026-11-21']);
  });

  it('cost nothing when a run is sent again, or refused', async () => {
    const board = await allowing(2, { operator: 'sum' });
    const first = await a.submit(board, 'ada', Number.MAX_VALUE, { submissionId: 'one' });
    for (let time = 0; time < 3; time += 1) {
      expect(await a.submit(board, 'ada', Number.MAX_VALUE, { submissionId: 'one' })).toMatchObject({
        replayed: true,
        answer: first.answer,
      });
      expect(await a.attempt(board, 'ada', Number.MAX_VALUE)).toMatchObject({ code: 'SCORE_OUT_OF_BOUNDS' });
    }
    expect(await a.attempt(board, 'ada', 0, { submissionId: 'two' })).toEqual(['alltime']);
    expect(await a.attempt(board, 'ada', 0)).toMatchObject(await used(null, 2));
    // The first answers stand, also now.
    expect(await a.submit(board, 'ada', 0, { submissionId: 'two' })).toMatchObject({ replayed: true });
  });

  it('are never one too many, whoever sends how many at once', async () => {
    const board = await allowing(7);
    await b.boards.refresh();
    const nodes = [a, b];
    const sent = Array.from({ length: 60 }, (_, index) =>
      nodes[index % 2]!.attempt(board, `p${index % 3}`, index, { submissionId: `s${index}` }),
    );
    const accepted = (await Promise.all(sent)).filter(Array.isArray);
    expect(accepted).toHaveLength(21);
    const rows = await a.database.query(
      'SELECT player_id, runs FROM attempts JOIN windows USING (window_uid) WHERE board_uid = $1 ORDER BY player_id',
      [board.uid],
    );
    expect(rows).toEqual(['p0', 'p1', 'p2'].map((player_id) => ({ player_id, runs: 7 })));
  });

  it('stay used when the entry goes', async () => {
    const board = await allowing(2);
    await a.submit(board, 'ada', 5);
    await a.boards.refresh();
    const write = { board: a.boards.byId(board.id)!, playerId: 'ada', entry: null, audit };
    await a.ledger.write({ kind: 'override', ...write });
    expect(await a.attempt(board, 'ada', 1)).toEqual(['alltime']);
    expect(await a.attempt(board, 'ada', 1)).toMatchObject({ code: 'ATTEMPTS_EXHAUSTED' });
  });

  it('come back in a rolling window as its hours leave', async () => {
    const board = await allowing(3, { windows: [{ rolling: '3h' }] });
    for (const time of ['10:10', '10:50', '11:30']) {
      await clock.stopAt(at(`2026-11-20T${time}:00Z`));
      expect(await a.attempt(board, 'ada', 1)).toEqual(['rolling:3h']);
    }
    // Those of who has no entry any more go as well.
    expect(await a.attempt(board, 'bob', 1)).toEqual(['rolling:3h']);
    await a.boards.refresh();
    const write = { board: a.boards.byId(board.id)!, playerId: 'bob', entry: null, audit };
    await a.ledger.write({ kind: 'override', ...write });
    await clock.stopAt(at('2026-11-20T12:59:59Z'));
    expect(await a.attempt(board, 'ada', 1)).toMatchObject(await used('2026-11-20T13:00:00.000Z', 3));
    await clock.stopAt(at('2026-11-20T13:00:00Z'));
    await a.expirer.run(running);
    expect(await a.attempt(board, 'ada', 1)).toEqual(['rolling:3h']);
    expect(await a.attempt(board, 'ada', 1)).toEqual(['rolling:3h']);
    expect(await a.attempt(board, 'ada', 1)).toMatchObject(await used('2026-11-20T14:00:00.000Z', 3));
    const hours = await a.database.query(
      'SELECT runs FROM attempts JOIN windows USING (window_uid) WHERE board_uid = $1 ORDER BY hour',
      [board.uid],
    );
    expect(hours).toEqual([{ runs: 1 }, { runs: 1 }, { runs: 2 }]);
    const lowered = { ...board.definition.limits, attemptsMax: 1 };
    await a.put({ ...board.definition, limits: lowered }, board.id);
    expect(await a.attempt(board, 'ada', 1)).toMatchObject(await used('2026-11-20T16:00:00.000Z', 1));
    await clock.stopAt(at('2026-11-20T14:00:00Z'));
    await a.expirer.run(running);
    const left = await a.database.query(
      'SELECT player_id, runs FROM attempts JOIN windows USING (window_uid) WHERE board_uid = $1',
      [board.uid],
    );
    expect(left).toEqual([{ player_id: 'ada', runs: 2 }]);
  });

  it('are forgotten with the window', async () => {
    const board = await allowing(1, { windows: ['daily'], graceSeconds: 60 });
    await a.submit(board, 'ada', 1);
    await clock.stopAt(at('2026-11-21T00:00:30Z'));
    const late = { achievedAtMs: at('2026-11-20T23:59:00Z') };
    expect(await a.attempt(board, 'ada', 1, late)).toMatchObject(await used(null, 1));
    await clock.stopAt(at('2026-11-21T00:01:00Z'));
    await a.closer.run(running);
    expect(await a.attempt(board, 'ada', 1, late)).toMatchObject({ code: 'WINDOW_CLOSED' });
    const left = await a.database.query('SELECT 1 FROM attempts JOIN windows USING (window_uid) WHERE board_uid = $1', [
      board.uid,
    ]);
    expect(left).toEqual([]);
  });
});
