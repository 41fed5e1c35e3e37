// Real: PostgreSQL, the ledgers of two processes and what closes windows in each; the ledger's clock is the test's.
import type { Board, BoardDefinition } from '@laddercast/domain';
import { ADVISORY_LOCKS } from '@laddercast/ledger';
import { createTestDatabase, DatabaseClock, type TestDatabase } from '@laddercast/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { submissionOf } from '../nodes/ledger-node.js';
import { holding, TimeNode, waitingBackend } from '../nodes/time-node.js';

const at = (time: string): number => Date.parse(time);
const running = new AbortController().signal;
const audit = { actor: 'test', action: 'window.close', subject: 'board', details: {} };

describe('windows that end', () => {
  let testDatabase: TestDatabase;
  let a: TimeNode;
  let b: TimeNode;
  let clock: DatabaseClock;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    a = new TimeNode(testDatabase.url);
    b = new TimeNode(testDatabase.url);
    await a.start();
    await b.start();
    clock = await DatabaseClock.of(testDatabase.url);
  });

  afterAll(async () => {
    await clock.close();
    await Promise.all([a.stop(), b.stop()]);
    await testDatabase.drop();
  });

  // What one test leaves open is not to be closed by the next.
  beforeEach(async () => {
    await a.boards.refresh();
    for (const board of a.boards.all()) await a.registry.delete(board.id, null, 'test');
    await clock.stopAt(at('2026-11-20T12:00:00Z'));
  });

  const daily = (more: Partial<BoardDefinition> = {}): Promise<Board> =>
    a.put({ windows: ['daily'], graceSeconds: 60, ...more });
  const today = 'daily:2026-11-20';

  it('are closed when their grace is over, and not before, with one event and a new revision', async () => {
    const board = await daily({ windows: ['daily', 'alltime'] });
    await a.submit(board, 'ada', 5);
    await clock.stopAt(at('2026-11-21T00:00:59.999Z'));
    expect(await a.closer.run(running)).toBe(0);
    expect(await a.stateOf(board, today)).toBe('open');
    await clock.stopAt(at('2026-11-21T00:01:00.000Z'));
    expect(await a.closer.run(running)).toBe(1);
    expect(await a.closer.run(running)).toBe(0);
    expect([await a.stateOf(board, today), await a.stateOf(board, 'alltime')]).toEqual(['settled', 'open']);
    const windowUid = await a.windowUid(board, today);
    expect(await a.linesOf(windowUid, 'final')).toEqual(['ada 5']);
    const [edition] = await a.editions(windowUid);
    expect(edition).toMatchObject({ kind: 'final', asOfMs: at('2026-11-21T00:01:00.000Z') });
    const closed = await a.events('window-closed', board);
    const { version } = edition!;
    const lane = a.lanes.of(String(board.uid));
    expect(closed).toEqual([
      { type: 'window-closed', boardUid: board.uid, windowUid, windowId: today, version, position: version, lane },
    ]);
    const announced = await a.events('board-changed', board);
    expect(announced).toHaveLength(2 * a.lanes.count);
    await a.boards.refresh();
    const { revision, definitionRevision } = a.boards.byId(board.id)!;
    expect(announced.slice(-2)).toMatchObject([
      { revision, boardId: board.id, lane: 0 },
      { revision, lane: 1 },
    ]);
    expect([revision > board.revision, definitionRevision]).toEqual([true, board.definitionRevision]);
  });

  it('take nothing more in any process, however stale its memory is', async () => {
    const board = await daily();
    const late = { achievedAtMs: at('2026-11-20T23:59:00Z') };
    await a.submit(board, 'ada', 5);
    await b.submit(board, 'bob', 5);
    const stale = b.boards.byId(board.id)!;
    await clock.stopAt(at('2026-11-21T00:01:00Z'));
    await a.closer.run(running);
    // The clock of the writer does not matter: what is closed is closed.
    await clock.stopAt(at('2026-11-21T00:00:30Z'));
    await expect(b.ledger.write(submissionOf(stale, 'eve', 1, late))).rejects.toThrow();
    await expect(b.submit(board, 'eve', 1, late)).rejects.toMatchObject({ code: 'WINDOW_CLOSED' });
    expect(await a.linesOf(await a.windowUid(board, today), 'final')).toEqual(['ada 5', 'bob 5']);
  });

  it('hold exactly the runs that were accepted while the end came', async () => {
    const board = await daily({ graceSeconds: 0 });
    await a.submit(board, 'p0', 0);
    await b.boards.refresh();
    await clock.goOnFrom(at('2026-11-20T23:59:59.700Z'));
    const accepted = new Map<string, number>([['p0', 0]]);
    let refused = 0;
    const until = Date.now() + 900;
    const submitting = [a, b].map(async (node, n) => {
      for (let run = 0; Date.now() < until; run += 1) {
        const players = Array.from({ length: 20 }, (_, i) => `p${(i * 7 + n) % 30}`);
        await Promise.all(
          players.map(async (player) => {
            try {
              const { answer } = await node.submit(board, player, 1);
              if (answer.windows[0] === today) accepted.set(player, (accepted.get(player) ?? 0) + 1);
            } catch {
              refused += 1;
            }
          }),
        );
      }
    });
    const closing = [a, b].map(async (node) => {
      while (Date.now() < until) await node.closer.run(running);
    });
    await Promise.all([...submitting, ...closing]);
    const lines = await a.linesOf(await a.windowUid(board, today), 'final');
    expect(lines.length).toBeGreaterThan(1);
    expect([...lines].sort()).toEqual([...accepted].map(([player, runs]) => `${player} ${runs}`).sort());
    // A board that changed under a run is tried again by the commands, which are not here.
    expect(refused).toBeLessThan(200);
  });

  it('are closed exactly once by two processes at a time, also many of them at once', async () => {
    const boards: Board[] = [];
    for (let n = 0; n < 12; n += 1) boards.push(await daily({ windows: ['daily', 'weekly', 'monthly'] }));
    for (const board of boards) await a.submit(board, 'ada', 1);
    await clock.stopAt(at('2027-01-15T00:00:00Z'));
    const settled = await Promise.all([a, b, a, b].map((node) => node.closer.run(running)));
    expect(settled.reduce((sum, n) => sum + n, 0)).toBe(3 * boards.length);
    for (const board of boards) {
      const closed = await a.events('window-closed', board);
      expect(closed.map((event) => 'windowId' in event && event.windowId)).toEqual([
        today,
        'weekly:2026-W47',
        'monthly:2026-11',
      ]);
      for (const window of await a.windows.ofBoard(board.uid)) {
        expect(await a.editions(window.uid)).toHaveLength(1);
        expect(window.state).toBe('settled');
      }
    }
  });

  it('that ended while everything was down are closed in the order of their ends', async () => {
    const seasons = ['s3', 's1', 's2'].map((season, n) => ({
      season,
      startsAt: '2026-11-20T00:00:00Z',
      endsAt: `2026-11-2${[8, 2, 5][n]}T00:00:00Z`,
    }));
    const board = await daily({ windows: [...seasons, 'daily'] });
    await a.submit(board, 'ada', 1);
    await clock.stopAt(at('2026-11-23T12:00:00Z'));
    await a.submit(board, 'ada', 1);
    await clock.stopAt(at('2027-02-01T00:00:00Z'));
    expect(await b.closer.run(running)).toBe(5);
    const closed = await a.events('window-closed', board);
    expect(closed.map((event) => 'windowId' in event && event.windowId)).toEqual([
      today,
      'season:s1',
      'daily:2026-11-23',
      'season:s2',
      'season:s3',
    ]);
  });

  it('are waited for by no lane while their frozen standings are revised', async () => {
    const freezeAt = '2026-11-20T13:00:00Z';
    const season = { season: 's', startsAt: '2026-11-01T00:00:00Z', endsAt: '2026-11-20T14:00:00Z', freezeAt };
    const board = await daily({ windows: [season, 'daily'] });
    await a.submit(board, 'ada', 5);
    await clock.stopAt(at('2026-11-21T00:01:00.000Z'));
    const uid = await a.windowUid(board, 'season:s');
    const revising = await holding(a, `SELECT FROM windows WHERE window_uid = ${uid} FOR NO KEY UPDATE`);
    expect(await a.closer.closeDue(running)).toBe(1);
    expect([await a.stateOf(board, 'season:s'), await a.stateOf(board, today)]).toEqual(['open', 'closed']);
    await revising.end();
    expect(await a.closer.closeDue(running)).toBe(1);
    expect(await a.stateOf(board, 'season:s')).toBe('closed');
  });

  it('are settled by another process when one dies after closing them', async () => {
    const board = await daily();
    await a.submit(board, 'ada', 5);
    const windowUid = await a.windowUid(board, today);
    await clock.stopAt(at('2026-11-21T12:00:00Z'));
    await a.closer.closeDue(running);
    // Its standings are written and it waits for the lane to commit them with their event; there it dies.
    const lane = a.lanes.of(String(board.uid));
    const held = await holding(b, `SELECT pg_advisory_xact_lock(${ADVISORY_LOCKS.lanes}, ${lane})`);
    const dying = a.closer.settleClosed(running);
    const failure = expect(dying).rejects.toThrow();
    await b.database.query('SELECT pg_terminate_backend($1)', [await waitingBackend(b, 'ladder_take_lane')]);
    await failure;
    await held.end();
    expect(await a.stateOf(board, today)).toBe('closed');
    expect([await a.editions(windowUid), await a.events('window-closed', board)]).toEqual([[], []]);
    // Its connection died, and it noted that; a process that dies notes nothing.
    await clock.stopAt(at('2026-11-21T12:00:01Z'));
    expect(await b.closer.run(running)).toBe(1);
    expect(await a.linesOf(windowUid, 'final')).toEqual(['ada 5']);
    expect(await a.events('window-closed', board)).toHaveLength(1);
    expect(await a.closer.run(running)).toBe(0);
  });

  it('are left alone by a second process while one settles them', async () => {
    const board = await daily();
    await a.submit(board, 'ada', 5);
    await clock.stopAt(at('2026-11-21T12:00:00Z'));
    await a.closer.closeDue(running);
    const held = await holding(
      b,
      `SELECT pg_advisory_xact_lock(${ADVISORY_LOCKS.lanes}, ${a.lanes.of(String(board.uid))})`,
    );
    const first = a.closer.settleClosed(running);
    await waitingBackend(b, 'ladder_take_lane');
    expect(await b.closer.settleClosed(running)).toBe(0);
    await held.end();
    expect(await first).toBe(1);
    expect(await b.failures.list(10)).toEqual([]);
    expect(await a.events('window-closed', board)).toHaveLength(1);
  });

  it('leave nothing behind when their board is deleted while their standings are written', async () => {
    const board = await daily();
    await a.submit(board, 'ada', 5);
    const windowUid = await a.windowUid(board, today);
    await clock.stopAt(at('2026-11-21T12:00:00Z'));
    await a.closer.closeDue(running);
    const held = await holding(b, 'LOCK TABLE standings IN SHARE MODE');
    const settling = a.closer.settleClosed(running);
    await waitingBackend(b, 'WITH counted AS');
    await b.registry.delete(board.id, null, 'test');
    await held.end();
    expect(await settling).toBe(0);
    expect([await a.editions(windowUid), await a.events('window-closed', board)]).toEqual([[], []]);
  });

  /** Brings about what cannot be: standings of a window that is not settled. */
  const breakClosing = (board: Board): Promise<unknown> =>
    a.database.query(
      `INSERT INTO editions (window_uid, kind, as_of, version)
       SELECT window_uid, 'final', coalesce(closed_at, ladder_now()), 0 FROM windows WHERE board_uid = $1`,
      [board.uid],
    );
  const mend = async (board: Board): Promise<unknown> =>
    a.database.query('DELETE FROM editions WHERE window_uid = $1', [await a.windowUid(board, today)]);

  describe('whose standings cannot be written', () => {
    it('hold up no other, and are tried again after waits that grow, until they are settled', async () => {
      const broken = await daily();
      const board = await daily();
      for (const each of [broken, board]) await a.submit(each, 'ada', 1);
      const noonMs = at('2026-11-21T12:00:00Z');
      await clock.stopAt(noonMs);
      await a.closer.closeDue(running);
      await breakClosing(broken);
      await expect(a.closer.settleClosed(running)).rejects.toThrow('has final standings');
      expect([await a.stateOf(broken, today), await a.stateOf(board, today)]).toEqual(['closed', 'settled']);
      let failedAtMs = noonMs;
      for (const [failures, waitMs] of [1000, 2000, 4000, 8000].entries()) {
        const error = expect.stringContaining('has final standings') as string;
        const stands = { boardId: broken.id, windowId: today, closedAtMs: noonMs, failures: failures + 1, error };
        expect(await b.failures.list(10)).toMatchObject([{ ...stands, failedAtMs, retryAtMs: failedAtMs + waitMs }]);
        await clock.stopAt(failedAtMs + waitMs - 1);
        expect(await b.closer.run(running)).toBe(0);
        await clock.stopAt((failedAtMs += waitMs));
        await expect(b.closer.run(running)).rejects.toThrow('has final standings');
      }
      await mend(broken);
      await clock.stopAt(failedAtMs + 16_000);
      expect(await b.closer.run(running)).toBe(1);
      expect(await a.linesOf(await a.windowUid(broken, today), 'final')).toEqual(['ada 1']);
      expect([await b.failures.list(10), await a.events('window-closed', broken)]).toMatchObject([[], [{}]]);
    });

    it('wait ten minutes at most', async () => {
      const broken = await daily();
      await a.submit(broken, 'ada', 1);
      await clock.stopAt(at('2026-11-21T12:00:00Z'));
      await a.closer.closeDue(running);
      const uid = await a.windowUid(broken, today);
      for (let failures = 0; failures < 40; failures += 1) await a.failures.record(uid, 'final', new Error('again'));
      const [failure] = await a.failures.list(10);
      expect(failure).toMatchObject({ failures: 40, retryAtMs: at('2026-11-21T12:10:00Z') });
    });

    it('are tried at once by an operator’s hand, who is told why it fails', async () => {
      const broken = await daily();
      await a.submit(broken, 'ada', 1);
      await breakClosing(broken);
      const windowUid = await a.windowUid(broken, today);
      const again = { ...audit, action: 'window.close.again' };
      const problem = {
        code: 'SETTLEMENT_FAILED',
        detail: expect.stringContaining(`Window ${windowUid} has final standings`) as string,
      };
      for (const failures of [1, 2]) {
        await expect(a.closer.closeNow({ windowUid, dryRun: false, audit: again })).rejects.toMatchObject(problem);
        expect(await a.failures.list(10)).toMatchObject([{ windowUid, failures }]);
      }
      await mend(broken);
      const top = [{ rank: 1, playerId: 'ada', score: 1 }];
      for (const dryRun of [true, false]) {
        expect(await a.closer.closeNow({ windowUid, dryRun, audit: again })).toEqual([
          { scope: 'global', total: 1, top },
        ]);
      }
      expect([await a.stateOf(broken, today), await a.failures.list(10)]).toEqual(['settled', []]);
    });

    it('are shown page by page, and go with their board', async () => {
      const boards = [await daily(), await daily(), await daily()];
      for (const board of boards) await a.submit(board, 'ada', 1);
      await clock.stopAt(at('2026-11-21T12:00:00Z'));
      await a.closer.closeDue(running);
      for (const board of boards)
        await a.failures.record(await a.windowUid(board, today), 'final', new Error('x'.repeat(5000)));
      const [first, second] = await a.failures.list(2);
      expect([first!.boardId, second!.boardId, first!.error.length]).toEqual([boards[0]!.id, boards[1]!.id, 1000]);
      expect(await a.failures.list(2, second!.windowUid)).toMatchObject([{ boardId: boards[2]!.id }]);
      expect(await a.failures.count()).toBe(3);
      for (const board of boards.slice(1)) await a.registry.delete(board.id, null, 'test');
      expect(await a.failures.list(10)).toMatchObject([{ boardId: boards[0]!.id }]);
      expect(await a.failures.count()).toBe(1);
    });
  });

  describe('by an operator’s hand', () => {
    it('say before what will be written, write it at once without grace, and are followed by the next', async () => {
      const board = await daily({ rankStyle: 'competition' });
      for (const [player, score] of [
        ['ada', 3],
        ['bob', 3],
        ['cy', 9],
        ['dé', 1],
      ] as const) {
        await a.submit(board, player, score);
      }
      const windowUid = await a.windowUid(board, today);
      const dry = await a.closer.closeNow({ windowUid, dryRun: true, audit });
      const top = [
        { rank: 1, playerId: 'cy', score: 9 },
        { rank: 2, playerId: 'ada', score: 3 },
        { rank: 2, playerId: 'bob', score: 3 },
        { rank: 4, playerId: 'dé', score: 1 },
      ];
      expect(dry).toEqual([{ scope: 'global', total: 4, top }]);
      expect([await a.stateOf(board, today), await a.editions(windowUid)]).toEqual(['open', []]);
      expect((await b.submit(board, 'cy', 0)).answer.windows).toEqual([today]);
      expect(await a.closer.closeNow({ windowUid, dryRun: false, audit })).toEqual(dry);
      expect(await a.stateOf(board, today)).toBe('settled');
      expect((await a.windows.find(board.uid, today))!.endsAtMs).toBe(at('2026-11-20T12:00:00Z'));
      for (const dryRun of [true, false]) {
        const again = a.closer.closeNow({ windowUid, dryRun, audit });
        await expect(again).rejects.toMatchObject({ code: 'WINDOW_CLOSED' });
      }
      expect(await a.database.query('SELECT actor FROM audit_log WHERE action = $1', [audit.action])).toHaveLength(1);
      await clock.stopAt(at('2026-11-20T12:00:01Z'));
      expect((await a.submit(board, 'ada', 7)).answer.windows).toEqual(['daily:2026-11-21']);
    });

    it('answer also when nobody played, and while the schedule settles them', async () => {
      const board = await daily();
      await a.submit(board, 'ada', 1);
      await a.ledger.write({ kind: 'override', board: a.boards.byId(board.id)!, playerId: 'ada', entry: null, audit });
      const windowUid = await a.windowUid(board, today);
      const [answer] = await Promise.all([
        a.closer.closeNow({ windowUid, dryRun: false, audit }),
        b.closer.run(running),
        b.closer.run(running),
      ]);
      expect(answer).toEqual([{ scope: 'global', total: 0, top: [] }]);
      expect(await a.events('window-closed', board)).toHaveLength(1);
    });
  });
});
