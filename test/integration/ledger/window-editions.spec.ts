// Real: PostgreSQL and the ledgers of two processes; their clock is the test's.
import { GLOBAL_SCOPE, type Board, type BoardDefinition } from '@laddercast/domain';
import { ADVISORY_LOCKS } from '@laddercast/ledger';
import { createTestDatabase, DatabaseClock, type TestDatabase } from '@laddercast/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { holding, TimeNode, waitingBackend } from '../nodes/time-node.js';

const at = (time: string): number => Date.parse(time);
const running = new AbortController().signal;
const NOON_MS = at('2026-11-20T12:00:00Z');
const today = 'daily:2026-11-20';

describe('standings', () => {
  let testDatabase: TestDatabase;
  let node: TimeNode;
  let other: TimeNode;
  let clock: DatabaseClock;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    node = new TimeNode(testDatabase.url);
    other = new TimeNode(testDatabase.url);
    await node.start();
    await other.start();
    clock = await DatabaseClock.of(testDatabase.url);
  });

  afterAll(async () => {
    await clock.close();
    await Promise.all([node.stop(), other.stop()]);
    await testDatabase.drop();
  });

  beforeEach(async () => {
    await node.boards.refresh();
    for (const board of node.boards.all()) {
      await node.registry.delete(board.id, null, 'test');
      await node.registry.purgeRows(board.uid);
    }
    await node.database.query('TRUNCATE players');
    await clock.stopAt(NOON_MS);
  });

  const setRegion = (playerId: string, region: string): Promise<unknown> =>
    node.database.query(
      `INSERT INTO players (player_id, region, changed_at) VALUES ($1, $2, ladder_now())
       ON CONFLICT (player_id) DO UPDATE SET region = $2`,
      [playerId, region],
    );

  /** Has standings of one window fail from now on. */
  const breakWriting = async (windowUid: number): Promise<void> => {
    await node.database.query(
      `CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''no room''; END'`,
    );
    await node.database.query(
      `CREATE TRIGGER no_room BEFORE INSERT ON editions FOR EACH ROW WHEN (NEW.window_uid = ${windowUid})
       EXECUTE FUNCTION no_room()`,
    );
  };
  const mendWriting = (): Promise<unknown> => node.database.query('DROP FUNCTION no_room CASCADE');

  describe('of a freeze', () => {
    const season = { season: 's1', startsAt: '2026-11-20T00:00:00Z', endsAt: '2026-11-21T00:00:00Z' };
    const freezeAt = '2026-11-20T12:00:00Z';
    const freezing = (more: Partial<BoardDefinition> = {}): Promise<Board> =>
      node.put({ windows: [{ ...season, freezeAt }], graceSeconds: 0, scopes: ['global', 'region'], ...more });

    it('are of its very moment, however late they are written and whatever came since', async () => {
      const board = await freezing();
      await clock.stopAt(NOON_MS - 1);
      await setRegion('ada', 'EU');
      for (const player of ['ada', 'bob', 'cy']) await node.submit(board, player, 1);
      await node.recorder.keepFrozen(running);
      const windowUid = await node.windowUid(board, 'season:s1');
      expect(await node.editions(windowUid)).toEqual([]);
      await clock.stopAt(NOON_MS);
      await node.submit(board, 'bob', 10);
      await node.submit(board, 'dé', 99);
      await setRegion('ada', 'US');
      await node.submit(board, 'ada', 100);
      const audit = { actor: 'test', action: 'entry.remove', subject: 'cy', details: {} };
      await node.ledger.write({
        kind: 'override',
        board: node.boards.byId(board.id)!,
        playerId: 'cy',
        entry: null,
        audit,
      });
      await clock.stopAt(at('2026-11-20T20:00:00Z'));
      await Promise.all([node.recorder.keepFrozen(running), other.recorder.keepFrozen(running)]);
      await node.recorder.keepFrozen(running);
      expect(await node.linesOf(windowUid, 'frozen')).toEqual(['ada 1', 'bob 1', 'cy 1']);
      const [eu, us] = await node.scopes.ensure(['region:EU', 'region:US']);
      expect(await node.linesOf(windowUid, 'frozen', eu)).toEqual(['ada 1']);
      expect(await node.linesOf(windowUid, 'frozen', us)).toEqual([]);
      expect(await node.editions(windowUid)).toMatchObject([{ kind: 'frozen', asOfMs: NOON_MS }]);
      // After the end it is of no use.
      await clock.stopAt(at('2026-11-21T00:00:00Z'));
      await node.closer.run(running);
      expect(await node.linesOf(windowUid, 'final')).toEqual(['ada 101', 'dé 99', 'bob 11']);
      expect((await node.editions(windowUid)).map(({ kind }) => kind)).toEqual(['final']);
      const leftovers = await node.database.query('SELECT 1 FROM frozen_entries WHERE window_uid = $1', [windowUid]);
      expect(leftovers).toEqual([]);
    });

    it('say of the runs of that moment whether they were looked at, on boards that keep runs', async () => {
      const board = await freezing({ operator: 'best', runs: { keepDays: 30 } });
      const proof = 'https://replays.example/1';
      await clock.stopAt(NOON_MS - 1);
      await node.submit(board, 'ada', 5, { verified: true, proof });
      await node.submit(board, 'bob', 4);
      await node.submit(board, 'cy', 3, { verified: true });
      await clock.stopAt(NOON_MS);
      await node.submit(board, 'ada', 9);
      await node.submit(board, 'bob', 8, { verified: true, proof });
      const windowUid = await node.windowUid(board, 'season:s1');
      const kept = (kind: string): Promise<unknown[]> =>
        node.database.query(
          `SELECT player_id AS id, score, verified, proof FROM standings JOIN editions USING (edition_uid)
           WHERE window_uid = $1 AND kind = $2 AND scope_uid = 0 ORDER BY ordinal`,
          [windowUid, kind],
        );
      await node.recorder.keepFrozen(running);
      expect(await kept('frozen')).toEqual([
        { id: 'ada', score: 5, verified: true, proof },
        { id: 'bob', score: 4, verified: false, proof: null },
        { id: 'cy', score: 3, verified: true, proof: null },
      ]);
      await clock.stopAt(at('2026-11-21T00:00:00Z'));
      await node.closer.run(running);
      expect(await kept('final')).toEqual([
        { id: 'ada', score: 9, verified: false, proof: null },
        { id: 'bob', score: 8, verified: true, proof },
        { id: 'cy', score: 3, verified: true, proof: null },
      ]);
    });

    it('that cannot be written hold up no other, are tried again, and then for the end, from the beginning', async () => {
      const boards = [await freezing(), await freezing()];
      await clock.stopAt(NOON_MS - 1);
      for (const board of boards) await node.submit(board, 'ada', 1);
      const [broken, whole] = await Promise.all(boards.map((board) => node.windowUid(board, 'season:s1')));
      await breakWriting(broken!);
      await clock.stopAt(NOON_MS);
      await expect(node.recorder.keepFrozen(running)).rejects.toThrow('no room');
      expect(await node.linesOf(whole!, 'frozen')).toEqual(['ada 1']);
      const stands = { windowUid: broken, kind: 'frozen', closedAtMs: null, failures: 1, error: 'no room' };
      expect(await other.failures.list(10)).toMatchObject([{ ...stands, retryAtMs: NOON_MS + 1000 }]);
      await node.recorder.keepFrozen(running);
      await node.recorder.keepFailed(running);
      await clock.stopAt(NOON_MS + 1000);
      await expect(other.recorder.keepFailed(running)).rejects.toThrow('no room');
      expect(await node.failures.list(10)).toMatchObject([{ failures: 2, retryAtMs: NOON_MS + 3000 }]);
      const endMs = at('2026-11-21T00:00:00Z');
      await clock.stopAt(endMs);
      await expect(node.closer.run(running)).rejects.toThrow('no room');
      const final = { windowUid: broken, kind: 'final', failures: 1, closedAtMs: endMs, retryAtMs: endMs + 1000 };
      expect(await node.failures.list(10)).toMatchObject([final]);
      await mendWriting();
      await clock.stopAt(endMs + 1000);
      await node.closer.run(running);
      expect([await node.linesOf(broken!, 'final'), await node.failures.count()]).toEqual([['ada 1'], 0]);
    });

    it('wait for a run that took its time before it and is committed after it', async () => {
      const board = await freezing();
      await clock.stopAt(NOON_MS - 1);
      await node.submit(board, 'ada', 1);
      const windowUid = await node.windowUid(board, 'season:s1');
      const run = await holding(
        other,
        `SELECT pg_advisory_xact_lock(${ADVISORY_LOCKS.lanes}, ${node.lanes.of('ada')});
         UPDATE entries SET score = 5 WHERE window_uid = ${windowUid}`,
      );
      await clock.stopAt(NOON_MS);
      const freezing_ = node.recorder.keepFrozen(running);
      await waitingBackend(other, 'ladder_take_lane');
      await run.end();
      await freezing_;
      expect(await node.linesOf(windowUid, 'frozen')).toEqual(['ada 5']);
    });

    it('that moved while they were written are not kept, but written anew', async () => {
      const board = await freezing();
      await clock.stopAt(NOON_MS - 1);
      await node.submit(board, 'ada', 1);
      const windowUid = await node.windowUid(board, 'season:s1');
      await clock.stopAt(NOON_MS);
      const held = await holding(other, 'LOCK TABLE standings IN SHARE MODE');
      const writing = node.recorder.keepFrozen(running);
      await waitingBackend(other, 'WITH counted AS');
      await other.database.query(`UPDATE windows SET freeze_at = freeze_at + interval '1 hour' WHERE window_uid = $1`, [
        windowUid,
      ]);
      await held.end();
      await writing;
      expect(await node.editions(windowUid)).toEqual([]);
      await clock.stopAt(NOON_MS + 3_600_000);
      await node.recorder.keepFrozen(running);
      expect(await node.editions(windowUid)).toMatchObject([{ kind: 'frozen', asOfMs: NOON_MS + 3_600_000 }]);
    });
  });

  describe('kept as they stood', () => {
    const snapshot = { top: 2, keepEveryMinutes: 15, keepDays: 2 };
    const asOf = async (windowUid: number): Promise<string[]> =>
      (await node.editions(windowUid)).map(({ asOfMs }) => new Date(asOfMs).toISOString().slice(8, 16));

    it('that cannot be written hold up no other, and are tried again after waits that grow', async () => {
      const boards = [
        await node.put({ windows: ['daily'], snapshot }),
        await node.put({ windows: ['daily'], snapshot }),
      ];
      for (const board of boards) await node.submit(board, 'ada', 1);
      const [broken, whole] = await Promise.all(boards.map((board) => node.windowUid(board, today)));
      await breakWriting(broken!);
      await expect(node.recorder.keepSnapshots(running)).rejects.toThrow('no room');
      expect([await asOf(broken!), await asOf(whole!)]).toEqual([[], ['20T12:00']]);
      const stands = {
        windowUid: broken,
        kind: 'kept',
        closedAtMs: null,
        failedAtMs: NOON_MS,
        retryAtMs: NOON_MS + 1000,
      };
      expect(await other.failures.list(10)).toMatchObject([stands]);
      await node.recorder.keepSnapshots(running);
      await node.recorder.keepFailed(running);
      await clock.stopAt(NOON_MS + 1000);
      await expect(node.recorder.keepFailed(running)).rejects.toThrow('no room');
      expect(await node.failures.list(10)).toMatchObject([{ failures: 2, retryAtMs: NOON_MS + 3000 }]);
      await mendWriting();
      await clock.stopAt(NOON_MS + 3000);
      await node.recorder.keepFailed(running);
      expect([await asOf(broken!), await node.failures.count()]).toEqual([['20T12:00'], 0]);
      // It is one of many again.
      await clock.stopAt(NOON_MS + 900_000);
      await node.recorder.keepSnapshots(running);
      expect(await asOf(broken!)).toEqual(['20T12:00', '20T12:15']);
    });

    it('are waited for no more when the window has frozen or the board keeps none', async () => {
      const season = { season: 's1', startsAt: '2026-11-20T00:00:00Z', endsAt: '2026-11-21T00:00:00Z' };
      const windows = [{ ...season, freezeAt: '2026-11-20T14:00:00Z' }];
      const freezing = await node.put({ windows, snapshot });
      const board = await node.put({ windows: ['daily'], snapshot });
      for (const each of [freezing, board]) await node.submit(each, 'ada', 1);
      const [frozen, going] = [await node.windowUid(freezing, 'season:s1'), await node.windowUid(board, today)];
      for (const uid of [frozen, going]) await node.failures.record(uid, 'kept', new Error('no room'));
      expect(await node.failures.count()).toBe(2);
      await node.put({ windows: ['daily'] }, board.id);
      await clock.stopAt(at('2026-11-20T14:00:00Z'));
      expect(await node.failures.list(10)).toMatchObject([{ windowUid: going }]);
      await node.recorder.keepFailed(running);
      expect(await node.database.query('SELECT 1 FROM settlement_failures')).toEqual([]);
    });

    it('are written once for each stretch of time, the top of them with the whole total; what was missed is missing', async () => {
      const board = await node.put({ windows: ['daily', 'alltime'], snapshot, scopes: ['global', 'region'] });
      await setRegion('ada', 'EU');
      for (const [player, score] of [
        ['ada', 1],
        ['bob', 2],
        ['cy', 3],
      ] as const)
        await node.submit(board, player, score);
      const windowUid = await node.windowUid(board, today);
      for (const time of [
        '12:00:00',
        '12:00:01',
        '12:14:59',
        '12:15:00',
        '12:29:59',
        '13:31:00',
        '13:44:00',
        '13:45:00',
      ]) {
        await clock.stopAt(at(`2026-11-20T${time}.000Z`));
        await Promise.all([node.recorder.keepSnapshots(running), other.recorder.keepSnapshots(running)]);
      }
      expect(await asOf(windowUid)).toEqual(['20T12:00', '20T12:15', '20T13:31', '20T13:45']);
      expect(await asOf(await node.windowUid(board, 'alltime'))).toHaveLength(4);
      const [first] = await node.editions(windowUid);
      const rows = await node.standings(first!.uid);
      const [eu] = await node.scopes.ensure(['region:EU']);
      expect(rows.map(({ scope, playerId, score }) => [scope, playerId, score])).toEqual([
        [GLOBAL_SCOPE, 'cy', 3],
        [GLOBAL_SCOPE, 'bob', 2],
        [eu, 'ada', 1],
      ]);
      const totals = await node.database.query(
        'SELECT scope_uid AS scope, total FROM edition_scopes WHERE edition_uid = $1 ORDER BY 1',
        [first!.uid],
      );
      expect(totals).toEqual([
        { scope: 0, total: 3 },
        { scope: eu, total: 1 },
      ]);
    });

    it('are not written a second time while another process writes them', async () => {
      const board = await node.put({ windows: ['daily'], snapshot });
      await node.submit(board, 'ada', 1);
      const held = await holding(other, 'LOCK TABLE standings IN SHARE MODE');
      await clock.stopAt(NOON_MS);
      const first = node.recorder.keepSnapshots(running);
      await waitingBackend(other, 'WITH counted AS');
      await clock.stopAt(NOON_MS + 1);
      const second = other.recorder.keepSnapshots(running);
      await new Promise((resolve) => setTimeout(resolve, 300));
      await held.end();
      await Promise.all([first, second]);
      expect(await asOf(await node.windowUid(board, today))).toEqual(['20T12:00']);
    });

    it('are not of windows that are frozen or have ended', async () => {
      const season = { season: 's1', startsAt: '2026-11-20T00:00:00Z', endsAt: '2026-11-20T16:00:00Z' };
      const board = await node.put({ windows: [{ ...season, freezeAt: '2026-11-20T14:00:00Z' }], snapshot });
      await node.submit(board, 'ada', 1);
      const windowUid = await node.windowUid(board, 'season:s1');
      for (const time of ['13:59', '14:00', '15:30', '16:00', '17:00']) {
        await clock.stopAt(at(`2026-11-20T${time}:00.000Z`));
        await node.recorder.keepSnapshots(running);
      }
      expect(await asOf(windowUid)).toEqual(['20T13:59']);
    });

    it('go when their days are over, final standings when theirs are, rows and all', async () => {
      const board = await node.put({ windows: ['daily'], snapshot, retention: { standingsDays: 10 } });
      const forEver = await node.put({ windows: ['daily'] });
      for (const each of [board, forEver]) await node.submit(each, 'ada', 1);
      await node.recorder.keepSnapshots(running);
      await clock.stopAt(at('2026-11-22T00:00:00Z'));
      await node.closer.run(running);
      const windowUid = await node.windowUid(board, today);
      const kinds = async (uid: number): Promise<string[]> => (await node.editions(uid)).map(({ kind }) => kind);
      await clock.stopAt(NOON_MS + 2 * 86_400_000);
      expect([await node.pruner.prune(running), await kinds(windowUid)]).toEqual([0, ['kept', 'final']]);
      await clock.stopAt(NOON_MS + 2 * 86_400_000 + 1);
      expect([await node.pruner.prune(running), await kinds(windowUid)]).toEqual([1, ['final']]);
      await clock.stopAt(at('2026-12-02T00:00:00.001Z'));
      expect([await node.pruner.prune(running), await kinds(windowUid)]).toEqual([1, []]);
      expect(await kinds(await node.windowUid(forEver, today))).toEqual(['final']);
      const rows = await node.database.query<{ edition_uid: number }>(
        `SELECT edition_uid FROM standings WHERE edition_uid NOT IN (SELECT edition_uid FROM editions)
         UNION ALL SELECT edition_uid FROM edition_scopes WHERE edition_uid NOT IN (SELECT edition_uid FROM editions)`,
      );
      expect(rows).toEqual([]);
    });
  });
});
