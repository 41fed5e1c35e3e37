// Real: PostgreSQL, the ledger, its outbox as the log, the saga of histories. The clock is the test's; ranks are away.
import { LadderError, type Board } from '@laddercast/domain';
import { RecordHistoryHandler } from '@laddercast/commands';
import { PostgresEventLog, type LogSubscription } from '@laddercast/event-log';
import {
  EntryHistory,
  HistoryPruner,
  LaneQueue,
  Sanctions,
  type HistoryPoint,
  type NewSanction,
  type SqlRunner,
} from '@laddercast/ledger';
import type { RankProjection } from '@laddercast/projections';
import { HistorySaga } from '@laddercast/sagas';
import { createTestDatabase, DatabaseClock, type TestDatabase } from '@laddercast/testing';
import type { CommandBus } from '@nestjs/cqrs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tablesScanned } from '../nodes/people-node.js';
import { TimeNode } from '../nodes/time-node.js';

const at = (time: string): number => Date.parse(`2026-11-20T${time}Z`);
const running = new AbortController().signal;
const DAY_MS = 86_400_000;
const history = { everyMinutes: 60, keepDays: 2 };
const SHADOW: NewSanction = { kind: 'shadow', reason: 'a test', publicReason: null, untilMs: null, boards: null };

const away = {
  lookupStates: () => Promise.reject(new LadderError('PROJECTION_UNAVAILABLE', 'away')),
} as unknown as RankProjection;

describe('what is recorded of players over time', () => {
  let testDatabase: TestDatabase;
  let node: TimeNode;
  let clock: DatabaseClock;
  let log: PostgresEventLog;
  let saga: HistorySaga;
  let subscription: LogSubscription;
  let points: EntryHistory;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    node = new TimeNode(testDatabase.url);
    await node.start();
    clock = await DatabaseClock.of(testDatabase.url);
    points = new EntryHistory(node.database);
    const handler = new RecordHistoryHandler(points, away, node.lanes);
    const commands = { execute: (command: never) => handler.execute(command) } as unknown as CommandBus;
    saga = new HistorySaga(commands, node.boards, node.windows);
    log = new PostgresEventLog(node.database, { lanes: node.lanes, log: () => undefined });
    await clock.stopAt(at('12:00:00.000'));
    subscription = await log.consume('history', ['entry-changed'], (batch) => saga.record(batch));
  });
  afterAll(async () => {
    await subscription.stop();
    await log.close();
    await clock.close();
    await node.stop();
    await testDatabase.drop();
  });

  const settled = (): Promise<void> =>
    expect.poll(async () => (await log.lag('history')).every(({ events }) => events === 0)).toBe(true);

  const pointsOf = async (board: Board, playerId: string, windowId = 'alltime'): Promise<HistoryPoint[]> =>
    points.read(await node.windowUid(board, windowId), playerId, {
      fromMs: 0,
      toMs: Number.MAX_SAFE_INTEGER,
      beforeStretchMs: Number.MAX_SAFE_INTEGER,
      limit: 100,
    });
  const linesOf = async (board: Board, playerId: string, windowId = 'alltime'): Promise<unknown[]> =>
    (await pointsOf(board, playerId, windowId)).map(({ atMs, score }) => [
      new Date(atMs).toISOString().slice(11, 23),
      score,
    ]);

  it('is the last of each stretch in each window, dated by the ledger, without a rank while ranks are away', async () => {
    const board = await node.put({ history, windows: ['alltime', 'daily'] });
    for (const time of ['12:00:00.000', '12:59:59.999', '13:00:00.000', '13:30:00.000']) {
      await clock.stopAt(at(time));
      await node.submit(board, 'ada', 1, { achievedAtMs: at('11:00:00.000') });
    }
    await clock.stopAt(at('14:00:00.000'));
    const audit = { actor: 'test', action: 'entry.remove', subject: 'ada', details: {} };
    await node.ledger.write({
      kind: 'override',
      board: node.boards.byId(board.id)!,
      playerId: 'ada',
      entry: null,
      audit,
    });
    await settled();
    const expected = [
      ['14:00:00.000', null],
      ['13:30:00.000', 4],
      ['12:59:59.999', 2],
    ];
    expect(await linesOf(board, 'ada')).toEqual(expected);
    expect(await linesOf(board, 'ada', 'daily:2026-11-20')).toEqual(expected);
    expect((await pointsOf(board, 'ada')).every(({ ranked }) => ranked === null)).toBe(true);
    // An event that comes again long after is of the time that it was written at.
    await clock.stopAt(at('20:00:00.000'));
    await subscription.stop();
    await node.database.query(`UPDATE log_offsets SET position = 0 WHERE consumer_group = 'history'`);
    subscription = await log.consume('history', ['entry-changed'], (batch) => saga.record(batch));
    await settled();
    expect(await linesOf(board, 'ada')).toEqual(expected);
  });

  it('is what a shadowed player submits, and not that it was shadowed', async () => {
    const board = await node.put({ history, operator: 'latest' });
    await clock.stopAt(at('15:00:00.000'));
    await node.submit(board, 'cy', 1);
    await settled();
    await clock.stopAt(at('15:10:00.000'));
    const work = new LaneQueue(node.database, node.lanes, node.notifier);
    const sanctions = new Sanctions(node.database, node.lanes, work);
    await sanctions.put('cy', SHADOW, 'mod');
    await settled();
    const before = ['15:00:00.000', 1];
    expect(await linesOf(board, 'cy')).toEqual([before]);
    await clock.stopAt(at('16:20:00.000'));
    await node.submit(board, 'cy', 5);
    await settled();
    expect(await linesOf(board, 'cy')).toEqual([['16:20:00.000', 5], before]);
    // An event that comes again, and a submission after which the score is the same.
    await subscription.stop();
    await node.database.query(`UPDATE log_offsets SET position = 0 WHERE consumer_group = 'history'`);
    subscription = await log.consume('history', ['entry-changed'], (batch) => saga.record(batch));
    await settled();
    expect(await linesOf(board, 'cy')).toEqual([['16:20:00.000', 5], before]);
    await clock.stopAt(at('17:00:00.000'));
    await node.submit(board, 'cy', 5);
    await settled();
    expect((await linesOf(board, 'cy'))[0]).toEqual(['17:00:00.000', 5]);
  });

  it('is what was submitted under a shadow, and not that it was lifted', async () => {
    const board = await node.put({ history, operator: 'best' });
    const sanctions = new Sanctions(node.database, node.lanes, new LaneQueue(node.database, node.lanes, node.notifier));
    await clock.stopAt(at('15:00:00.000'));
    for (const player of ['still', 'plays']) await node.submit(board, player, 1);
    await settled();
    for (const player of ['still', 'plays']) await sanctions.put(player, SHADOW, 'mod');
    await clock.stopAt(at('16:20:00.000'));
    await node.submit(board, 'plays', 5);
    await settled();
    for (const time of ['16:40:00.000', '18:00:00.000']) {
      await clock.stopAt(at(time));
      for (const player of ['still', 'plays']) {
        await sanctions.lift(player, { actor: 'mod', reason: 'a test' });
        await settled();
        await sanctions.put(player, SHADOW, 'mod');
        await settled();
      }
    }
    expect(await linesOf(board, 'still')).toEqual([['15:00:00.000', 1]]);
    expect(await linesOf(board, 'plays')).toEqual([
      ['16:20:00.000', 5],
      ['15:00:00.000', 1],
    ]);
  });

  it('is asked for: of other boards nothing is recorded', async () => {
    const board = await node.put({});
    await node.submit(board, 'ada', 1);
    await settled();
    expect(await pointsOf(board, 'ada')).toEqual([]);
  });

  it('goes when its days are over, when it is asked for no more, and with the board, and does not come back', async () => {
    await node.database.query('TRUNCATE entry_history');
    await clock.stopAt(at('12:30:00.000'));
    const boards = [await node.put({ history }), await node.put({ history }), await node.put({ history })] as const;
    const [aging, ended, gone] = boards;
    for (const board of boards) await node.submit(board, 'ada', 1);
    await settled();
    await node.put({ history: null }, ended.id);
    await node.registry.delete(gone.id, null, 'test');
    await node.boards.refresh();
    await node.historyPruner.prune(running);
    expect(await Promise.all(boards.map(async (board) => (await pointsOf(board, 'ada')).length))).toEqual([1, 0, 0]);
    const point = (await pointsOf(aging, 'ada'))[0]!;
    await points.record([{ ...point, windowUid: await node.windowUid(gone, 'alltime') }]);
    expect(await pointsOf(gone, 'ada')).toEqual([]);
    // A stretch goes as a whole, once its beginning is too old.
    await clock.stopAt(at('12:00:00.000') + 2 * DAY_MS);
    expect([await node.historyPruner.prune(running), await linesOf(aging, 'ada')]).toEqual([0, [['12:30:00.000', 1]]]);
    await clock.stopAt(at('12:00:00.000') + 2 * DAY_MS + 1);
    expect([await node.historyPruner.prune(running), await linesOf(aging, 'ada')]).toEqual([1, []]);
  });

  it('is purged with the other rows of a board that is gone', async () => {
    const board = await node.put({ history });
    await node.submit(board, 'ada', 1);
    await settled();
    await node.registry.delete(board.id, null, 'test');
    await node.registry.purgeRows(board.uid);
    expect(await pointsOf(board, 'ada')).toEqual([]);
  });

  it('is written, read and pruned by probes of indexes, however much there is', async () => {
    const board = await node.put({ history });
    await node.submit(board, 'ada', 1);
    await settled();
    const windowUid = await node.windowUid(board, 'alltime');
    await node.database.query(
      `INSERT INTO entry_history (window_uid, player_id, stretch_ms, at_ms, version, score, columns)
       SELECT $1 + w, 'p' || p, s * 3600000, s * 3600000, s, 1, '{}'
       FROM generate_series(0, 20) w, generate_series(1, 100) p, generate_series(1, 20) s`,
      [windowUid],
    );
    await node.database.query(
      `INSERT INTO windows (board_uid, window_id, kind) SELECT $1, 'season:' || n, 'season' FROM generate_series(1, 5000) n`,
      [board.uid],
    );
    await node.database.query('ANALYZE entry_history, windows, boards');
    const point = (await pointsOf(board, 'ada'))[0]!;
    const scanned = await tablesScanned(node.database, async (sql: SqlRunner) => {
      const watched = new EntryHistory(sql as never);
      await watched.record([{ ...point, version: point.version + 1 }]);
      await watched.read(windowUid, 'ada', { fromMs: 0, toMs: 1e15, beforeStretchMs: 1e15, limit: 50 });
      await new HistoryPruner(sql as never).prune(running);
    });
    expect(await pointsOf(board, 'p1')).toEqual([]);
    expect(scanned.filter((table) => table !== 'boards')).toEqual([]);
    // Statistics come a moment later. Without the index by age every point of a window is looked at for the old ones.
    const probes = async (): Promise<number> => {
      const [row] = await node.database.query<{ probes: number }>(
        `SELECT idx_scan AS probes FROM pg_stat_user_indexes WHERE indexrelname = 'entry_history_by_age'`,
      );
      return row!.probes;
    };
    await expect.poll(probes).toBeGreaterThan(0);
  });
});
