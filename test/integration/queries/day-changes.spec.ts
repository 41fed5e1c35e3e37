// Real: PostgreSQL and the ledgers of two processes. The database's clock is the test's, and so is this process's date.
import { NO_EXTENSIONS } from '@laddercast/extension';
import { GLOBAL_SCOPE, isFrozen, type Board, type RankedEntry, type RankStyle } from '@laddercast/domain';
import { DayStartRecorder, type Edition, type SqlRunner } from '@laddercast/ledger';
import { rankListOf, RankReadings } from '@laddercast/projections';
import { EntryDetails, type ResolvedList } from '@laddercast/queries';
import { createTestDatabase, DatabaseClock, type TestDatabase } from '@laddercast/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { holding, TimeNode, waitingBackend } from '../nodes/time-node.js';

const at = (time: string): number => Date.parse(time);
const running = new AbortController().signal;
const MIDNIGHT_MS = at('2026-11-20T00:00:00Z');
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const unused = (): never => {
  throw new Error('Not read here.');
};

/** The list as it is now, in the order of scores, for styles in which a row's rank is not its place. */
class PresentRanks extends RankReadings {
  constructor(private readonly ids: readonly string[]) {
    super();
  }
  override lookup = async (_list: unknown, playerIds: readonly string[]) => {
    const row = { score: 0, columns: [], achievedAtMs: null };
    const entries = playerIds.map((playerId) => ({ ...row, playerId, rank: this.ids.indexOf(playerId) + 1 }));
    return { total: this.ids.length, listVersion: 1, entries };
  };
  override page = unused;
  override player = unused;
  override rankOfKey = unused;
  override total = unused;
}

describe('how far players have moved since the day began', () => {
  let testDatabase: TestDatabase;
  let node: TimeNode;
  let other: TimeNode;
  let clock: DatabaseClock;
  let details: EntryDetails;
  let keeper: DayStartRecorder;
  let otherKeeper: DayStartRecorder;
  /** Who stands where, by plain code: player → score, of each board. */
  let scores: Map<string, number>;

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
    details = new EntryDetails(node.database, NO_EXTENSIONS);
    // What was kept is remembered for a minute, and each test begins that minute anew.
    keeper = new DayStartRecorder(node.database);
    otherKeeper = new DayStartRecorder(other.database);
    scores = new Map();
    vi.useFakeTimers({ toFake: ['Date'] });
    await timeIs(MIDNIGHT_MS - HOUR_MS);
  });
  afterEach(() => vi.useRealTimers());

  const timeIs = async (ms: number): Promise<void> => {
    vi.setSystemTime(ms);
    await clock.stopAt(ms);
  };

  const submit = async (board: Board, playerId: string, score: number): Promise<void> => {
    await node.submit(board, playerId, score);
    scores.set(playerId, (scores.get(playerId) ?? 0) + score);
  };

  const inOrder = (): string[] =>
    [...scores.keys()].sort((a, b) => scores.get(b)! - scores.get(a)! || (a < b ? -1 : 1));

  const resolvedList = async (
    board: Board,
    windowId: string,
    more: Partial<ResolvedList> = {},
  ): Promise<ResolvedList> => {
    const window = (await node.windows.find(board.uid, windowId))!;
    const list = rankListOf(board, window.uid, GLOBAL_SCOPE);
    const ranks = new PresentRanks(inOrder());
    return {
      board,
      window,
      scope: 'global',
      list,
      ranks,
      edition: null,
      // As if it were resolved anew each time that it is read.
      get atMs() {
        return Date.now();
      },
      ...more,
    };
  };

  const rowsNow = (): RankedEntry[] =>
    inOrder().map((playerId, index) => ({
      rank: index + 1,
      playerId,
      displayName: null,
      score: scores.get(playerId)!,
      columns: {},
      achievedAt: null,
      metadata: null,
    }));

  const changesOf = async (
    resolved: ResolvedList,
    { rows = rowsNow(), style = 'ordinal' as RankStyle, by = details } = {},
  ): Promise<Record<string, number | null | undefined>> =>
    Object.fromEntries((await by.withChange(resolved, style, rows)).map(({ playerId, change }) => [playerId, change]));

  const days = async (board: Board, windowId: string): Promise<string[]> =>
    (await node.editions(await node.windowUid(board, windowId)))
      .filter(({ kind }) => kind === 'day')
      .map(({ asOfMs }) => new Date(asOfMs).toISOString());

  it('is counted from the places of the start of the day, until the next one begins', async () => {
    const board = await node.put({ change: true });
    for (const [player, score] of [
      ['ada', 3],
      ['bob', 2],
      ['cy', 1],
    ] as const)
      await submit(board, player, score);
    await keeper.keepDays(running);
    expect(await days(board, 'alltime')).toEqual([]);
    await timeIs(MIDNIGHT_MS);
    await keeper.keepDays(running);
    expect(await days(board, 'alltime')).toEqual(['2026-11-20T00:00:00.000Z']);
    const list = await resolvedList(board, 'alltime');
    expect(await changesOf(list)).toEqual({ ada: 0, bob: 0, cy: 0 });
    await timeIs(MIDNIGHT_MS + 20 * HOUR_MS);
    await submit(board, 'cy', 9);
    await submit(board, 'dee', 5);
    await keeper.keepDays(running);
    expect(await changesOf(list)).toEqual({ cy: 2, dee: null, ada: -2, bob: -2 });

    await timeIs(MIDNIGHT_MS + DAY_MS - 1);
    await keeper.keepDays(running);
    expect(await changesOf(list)).toEqual({ cy: 2, dee: null, ada: -2, bob: -2 });
    await timeIs(MIDNIGHT_MS + DAY_MS);
    await keeper.keepDays(running);
    expect(await days(board, 'alltime')).toEqual(['2026-11-21T00:00:00.000Z']);
    expect(await changesOf(list)).toEqual({ cy: 0, dee: 0, ada: 0, bob: 0 });
    const orphans = await node.database.query(
      'SELECT FROM standings WHERE edition_uid NOT IN (SELECT edition_uid FROM editions)',
    );
    expect(orphans).toEqual([]);
  });

  it.each([
    ['of 25 hours', '2026-10-24T22:00:00Z', '2026-10-25T23:00:00Z'],
    ['of 23 hours', '2026-03-28T23:00:00Z', '2026-03-29T22:00:00Z'],
  ])('follows the local days of the board, also one %s', async (_length, start, end) => {
    await timeIs(at(start) - HOUR_MS);
    const berlin = await node.put({ change: true, timeZone: 'Europe/Berlin' });
    await submit(berlin, 'ada', 2);
    await submit(berlin, 'bob', 1);
    await timeIs(at(start));
    await keeper.keepDays(running);
    await submit(berlin, 'bob', 4);
    const list = await resolvedList(berlin, 'alltime');
    for (const ms of [at(start) + HOUR_MS, at(start) + 23 * HOUR_MS - 1, at(end) - 1]) {
      await timeIs(ms);
      await keeper.keepDays(running);
      expect(await changesOf(list)).toEqual({ bob: 1, ada: -1 });
    }
    await timeIs(at(end));
    expect(await changesOf(list)).toEqual({ bob: null, ada: null });
    await keeper.keepDays(running);
    expect(await days(berlin, 'alltime')).toEqual([new Date(at(end)).toISOString()]);
    // That there was none a moment ago is remembered for a second.
    details = new EntryDetails(node.database, NO_EXTENSIONS);
    expect(await changesOf(list)).toEqual({ bob: 0, ada: 0 });
  });

  it('is not known on a day whose start was missed, and never counted from another day', async () => {
    const board = await node.put({ change: true });
    await submit(board, 'ada', 1);
    await timeIs(MIDNIGHT_MS);
    await keeper.keepDays(running);
    const list = await resolvedList(board, 'alltime');
    await timeIs(MIDNIGHT_MS + DAY_MS + 60_000);
    await new DayStartRecorder(node.database).keepDays(running);
    expect(await days(board, 'alltime')).toEqual(['2026-11-20T00:00:00.000Z']);
    expect(await changesOf(list)).toEqual({ ada: null });
    await timeIs(MIDNIGHT_MS + 2 * DAY_MS + 59_999);
    await new DayStartRecorder(node.database).keepDays(running);
    expect(await days(board, 'alltime')).toEqual(['2026-11-22T00:00:00.000Z']);
    expect(await changesOf(list)).toEqual({ ada: 0 });
  });

  it('is asked for: other boards keep no days, and their rows are as they were', async () => {
    const board = await node.put({});
    await submit(board, 'ada', 1);
    await timeIs(MIDNIGHT_MS);
    await keeper.keepDays(running);
    expect(await days(board, 'alltime')).toEqual([]);
    const rows = rowsNow();
    expect(await details.withChange(await resolvedList(board, 'alltime'), 'ordinal', rows)).toBe(rows);
  });

  it('is of windows that ran before the day began, in the list of everybody as it is now', async () => {
    const season = { season: 's', startsAt: '2026-11-19T12:00:00Z', endsAt: '2026-11-20T12:00:00Z' };
    const freezing = { season: 'f', startsAt: '2026-11-19T12:00:00Z', endsAt: '2026-11-22T12:00:00Z' };
    const board = await node.put({
      change: true,
      scopes: ['global', 'region'],
      windows: ['alltime', 'daily', 'weekly', season, { ...freezing, freezeAt: '2026-11-20T18:00:00Z' }],
    });
    await node.database.query(`INSERT INTO players (player_id, region, changed_at) VALUES ('ada', 'EU', ladder_now())`);
    await submit(board, 'ada', 1);
    await timeIs(MIDNIGHT_MS);
    await submit(board, 'bob', 2);
    await keeper.keepDays(running);
    const changes = async (windowId: string, more: Partial<ResolvedList> = {}): Promise<unknown> =>
      (await changesOf(await resolvedList(board, windowId, more)))['ada'];
    for (const windowId of ['alltime', 'weekly:2026-W47', 'season:s', 'season:f'])
      expect(await changes(windowId)).toBe(0);
    // It began with the day.
    expect(await changes('daily:2026-11-20')).toBeNull();
    expect(await days(board, 'daily:2026-11-20')).toEqual([]);
    const alltime = await resolvedList(board, 'alltime');
    const [edition] = await node.editions(alltime.window.uid);
    expect((await node.standings(edition!.uid)).map(({ scope, playerId }) => [scope, playerId])).toEqual([
      [GLOBAL_SCOPE, 'bob'],
      [GLOBAL_SCOPE, 'ada'],
    ]);
    const kept = { uid: 1, windowUid: alltime.window.uid, asOfMs: MIDNIGHT_MS, version: 1 };
    expect(await changes('alltime', { edition: { ...kept, kind: 'kept' } as Edition })).toBeNull();
    expect(await changes('alltime', { list: rankListOf(board, alltime.window.uid, 16) })).toBeNull();
    await timeIs(at(season.endsAt));
    expect(await changes('season:s')).toBeNull();
    // What froze today is still of today; while it is frozen no further day is kept, which would tell how it goes on.
    await timeIs(at('2026-11-20T19:00:00Z'));
    expect(isFrozen((await resolvedList(board, 'season:f')).window, Date.now())).toBe(true);
    expect(await changes('season:f', { edition: { ...kept, kind: 'frozen' } as Edition })).toBe(0);
    await timeIs(MIDNIGHT_MS + DAY_MS);
    await keeper.keepDays(running);
    expect(await changes('season:f', { edition: { ...kept, kind: 'frozen' } as Edition })).toBeNull();
    expect(await changes('alltime')).toBe(0);
  });

  it('is of the moment at which the first of a day’s lists is read, however long it takes to write them', async () => {
    const boards = [await node.put({ change: true }), await node.put({ change: true })];
    for (const board of boards) await node.submit(board, 'ada', 1);
    await timeIs(MIDNIGHT_MS);
    const held = await holding(other, 'LOCK TABLE standings IN SHARE MODE');
    const keeping = keeper.keepDays(running);
    await waitingBackend(other, 'WITH counted AS');
    await other.submit(boards[1]!, 'bob', 9);
    // Another process finds them under way, and writes none.
    await otherKeeper.keepDays(running);
    await held.end();
    await keeping;
    await otherKeeper.keepDays(running);
    for (const board of boards) {
      expect(await node.linesOf(await node.windowUid(board, 'alltime'), 'day')).toEqual(['ada 1']);
    }
  });

  it('keeps the best places alone where there are more than it keeps', async () => {
    const board = await node.put({ change: true });
    for (const [index, player] of ['ada', 'bob', 'cy'].entries()) await submit(board, player, 3 - index);
    await timeIs(MIDNIGHT_MS);
    await new DayStartRecorder(node.database).keepDays(running, 2);
    expect(await changesOf(await resolvedList(board, 'alltime'))).toEqual({ ada: 0, bob: 0, cy: null });
  });

  it('counts places where ranks are shared', async () => {
    const board = await node.put({ change: true, tiebreak: 'none' });
    for (const player of ['ada', 'bob', 'cy']) await submit(board, player, 1);
    await timeIs(MIDNIGHT_MS);
    await keeper.keepDays(running);
    await submit(board, 'cy', 1);
    const list = await resolvedList(board, 'alltime');
    const rows = rowsNow().map((row) => ({ ...row, rank: row.score === 2 ? 1 : 2 }));
    expect(await changesOf(list, { rows, style: 'competition' })).toEqual({ cy: 2, ada: -1, bob: -1 });
  });

  it('is not said while PostgreSQL is away, but of players whose place is known', async () => {
    const board = await node.put({ change: true });
    for (const player of ['ada', 'bob']) await submit(board, player, 1);
    await timeIs(MIDNIGHT_MS);
    await keeper.keepDays(running);
    let isAway = false;
    let asked = 0;
    const sql: SqlRunner = {
      query: (text, parameters) => {
        asked += 1;
        return isAway ? Promise.reject(new Error('away')) : node.database.query(text, parameters);
      },
    };
    const by = new EntryDetails(sql, NO_EXTENSIONS);
    const list = await resolvedList(board, 'alltime');
    const [ada, bob] = rowsNow();
    expect(await changesOf(list, { by, rows: [ada!] })).toEqual({ ada: 0 });
    isAway = true;
    expect(await changesOf(list, { by, rows: [ada!] })).toEqual({ ada: 0 });
    expect(asked).toBe(1);
    expect(await changesOf(list, { by, rows: [ada!, bob!] })).toEqual({ ada: null, bob: null });
    isAway = false;
    expect(await changesOf(list, { by, rows: [ada!, bob!] })).toEqual({ ada: 0, bob: 0 });
  });

  it('goes with its window, when no day comes after', async () => {
    const board = await node.put({ change: true });
    await submit(board, 'ada', 1);
    await timeIs(MIDNIGHT_MS);
    await keeper.keepDays(running);
    await timeIs(MIDNIGHT_MS + 2 * DAY_MS);
    expect(await node.pruner.prune(running)).toBe(0);
    await timeIs(MIDNIGHT_MS + 2 * DAY_MS + 1);
    expect(await node.pruner.prune(running)).toBe(1);
    expect(await days(board, 'alltime')).toEqual([]);
  });
});
