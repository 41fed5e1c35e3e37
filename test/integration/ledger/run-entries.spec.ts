// Real: PostgreSQL, the ledger, what settles, freezes and trims windows, and what makes their later editions; its clock,
// `ladder_now()`, is in the test's hands.
import { entryOfKey, GLOBAL_SCOPE, type Board, type BoardDefinition, type EntryChanged } from '@laddercast/domain';
import { EditionReviser, Sanctions, StandingsReader, StateRepublisher, SubmissionPruner } from '@laddercast/ledger';
import { listOfWindow, StandingsRanks } from '@laddercast/projections';
import { RanksOfRuns, RunEntryKeys } from '@laddercast/queries';
import { createTestDatabase, DatabaseClock, type TestDatabase } from '@laddercast/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { RunNode } from '../nodes/run-node.js';

const NOON = Date.parse('2026-11-20T12:00:00Z');
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const ANY_SHARE = { rowsMax: 1000, partMax: 1000 };
const ALWAYS = new AbortController().signal;
const SEASON = {
  season: 's1',
  startsAt: '2026-11-20T00:00:00Z',
  freezeAt: '2026-11-20T14:00:00Z',
  endsAt: '2026-11-20T16:00:00Z',
};
const PER_RUN: Partial<BoardDefinition> = {
  ...{ operator: 'best', runs: { keepDays: 7 }, entriesPer: 'run', entriesPerPlayerMax: 2 },
};

describe('entries of runs in the ledger', () => {
  let testDatabase: TestDatabase;
  let node: RunNode;
  let clock: DatabaseClock;
  let sanctions: Sanctions;
  let ranks: RanksOfRuns;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    node = new RunNode(testDatabase.url);
    await node.start();
    clock = await DatabaseClock.of(testDatabase.url);
    sanctions = new Sanctions(node.database, node.lanes, node.work);
    const reader = new StandingsReader(node.database);
    ranks = new RanksOfRuns(new StandingsRanks(reader), new RunEntryKeys(node.database, reader));
  });
  beforeEach(() => clock.stopAt(NOON));
  afterAll(async () => {
    await clock.close();
    await node.stop();
    await testDatabase.drop();
  });

  const submit = async (board: Board, submissionId: string, playerId: string, score: number): Promise<string> =>
    (await node.submit(board, playerId, score, { submissionId })).answer.outcome;
  /** `run score` of the entries that stand, the best first. */
  const standing = async (board: Board, window = 'alltime'): Promise<string[]> =>
    (await node.standing(board, window)).map((line) => {
      const [key, score] = line.split(' ');
      return `${entryOfKey(key!).entryId ?? key} ${score}`;
    });
  const revise = async (): Promise<number> => {
    await node.database.query(`UPDATE revisions_due SET noted_at = noted_at - interval '10 seconds'`);
    return new EditionReviser(node.database, node.notifier).run(ALWAYS, ANY_SHARE);
  };
  const newest = async (board: Board, kind: string): Promise<{ uid: number; window: number }> => {
    const [edition] = await node.database.query<{ uid: number; window: number }>(
      `SELECT edition_uid AS uid, window_uid AS window FROM editions WHERE window_uid = $1 AND kind = $2
       ORDER BY number DESC LIMIT 1`,
      [await node.windowUid(board, 'season:s1'), kind],
    );
    return edition!;
  };
  const listOf = async (board: Board, kind: string) => {
    const { uid, window } = await newest(board, kind);
    return { ...listOfWindow(board, { uid: window, startsAtMs: null, endsAtMs: null }, GLOBAL_SCOPE), edition: uid };
  };
  /** `rank player/run score` of the newest edition of a kind. */
  const shown = async (board: Board, kind: string): Promise<string[]> => {
    const page = await ranks.page(await listOf(board, kind), 0, 9, 'ordinal');
    return page.entries.map(({ rank, playerId, entryId, score }) => `${rank} ${playerId}/${entryId} ${score}`);
  };
  const season = async (): Promise<Board> => {
    const board = await node.put({ ...PER_RUN, windows: ['alltime', SEASON] });
    for (const [id, player, score] of [
      ['a1', 'ada', 10],
      ['a2', 'ada', 20],
      ['a3', 'ada', 30],
      ['b1', 'bob', 15],
    ] as const)
      await submit(board, id, player, score);
    return board;
  };

  it('show in frozen standings the best of what was accepted before the freeze, whatever is voided after it', async () => {
    const board = await season();
    await clock.stopAt(NOON + 2 * HOUR + 1000);
    await submit(board, 'a4', 'ada', 25);
    expect(await standing(board, 'season:s1')).toEqual(['a3 30', 'a4 25', 'b1 15']);
    await node.recorder.keepFrozen(ALWAYS);
    expect(await shown(board, 'frozen')).toEqual(['1 ada/a3 30', '2 ada/a2 20', '3 bob/b1 15']);

    await node.void(board, 'a3');
    expect(await standing(board, 'season:s1')).toEqual(['a4 25', 'a2 20', 'b1 15']);
    expect(await revise()).toBe(1);
    // A run comes in that stood nowhere since.
    expect(await shown(board, 'frozen')).toEqual(['1 ada/a2 20', '2 bob/b1 15', '3 ada/a1 10']);

    const ban = { kind: 'ban', reason: 'a test', publicReason: null, untilMs: null, boards: null } as const;
    await sanctions.put('ada', ban, 'mod');
    expect(await revise()).toBe(1);
    expect(await shown(board, 'frozen')).toEqual(['1 bob/b1 15']);
    expect(await standingRanked(board)).toEqual(['b1']);
    await sanctions.lift('ada', { actor: 'mod', reason: 'a test' });
    expect(await revise()).toBe(1);
    expect(await shown(board, 'frozen')).toEqual(['1 ada/a2 20', '2 bob/b1 15', '3 ada/a1 10']);
    await node.restore(board, 'a3');
    expect(await revise()).toBe(1);
    expect(await shown(board, 'frozen')).toEqual(['1 ada/a3 30', '2 ada/a2 20', '3 bob/b1 15']);
    expect(await standingRanked(board)).toEqual(['a3', 'a4', 'b1']);
  });

  const standingRanked = async (board: Board): Promise<string[]> => {
    const rows = await node.database.query<{ key: string }>(
      `SELECT player_id AS key FROM ranked_entries WHERE window_uid = $1 ORDER BY score DESC`,
      [await node.windowUid(board, 'season:s1')],
    );
    return rows.map(({ key }) => entryOfKey(key).entryId!);
  };

  it('stand in final standings and their later editions, where players are found by their best', async () => {
    const board = await season();
    await clock.stopAt(NOON + 5 * HOUR);
    await node.closer.run(ALWAYS);
    await node.closer.run(ALWAYS);
    expect(await shown(board, 'final')).toEqual(['1 ada/a3 30', '2 ada/a2 20', '3 bob/b1 15']);
    await node.void(board, 'a2');
    expect(await revise()).toBe(1);
    expect(await shown(board, 'final')).toEqual(['1 ada/a3 30', '2 bob/b1 15', '3 ada/a1 10']);
    const list = await listOf(board, 'final');
    const { entry, entries, neighbours } = await ranks.player(list, 'ada', 0, 1, 'ordinal');
    expect(entry).toMatchObject({ rank: 1, playerId: 'ada', entryId: 'a3' });
    expect(entries!.map(({ rank, entryId }) => [rank, entryId])).toEqual([
      [1, 'a3'],
      [3, 'a1'],
    ]);
    expect(neighbours.map(({ entryId }) => entryId)).toEqual(['a3', 'b1']);
    const looked = await ranks.lookup(list, ['bob', 'cy', 'ada'], 'ordinal');
    expect(looked.entries.map((one) => one?.entryId ?? null)).toEqual(['b1', null, 'a3']);
    const [run] = await node.database.query<{ verified: boolean }>(
      `SELECT verified FROM standings WHERE edition_uid = $1 AND ordinal = 1`,
      [(await node.editions(await node.windowUid(board, 'season:s1'))).find(({ kind }) => kind === 'final')!.uid],
    );
    expect(run).toEqual({ verified: false });
  });

  it('are trimmed one by one, and a void may bring back what a limit removed', async () => {
    const limits = { ...(await node.put({})).definition.limits, entriesMax: 3 };
    const board = await node.put({ ...PER_RUN, limits });
    for (const [id, player, score] of [
      ['l1', 'lea', 1],
      ['l2', 'lea', 9],
      ['m1', 'max', 8],
      ['n1', 'ned', 7],
    ] as const)
      await submit(board, id, player, score);
    expect(await node.limit(board)).toBe(1);
    expect(await standing(board)).toEqual(['l2 9', 'm1 8', 'n1 7']);
    expect((await node.runsOf(board)).map(({ kind }) => kind)).not.toContain('trim');
    const removed = (await node.changes(board)).at(-1)!;
    expect(removed).toMatchObject({ playerId: 'lea', changes: [{ entryId: 'l1', entry: null }] });
    await node.void(board, 'l2');
    expect(await standing(board)).toEqual(['m1 8', 'n1 7', 'l1 1']);
  });

  it.each<[string, (board: Board) => Promise<unknown>]>([
    ['a run is verified', (board) => node.acts.verify(node.actOn(board, 'l2'), true)],
    ['one that never counted is voided', (board) => node.void(board, 'l3')],
  ])('that were trimmed stay away when %s, also from final standings', async (_, act) => {
    const limits = { ...(await node.put({})).definition.limits, entriesMax: 3 };
    const integrity = { jump: null, rate: null, cluster: null, rules: [], holdAbove: 100 };
    const board = await node.put({
      ...PER_RUN,
      entriesPerPlayerMax: 9,
      limits,
      integrity,
      windows: ['alltime', SEASON],
    });
    for (const [id, player, score] of [
      ['l1', 'lea', 1],
      ['l2', 'lea', 9],
      ['l3', 'lea', 200],
      ['m1', 'max', 8],
      ['n1', 'ned', 7],
    ] as const)
      await submit(board, id, player, score);
    expect(await node.limit(board)).toBe(2);
    await clock.stopAt(NOON + 5 * HOUR);
    await node.closer.run(ALWAYS);
    await node.closer.run(ALWAYS);
    const before = (await node.changes(board)).length;
    expect(await act(board)).toMatchObject({ changed: true });
    expect(await standing(board)).toEqual(['l2 9', 'm1 8', 'n1 7']);
    expect(await node.changes(board)).toHaveLength(before);
    expect(await revise()).toBe(0);
    expect(await shown(board, 'final')).toEqual(['1 lea/l2 9', '2 max/m1 8', '3 ned/n1 7']);
  });

  it('are told again in the log with those that were pushed out, for who missed them', async () => {
    const board = await node.put(PER_RUN);
    for (const [id, score] of [
      ['o1', 1],
      ['o2', 2],
      ['o3', 3],
    ] as const)
      await submit(board, id, 'oda', score);
    const republisher = new StateRepublisher(node.work, undefined as never);
    const windowUids = [await node.windowUid(board, 'alltime')];
    await republisher.emitPlayer('oda', { boardUid: board.uid, windowUids, entryIds: ['o3', 'o1'] });
    const again: EntryChanged = (await node.changes(board)).at(-1)!;
    expect(again.playerId).toBe('oda');
    const told = again.changes.map(({ entryId, entry }) => [entryId, entry && entry.score]);
    expect(told.sort()).toEqual([
      ['o1', null],
      ['o2', 2],
      ['o3', 3],
    ]);
  });

  it('keep their ids as long as they stand, also once their runs are not kept any more', async () => {
    const board = await node.put(PER_RUN);
    await submit(board, 'p1', 'pia', 5);
    const ids = new SubmissionPruner(node.database, { SUBMISSION_ID_DAYS: 7 } as never);
    for (let day = 1; day <= 40; day += 3) {
      await clock.stopAt(NOON + day * DAY);
      await node.oldRuns.run(ALWAYS);
      await ids.prune(ALWAYS);
    }
    expect(await node.runsOf(board)).toEqual([]);
    const again = await node.submit(board, 'pia', 5, { submissionId: 'p1' });
    expect(again.replayed).toBe(true);
    expect(await submit(board, 'p2', 'pia', 6)).toBe('created');
    expect(await submit(board, 'p3', 'pia', 7)).toBe('created');
    expect(await standing(board)).toEqual(['p3 7', 'p2 6']);
    await node.void(board, 'p3');
    expect(await standing(board)).toEqual(['p2 6', 'p1 5']);
    await expect(node.void(board, 'p1')).rejects.toMatchObject({ code: 'RUN_GONE' });
  });

  it('as one of each player, in frozen standings, follow a void that changes nothing since', async () => {
    const board = await node.put({ operator: 'best', runs: { keepDays: 7 }, windows: ['alltime', SEASON] });
    await submit(board, 'q1', 'quinn', 10);
    await submit(board, 'q2', 'quinn', 20);
    await clock.stopAt(NOON + 2 * HOUR + 1000);
    await submit(board, 'q3', 'quinn', 30);
    await node.recorder.keepFrozen(ALWAYS);
    await node.void(board, 'q2');
    expect(await standing(board, 'season:s1')).toEqual(['quinn 30']);
    expect(await revise()).toBe(1);
    const page = await new StandingsRanks(new StandingsReader(node.database)).page(
      await listOf(board, 'frozen'),
      0,
      9,
      'ordinal',
    );
    expect(page.entries.map(({ playerId, score }) => `${playerId} ${score}`)).toEqual(['quinn 10']);
  });
});
