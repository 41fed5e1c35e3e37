// Real: PostgreSQL with the ledger, its patches, windows and standings; its clock is in the test's hands.
import { type Board, type BoardDefinition } from '@laddercast/domain';
import { EditionCatalog, PatchRegistry, StandingsReader, StandingsRecorder } from '@laddercast/ledger';
import { RankReadings, StandingsRanks } from '@laddercast/projections';
import { ListResolver, RunEntryKeys } from '@laddercast/queries';
import { createTestDatabase, DatabaseClock, type TestDatabase } from '@laddercast/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { TimeNode, waitingBackend } from '../nodes/time-node.js';

const NOON_MS = Date.parse('2026-03-01T12:00:00Z');
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const running = new AbortController().signal;

const unused = (): never => {
  throw new Error('Nothing is read here.');
};

/** Standings alone are read. */
class Projection extends RankReadings {
  override page = unused;
  override player = unused;
  override lookup = unused;
  override rankOfKey = unused;
  override total = unused;
}

describe('the standings of a board with decay', () => {
  let testDatabase: TestDatabase;
  let node: TimeNode;
  let clock: DatabaseClock;
  let resolver: ListResolver;
  let family: string;
  let families = 0;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    node = new TimeNode(testDatabase.url);
    await node.start();
    clock = await DatabaseClock.of(testDatabase.url);
    const { boards, windows, scopes, database } = node;
    const reader = new StandingsReader(database);
    const [editions, keys] = [new EditionCatalog(database), new RunEntryKeys(database, reader)];
    const standings = new StandingsRanks(reader);
    resolver = new ListResolver(boards, windows, scopes, editions, new Projection(), standings, keys);
  });
  beforeEach(async () => {
    family = `f${(families += 1)}`;
    await clock.stopAt(NOON_MS);
    await publish('1', NOON_MS - 2 * HOUR_MS);
    await publish('2', NOON_MS - HOUR_MS);
  });
  afterAll(async () => {
    await clock.close();
    await node.stop();
    await testDatabase.drop();
  });

  const publish = async (id: string, publishedAtMs: number | null = null, lanes = node.allLanes): Promise<void> => {
    const definition = { publishedAtMs, sameAs: null, title: null };
    await new PatchRegistry(node.database, node.lanes, lanes).put(id, family, definition, {}, 'ops');
  };
  const makeBoard = (more: Partial<BoardDefinition>): Promise<Board> =>
    node.put({
      ...{ order: 'asc', operator: 'best', decay: { family, perPatch: 0.1 } },
      ...more,
    });
  const keepSnapshots = (): Promise<void> =>
    new StandingsRecorder(node.database, node.lanes, node.failures).keepSnapshots(running);
  const submit = async (board: Board, playerId: string, score: number, id: string): Promise<void> => {
    await node.boards.refresh();
    const patch = node.boards.byId(board.id)!.patches!.published[id]!;
    await node.submit(board, playerId, score, { patch });
  };

  it('that are kept while a patch is published are read under the tax that they were written under', async () => {
    const board = await makeBoard({ snapshot: { top: 10, keepEveryMinutes: 5, keepDays: 1 } });
    await submit(board, 'ada', 100, '1');
    let commit = (): void => undefined;
    let decided = (): void => undefined;
    const committed = new Promise<void>((resolve) => (commit = resolve));
    const isDecided = new Promise<void>((resolve) => (decided = resolve));
    const slow: Pick<typeof node.allLanes, 'change'> = {
      change: (work) =>
        node.allLanes.change(async (transaction) => {
          const result = await work(transaction);
          decided();
          await committed;
          return result;
        }),
    };
    const publishing = publish('3', null, slow as typeof node.allLanes);
    await isDecided;
    await clock.stopAt(NOON_MS + MINUTE_MS);
    const keeping = keepSnapshots();
    await waitingBackend(node, 'ladder_take_lane');
    commit();
    await Promise.all([publishing, keeping]);
    await clock.stopAt(NOON_MS + 2 * MINUTE_MS);
    await node.boards.refresh();
    expect(await node.linesOf(await node.windowUid(board, 'alltime'), 'kept')).toEqual(['ada 110']);
    const kept = await resolver.resolve({ boardId: board.id, asOfMs: NOON_MS + MINUTE_MS });
    const { orders, published } = kept.board.patches!;
    expect(orders.map(({ number }) => number)).toEqual([1, 2, 3]);
    expect(kept.list.tax).toEqual({ number: 2, sinceMs: NOON_MS, patches: [published['1']!.uid, published['2']!.uid] });
  });

  it('that are under a tax of which the board has not been told are read a moment later', async () => {
    const board = await makeBoard({ snapshot: { top: 10, keepEveryMinutes: 5, keepDays: 1 } });
    await submit(board, 'ada', 100, '1');
    await publish('3');
    await clock.stopAt(NOON_MS + MINUTE_MS);
    await keepSnapshots();
    await clock.stopAt(NOON_MS + 2 * MINUTE_MS);
    await node.boards.refresh();
    await node.database.query(
      `UPDATE editions SET rules = rules || '{"taxOrder": 4}' WHERE window_uid = $1 AND kind = 'kept'`,
      [await node.windowUid(board, 'alltime')],
    );
    const asked = { boardId: board.id, asOfMs: NOON_MS + MINUTE_MS };
    await expect(resolver.resolve(asked)).rejects.toMatchObject({
      code: 'PROJECTION_BEHIND',
      extensions: { retryAfterSeconds: 1 },
    });
    await publish('4');
    await node.boards.refresh();
    expect((await resolver.resolve(asked)).list.tax).toMatchObject({ number: 4 });
  });

  it('are told beforehand as they will be written, also where a patch came in the grace of the window', async () => {
    const endsAt = new Date(NOON_MS + HOUR_MS).toISOString();
    const season = { season: 's', startsAt: '2026-01-01T00:00:00Z', endsAt };
    const board = await makeBoard({ windows: [season], graceSeconds: 3600 });
    await submit(board, 'ada', 100, '1');
    await submit(board, 'bob', 109, '2');
    await clock.stopAt(NOON_MS + HOUR_MS + MINUTE_MS);
    await publish('3');
    await clock.stopAt(NOON_MS + HOUR_MS + 2 * MINUTE_MS);
    const windowUid = await node.windowUid(board, 'season:s');
    const audit = { actor: 'ops', action: 'window.close', subject: board.id, details: {} };
    const expected = [
      {
        ...{ scope: 'global', total: 2 },
        top: [
          { rank: 1, playerId: 'bob', score: 109 },
          { rank: 2, playerId: 'ada', score: 110 },
        ],
      },
    ];
    expect(await node.closer.closeNow({ windowUid, dryRun: true, audit })).toEqual(expected);
    expect(await node.closer.closeNow({ windowUid, dryRun: false, audit })).toEqual(expected);
  });

  it('of a release that did not say so yet get the tax of their moment, or of the end of their window', async () => {
    const endsAt = new Date(NOON_MS + HOUR_MS).toISOString();
    const season = { season: 's', startsAt: '2026-01-01T00:00:00Z', endsAt };
    const snapshot = { top: 10, keepEveryMinutes: 5, keepDays: 1 };
    const board = await makeBoard({ windows: ['alltime', season], graceSeconds: 0, snapshot });
    await submit(board, 'ada', 100, '1');
    await clock.stopAt(NOON_MS + MINUTE_MS);
    await keepSnapshots();
    await clock.stopAt(NOON_MS + 2 * MINUTE_MS);
    await publish('3');
    await clock.stopAt(NOON_MS + 2 * HOUR_MS);
    await publish('4');
    await clock.stopAt(NOON_MS + 2 * HOUR_MS + MINUTE_MS);
    await node.closer.run(running);
    const untaxed = await node.put({});
    await node.submit(untaxed, 'ada', 1);
    await clock.stopAt(NOON_MS + 3 * HOUR_MS);
    await keepSnapshots();
    const taxes = () =>
      node.database.query(
        `SELECT window_id AS id, e.kind, rules -> 'taxOrder' AS tax FROM editions e JOIN windows USING (window_uid)
         WHERE board_uid IN ($1, $2) ORDER BY as_of, window_id`,
        [board.uid, untaxed.uid],
      );
    const written = await taxes();
    expect(written).toEqual([
      { id: 'alltime', kind: 'kept', tax: 2 },
      { id: 'season:s', kind: 'kept', tax: 2 },
      { id: 'season:s', kind: 'final', tax: 3 },
      { id: 'alltime', kind: 'kept', tax: 4 },
    ]);
    await node.database.query(`UPDATE editions SET rules = rules - 'taxOrder'`);
    await node.database.query(`DELETE FROM ladder_migrations WHERE name LIKE 'TaxOfEditions%'`);
    await node.database.open({ migrate: true });
    expect(await taxes()).toEqual(written);
  });
});
