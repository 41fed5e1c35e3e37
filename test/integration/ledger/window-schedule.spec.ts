// Real: PostgreSQL, two processes' schedules with their leases; the ledger's clock is the test's, and goes on.
import type { Board } from '@laddercast/domain';
import { ADVISORY_LOCKS, LeasedTask, PostgresLeases, SharedLook, windowDuties } from '@laddercast/ledger';
import { createTestDatabase, DatabaseClock, type TestDatabase } from '@laddercast/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { holding, TimeNode, waitingBackend } from '../nodes/time-node.js';

const at = (time: string): number => Date.parse(time);

describe('the schedule of windows', () => {
  let testDatabase: TestDatabase;
  let nodes: TimeNode[];
  let schedules: LeasedTask[];
  let failures: string[];
  let clock: DatabaseClock;

  beforeEach(async () => {
    testDatabase = await createTestDatabase();
    nodes = [new TimeNode(testDatabase.url), new TimeNode(testDatabase.url)];
    for (const node of nodes) await node.start();
    clock = await DatabaseClock.of(testDatabase.url);
    failures = [];
    schedules = nodes.map(
      (node) =>
        new LeasedTask(new PostgresLeases(node.database), {
          name: 'windows:schedule',
          ttlMs: 5000,
          askEveryMs: 1000,
          duties: windowDuties(node, new SharedLook(node.database)),
          onFailure: (error) => failures.push((error as Error).message),
        }),
    );
  });

  afterEach(async () => {
    await Promise.all(schedules.map((schedule) => schedule.stop()));
    await clock.close();
    await Promise.all(nodes.map((node) => node.stop()));
    await testDatabase.drop();
  });

  const eventually = (check: () => Promise<void>): Promise<void> =>
    expect.poll(() => check().then(() => true, String)).toBe(true);

  it('does all that the clock brings about, by one process, and by the other when that stops', async () => {
    const [a, b] = nodes as [TimeNode, TimeNode];
    const season = { season: 's1', startsAt: '2026-11-20T00:00:00Z', endsAt: '2026-11-20T12:00:02Z' };
    const board = await a.put({
      windows: ['daily', { rolling: '1h' }, { ...season, freezeAt: '2026-11-20T12:00:01Z' }],
      graceSeconds: 0,
      snapshot: { top: 10, keepEveryMinutes: 60, keepDays: 1 },
    });
    await clock.stopAt(at('2026-11-20T11:59:58Z'));
    await a.submit(board, 'ada', 1);
    const uids = await Promise.all(['daily:2026-11-20', 'rolling:1h', 'season:s1'].map((id) => a.windowUid(board, id)));
    const kinds = (): Promise<string[][]> =>
      Promise.all(uids.map(async (uid) => (await a.editions(uid)).map(({ kind }) => kind)));
    for (const schedule of schedules) schedule.start();
    await eventually(async () => expect(await kinds()).toEqual([['kept'], ['kept'], ['kept']]));
    await clock.stopAt(at('2026-11-20T12:00:01Z'));
    await eventually(async () => {
      expect(await kinds()).toEqual([
        ['kept', 'kept'],
        ['kept', 'kept'],
        ['kept', 'frozen'],
      ]);
      const [entry] = await a.database.query('SELECT removed FROM entries WHERE window_uid = $1', [uids[1]]);
      expect(entry).toEqual({ removed: true });
    });
    await clock.stopAt(at('2026-11-20T12:00:02Z'));
    await eventually(async () => expect((await kinds())[2]).toEqual(['kept', 'final']));
    await schedules[0]!.stop();
    await clock.stopAt(at('2026-11-21T00:00:00Z'));
    await eventually(async () => expect(await b.stateOf(board, 'daily:2026-11-20')).toBe('settled'));
    expect(await a.events('window-closed', board)).toHaveLength(2);
    expect(failures).toEqual([]);
  });

  it('stops at once, also while it writes standings, and leaves the rest to the other', async () => {
    const [a, b] = nodes as [TimeNode, TimeNode];
    const board = await a.put({ windows: ['daily'], graceSeconds: 0 });
    await clock.stopAt(at('2026-11-20T12:00:00Z'));
    await a.submit(board, 'ada', 1);
    const held = await holding(
      b,
      `SELECT pg_advisory_xact_lock(${ADVISORY_LOCKS.lanes}, ${a.lanes.of(String(board.uid))})`,
    );
    await clock.goOnFrom(at('2026-11-21T00:00:00Z'));
    await a.database.query(`UPDATE windows SET state = 'closed', closed_at = ladder_now()`);
    schedules[0]!.start();
    await waitingBackend(b, 'ladder_take_lane');
    const beganMs = Date.now();
    await schedules[0]!.stop();
    // Not when the lock is free, nor when PostgreSQL gives the statement up.
    expect(Date.now() - beganMs).toBeLessThan(4000);
    expect(failures).toEqual([]);
    schedules[1]!.start();
    await held.end();
    await eventually(async () => expect(await b.stateOf(board, 'daily:2026-11-20')).toBe('settled'));
    expect(await a.events('window-closed', board)).toHaveLength(1);
  });

  it('settles what ends while it tries a window again that failed, however long that takes', async () => {
    const [a] = nodes as [TimeNode, TimeNode];
    const boards = [await a.put({ windows: ['daily'] }), await a.put({ windows: ['daily'] })] as const;
    const [failing, board] = boards;
    await clock.stopAt(at('2026-11-20T12:00:00Z'));
    for (const each of boards) await a.submit(each, 'ada', 1);
    const uid = await a.windowUid(failing, 'daily:2026-11-20');
    await clock.goOnFrom(at('2026-11-21T12:00:00Z'));
    const closing = `UPDATE windows SET state = 'closed', closed_at = ladder_now() WHERE board_uid = $1`;
    await a.database.query(closing, [failing.uid]);
    await a.failures.record(uid, 'final', new Error('first'));
    await a.database.query(
      `CREATE FUNCTION hang() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(60); RETURN NEW; END'`,
    );
    await a.database.query(
      `CREATE TRIGGER hang BEFORE INSERT ON editions FOR EACH ROW WHEN (NEW.window_uid = ${uid}) EXECUTE FUNCTION hang()`,
    );
    schedules[0]!.start();
    const hanging = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'`;
    await eventually(async () => expect(await a.database.query(hanging)).toHaveLength(1));
    await a.database.query(closing, [board.uid]);
    await eventually(async () => expect(await a.stateOf(board, 'daily:2026-11-20')).toBe('settled'));
    expect(await a.failures.list(10)).toMatchObject([{ boardId: failing.id, failures: 1, error: 'first' }]);
    await schedules[0]!.stop();
    expect([await a.failures.count(), failures]).toEqual([1, []]);
  });

  it('writes what freezes while it tries frozen standings again that failed, however long that takes', async () => {
    const [a] = nodes as [TimeNode, TimeNode];
    const season = { season: 's1', startsAt: '2026-11-20T00:00:00Z', endsAt: '2026-11-21T00:00:00Z' };
    const freezing = (freezeAt: string): Promise<Board> => a.put({ windows: [{ ...season, freezeAt }] });
    const failing = await freezing('2026-11-20T12:00:00Z');
    const board = await freezing('2026-11-20T13:00:00Z');
    await clock.stopAt(at('2026-11-20T11:00:00Z'));
    for (const each of [failing, board]) await a.submit(each, 'ada', 1);
    const [uid, other] = [await a.windowUid(failing, 'season:s1'), await a.windowUid(board, 'season:s1')];
    await a.database.query(`CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS
      'BEGIN IF EXISTS (SELECT FROM settlement_failures) THEN PERFORM pg_sleep(60); END IF; RAISE EXCEPTION ''no room''; END'`);
    await a.database.query(
      `CREATE TRIGGER no_room BEFORE INSERT ON editions FOR EACH ROW WHEN (NEW.window_uid = ${uid}) EXECUTE FUNCTION no_room()`,
    );
    await clock.goOnFrom(at('2026-11-20T12:00:00Z'));
    schedules[0]!.start();
    const hanging = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'`;
    await eventually(async () => expect(await a.database.query(hanging)).toHaveLength(1));
    await clock.goOnFrom(at('2026-11-20T13:00:00Z'));
    await eventually(async () => expect(await a.linesOf(other, 'frozen')).toEqual(['ada 1']));
    expect(await a.failures.list(10)).toMatchObject([
      { windowUid: uid, kind: 'frozen', failures: 1, error: 'no room' },
    ]);
    await schedules[0]!.stop();
    expect(failures).toEqual(['no room']);
  });

  it('goes on with the others when one duty fails, says so, and tries that again', async () => {
    const [a] = nodes as [TimeNode, TimeNode];
    const board = await a.put({ windows: ['daily', { rolling: '1h' }], graceSeconds: 0 });
    await clock.stopAt(at('2026-11-20T12:00:00Z'));
    await a.submit(board, 'ada', 1);
    await a.database.query('ALTER TABLE rolling_hours RENAME TO lost');
    await clock.goOnFrom(at('2026-11-21T00:00:00Z'));
    schedules[0]!.start();
    await eventually(async () => expect(await a.stateOf(board, 'daily:2026-11-20')).toBe('settled'));
    expect(failures.length).toBeGreaterThan(0);
    expect(new Set(failures)).toEqual(new Set(['relation "rolling_hours" does not exist']));
    await a.database.query('ALTER TABLE lost RENAME TO rolling_hours');
    await eventually(async () => expect(await a.database.query('SELECT 1 FROM rolling_hours')).toEqual([]));
  });
});
