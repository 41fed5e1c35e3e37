// Real: PostgreSQL, the ledgers of two processes and what removes entries in each; the ledger's clock is the test's.
import { withBoardDefaults, type Board, type BoardDefinition } from '@laddercast/domain';
import { ADVISORY_LOCKS } from '@laddercast/ledger';
import { createTestDatabase, DatabaseClock, type TestDatabase } from '@laddercast/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { LimitNode } from '../nodes/limit-node.js';
import { holding, waitingBackend } from '../nodes/time-node.js';

const at = (time: string): number => Date.parse(time);
const running = new AbortController().signal;
const audit = { actor: 'test', action: 'entry.set', subject: 'ada', details: {} };

describe('limits that remove entries', () => {
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

  const keeping = (entriesMax: number, more: Partial<BoardDefinition> = {}): Promise<Board> =>
    a.best({ ...more, limits: limits({ entriesMax }) });
  const living = (entryLifetimeSeconds: number, more: Partial<BoardDefinition> = {}): Promise<Board> =>
    a.best({ ...more, limits: limits({ entryLifetimeSeconds }) });
  const limits = (some: Partial<BoardDefinition['limits']>): BoardDefinition['limits'] =>
    withBoardDefaults({ order: 'desc', operator: 'best', limits: some }).limits;
  const redefine = (board: Board, some: Partial<BoardDefinition['limits']>): Promise<Board> =>
    a.put({ ...board.definition, limits: limits(some) }, board.id);
  const runs = async (board: Board, scores: Record<string, number>): Promise<void> => {
    for (const [player, score] of Object.entries(scores)) await a.submit(board, player, score);
  };
  const override = async (board: Board, playerId: string, score: number | null): Promise<void> => {
    await a.boards.refresh();
    const entry = score === null ? null : { score, columns: [] };
    await a.ledger.write({ kind: 'override', board: a.boards.byId(board.id)!, playerId, entry, audit });
  };

  describe('entriesMax', () => {
    it.each([
      ['desc', 'earliest', ['eve 9', 'ada 7', 'bob 7']],
      ['asc', 'latest', ['fay 1', 'gil 3', 'dan 3']],
    ] as const)('keeps the best, %s and %s', async (order, tiebreak, kept) => {
      const board = await keeping(3, { order, tiebreak });
      for (const [second, [player, score]] of Object.entries(
        Object.entries({ ada: 7, bob: 7, cy: 7, dan: 3, gil: 3, eve: 9, fay: 1 }),
      )) {
        await a.submit(board, player, score, { achievedAtMs: at('2026-11-20T09:00:00Z') + Number(second) * 1000 });
      }
      expect(await a.limit(board)).toBe(4);
      expect((await a.standing(board)).sort()).toEqual([...kept].sort());
      expect(await a.limit(board)).toBe(0);
    });

    it('looks at the columns, and at the bytes of the id where all else is equal', async () => {
      const board = await keeping(2, { tiebreak: 'none', columns: [{ name: 'moves', order: 'asc' }] });
      for (const [player, moves] of [
        ['é', 5],
        ['z', 5],
        ['Z', 5],
        ['a', 6],
      ] as const) {
        await a.submit(board, player, 1, { columns: [moves] });
      }
      await a.limit(board);
      expect((await a.standing(board)).sort()).toEqual(['Z 1', 'z 1']);
    });

    it('writes a tombstone with a new version, in the lists that ranked the entry', async () => {
      await a.database.query(`INSERT INTO players (player_id, region, changed_at) VALUES ('rex', 'EU', ladder_now())`);
      const board = await keeping(1, { scopes: ['global', 'region'] });
      await runs(board, { rex: 1, ada: 2 });
      const before = await a.changes(board);
      expect(await a.limit(board)).toBe(1);
      const [eu] = await a.scopes.ensure(['region:EU']);
      const [gone] = (await a.changes(board)).slice(before.length);
      const windowUid = await a.windowUid(board, 'alltime');
      expect(gone).toMatchObject({
        playerId: 'rex',
        changes: [{ windowUid, keepUntilMs: null, entry: null, scopes: [eu] }],
      });
      expect(gone!.version).toBe((gone as unknown as { position: number }).position);
      expect(gone!.version).toBeGreaterThan(before.at(-1)!.version);
    });

    it('lets a player come back with any score, and answers its old ids', async () => {
      const board = await keeping(1);
      const first = await a.submit(board, 'ada', 5, { submissionId: 'first' });
      await a.submit(board, 'bob', 9);
      await a.limit(board);
      expect(await a.standing(board)).toEqual(['bob 9']);
      const again = await a.submit(board, 'ada', 5, { submissionId: 'first' });
      expect(again).toMatchObject({ replayed: true, answer: first.answer });
      expect(await a.standing(board)).toEqual(['bob 9']);
      const back = await a.submit(board, 'ada', 2);
      expect(back.answer).toMatchObject({ outcome: 'created', score: 2, previousScore: null });
      expect(back.answer.version).toBeGreaterThan((await a.changes(board)).at(-2)!.version);
      await override(board, 'bob', null);
      expect(await a.limit(board)).toBe(0);
      expect(await a.standing(board)).toEqual(['ada 2']);
    });

    it('leaves an entry that was improved while its removal waited for the lane', async () => {
      const board = await keeping(1);
      await runs(board, { ada: 1, bob: 5 });
      const held = await holding(
        b,
        `SELECT pg_advisory_xact_lock(${ADVISORY_LOCKS.lanes}, 0), pg_advisory_xact_lock(${ADVISORY_LOCKS.lanes}, 1)`,
      );
      // By the process that does not know the entry: the other would give up its place in the line after a while.
      const better = b.submit(board, 'ada', 9);
      await waitingBackend(a, 'ladder_take_lane');
      const trimming = a.limit(board);
      await expect
        .poll(async () => {
          const [row] = await a.database.query<{ waiting: number }>(
            `SELECT count(*)::int AS waiting FROM pg_stat_activity
             WHERE datname = current_database() AND wait_event_type = 'Lock' AND wait_event = 'advisory'`,
          );
          return row!.waiting;
        })
        .toBe(2);
      await held.end();
      expect((await better).answer.outcome).toBe('improved');
      expect(await trimming).toBe(0);
      expect(await b.limit(board)).toBe(1);
      expect(await a.standing(board)).toEqual(['ada 9']);
    });

    it('removes nothing twice when two processes trim, and stops at a limit that was raised', async () => {
      const board = await keeping(5);
      const scores = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`p${index}`, index]));
      await runs(board, scores);
      await Promise.all([a.limit(board), b.limit(board)]);
      expect(await a.standing(board)).toEqual(['p59 59', 'p58 58', 'p57 57', 'p56 56', 'p55 55']);
      expect((await a.changes(board)).filter(({ changes }) => changes[0]!.entry === null)).toHaveLength(55);
      await redefine(board, { entriesMax: 7 });
      await runs(board, { x: 1, y: 2, z: 3 });
      expect(await a.limit(board)).toBe(1);
      expect(await a.standing(board)).toHaveLength(7);
    });

    it('holds in each running window, and leaves those that have ended', async () => {
      const board = await keeping(1, { windows: ['alltime', 'daily', { rolling: '2h' }], graceSeconds: 600 });
      await runs(board, { ada: 1, bob: 2 });
      await clock.stopAt(at('2026-11-21T00:01:00Z'));
      await runs(board, { cy: 1, dan: 0 });
      await a.expirer.run(running);
      expect(await a.limit(board)).toBe(5);
      expect(await a.standing(board, 'daily:2026-11-20')).toEqual(['bob 2', 'ada 1']);
      expect(await a.standing(board, 'daily:2026-11-21')).toEqual(['cy 1']);
      expect(await a.standing(board, 'alltime')).toEqual(['bob 2']);
      expect(await a.standing(board, 'rolling:2h')).toEqual(['cy 1']);
      // A late run still enters the window that has ended.
      await a.submit(board, 'eve', 3, { achievedAtMs: at('2026-11-20T23:59:00Z'), windowId: 'daily:2026-11-20' });
      expect(await a.standing(board, 'daily:2026-11-20')).toEqual(['eve 3', 'bob 2', 'ada 1']);
    });

    it('does not bring an entry back by the hours that it had in a rolling window', async () => {
      const board = await keeping(1, { windows: [{ rolling: '3h' }] });
      await a.submit(board, 'ada', 10);
      await clock.stopAt(at('2026-11-20T11:30:00Z'));
      await a.submit(board, 'ada', 50);
      await a.submit(board, 'bob', 60);
      await a.limit(board);
      await clock.stopAt(at('2026-11-20T12:30:00Z'));
      await override(board, 'bob', null);
      await a.submit(board, 'ada', 40);
      // The hour of ten leaves; that of eleven, when ada had 50, would count still.
      await clock.stopAt(at('2026-11-20T13:00:00Z'));
      await a.expirer.run(running);
      expect(await a.standing(board, 'rolling:3h')).toEqual(['ada 40']);
    });

    it('leaves what a frozen window shows', async () => {
      const season = {
        season: 's1',
        startsAt: '2026-11-01T00:00:00Z',
        freezeAt: '2026-11-21T00:00:00Z',
        endsAt: '2026-11-22T00:00:00Z',
      };
      const board = await keeping(1, { windows: [season] });
      await runs(board, { ada: 1, bob: 2 });
      await clock.stopAt(at('2026-11-21T01:00:00Z'));
      await a.recorder.keepFrozen(running);
      expect(await a.limit(board)).toBe(1);
      const windowUid = await a.windowUid(board, 'season:s1');
      const frozen = await a.database.query(
        'SELECT player_id, present, score FROM frozen_entries WHERE window_uid = $1',
        [windowUid],
      );
      expect(frozen).toEqual([{ player_id: 'ada', present: true, score: 1 }]);
    });

    it('takes hold of a board that had none, and again after it was lifted', async () => {
      const board = await a.best({ windows: ['alltime', 'daily'] });
      await runs(board, { ada: 1, bob: 2, cy: 3 });
      await override(board, 'bob', null);
      await redefine(board, { entriesMax: 1 });
      await runs(board, { bob: 5 });
      expect(await a.limit(board)).toBe(4);
      expect(await a.standing(board)).toEqual(['bob 5']);
      await redefine(board, {});
      await runs(board, { dan: 1, eve: 9 });
      expect(await a.limit(board)).toBe(0);
      await redefine(board, { entriesMax: 1 });
      await a.limit(board);
      expect(await a.standing(board)).toEqual(['eve 9']);
      expect(await a.standing(board, 'daily:2026-11-20')).toEqual(['eve 9']);
    });
  });

  describe('entryLifetimeSeconds', () => {
    it('removes what no run renewed, to the millisecond', async () => {
      const board = await living(60);
      await runs(board, { ada: 5, bob: 5 });
      await clock.stopAt(at('2026-11-20T10:00:30Z'));
      const events = await a.changes(board);
      expect((await a.submit(board, 'ada', 3)).answer.outcome).toBe('unchanged');
      expect(await a.changes(board)).toEqual(events);
      await clock.stopAt(at('2026-11-20T10:00:59.999Z'));
      expect(await a.limit(board)).toBe(0);
      await clock.stopAt(at('2026-11-20T10:01:00Z'));
      expect(await a.limit(board)).toBe(1);
      expect(await a.standing(board)).toEqual(['ada 5']);
      await clock.stopAt(at('2026-11-20T10:01:30Z'));
      expect(await a.limit(board)).toBe(1);
      expect(await a.submit(board, 'ada', 1)).toMatchObject({ answer: { outcome: 'created', previousScore: null } });
    });

    it('is not renewed by a repetition, nor by a refused run, but by what an operator sets', async () => {
      const board = await living(60, { operator: 'sum' });
      await a.submit(board, 'ada', 5, { submissionId: 'one' });
      await runs(board, { bob: 5, cy: 5 });
      await clock.stopAt(at('2026-11-20T10:00:40Z'));
      expect((await a.submit(board, 'ada', 5, { submissionId: 'one' })).replayed).toBe(true);
      expect(await a.attempt(board, 'bob', Number.MAX_VALUE)).toEqual(['alltime']);
      expect(await a.attempt(board, 'bob', Number.MAX_VALUE)).toMatchObject({ code: 'SCORE_OUT_OF_BOUNDS' });
      await override(board, 'cy', 7);
      await clock.stopAt(at('2026-11-20T10:01:00Z'));
      await a.limit(board);
      expect(await a.standing(board)).toEqual([`bob ${Number.MAX_VALUE}`, 'cy 7']);
    });

    it('begins for what is there when the option is put, and changes with it at once', async () => {
      const board = await a.best({});
      await runs(board, { ada: 5, bob: 6 });
      await clock.stopAt(at('2026-11-20T12:00:00Z'));
      await redefine(board, { entryLifetimeSeconds: 3600 });
      expect(await a.limit(board)).toBe(0);
      await clock.stopAt(at('2026-11-20T12:30:00Z'));
      await runs(board, { bob: 1 });
      await redefine(board, { entryLifetimeSeconds: 1200 });
      expect(await a.limit(board)).toBe(1);
      expect(await a.standing(board)).toEqual(['bob 6']);
      await redefine(board, {});
      await clock.stopAt(at('2026-11-20T23:00:00Z'));
      expect(await a.limit(board)).toBe(0);
      // What was renewed long before the option came back is not taken away at once.
      await redefine(board, { entryLifetimeSeconds: 60 });
      expect(await a.limit(board)).toBe(0);
      await clock.stopAt(at('2026-11-20T23:01:00Z'));
      expect(await a.limit(board)).toBe(1);
    });

    it('goes on when another limit comes', async () => {
      const board = await living(60);
      await runs(board, { ada: 5 });
      await clock.stopAt(at('2026-11-20T10:00:30Z'));
      await redefine(board, { entryLifetimeSeconds: 60, entriesMax: 10 });
      await runs(board, { bob: 5 });
      await clock.stopAt(at('2026-11-20T10:01:00Z'));
      expect(await a.limit(board)).toBe(1);
      expect(await a.standing(board)).toEqual(['bob 5']);
    });

    it('is each window of its own', async () => {
      const board = await living(7200, { windows: ['alltime', 'daily', { rolling: '4h' }] });
      await clock.stopAt(at('2026-11-20T21:00:00Z'));
      await runs(board, { ada: 5 });
      await clock.stopAt(at('2026-11-20T22:30:00Z'));
      await a.submit(board, 'ada', 1, { windowId: 'daily:2026-11-20', achievedAtMs: at('2026-11-20T10:00:00Z') });
      await clock.stopAt(at('2026-11-20T23:10:00Z'));
      expect(await a.limit(board)).toBe(1);
      expect(await a.standing(board, 'daily:2026-11-20')).toEqual(['ada 5']);
      expect(await a.standing(board, 'rolling:4h')).toEqual([]);
    });
  });

  it('cost boards without them nothing', async () => {
    const board = await a.best({ windows: ['alltime', { rolling: '2h' }] });
    await runs(board, { ada: 5, bob: 6 });
    const rows = await a.database.query('SELECT 1 FROM entries WHERE board_uid = $1 AND renewed_at_ms IS NOT NULL', [
      board.uid,
    ]);
    expect(rows).toEqual([]);
    expect(await a.limit(board)).toBe(0);
  });

  it('keep the best of those that live', async () => {
    const board = await a.best({ limits: limits({ entriesMax: 2, entryLifetimeSeconds: 60 }) });
    await runs(board, { ada: 9, bob: 8 });
    await clock.stopAt(at('2026-11-20T10:00:59Z'));
    await runs(board, { cy: 7, dan: 6 });
    await a.limit(board);
    expect(await a.standing(board)).toEqual(['ada 9', 'bob 8']);
    await clock.stopAt(at('2026-11-20T10:01:00Z'));
    await runs(board, { eve: 1 });
    await a.limit(board);
    expect(await a.standing(board)).toEqual(['eve 1']);
  });
});
