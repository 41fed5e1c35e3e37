// Real: PostgreSQL with the ledger's schema, the handler with all it finds boards and windows by. The ranks are a port
// that says what the tests want, and fails where they want.
import { NO_EXTENSIONS } from '@laddercast/extension';
import { LadderError, type Board, type BoardDefinition } from '@laddercast/domain';
import { EditionCatalog, StandingsReader, type BoardTemplates } from '@laddercast/ledger';
import {
  AnsweredVersions,
  RankReadings,
  StandingsRanks,
  type ProjectedEntry,
  type RankList,
} from '@laddercast/projections';
import {
  EntryDetails,
  GetStandingsHandler,
  GetStandingsQuery,
  ListReader,
  OwnWorlds,
  PlayerCounts,
  RetaxProgress,
  ListResolver,
  SnapshotCache,
  type StandingsPage,
  RunEntryKeys,
} from '@laddercast/queries';
import { createTestDatabase, type TestDatabase } from '@laddercast/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { TimeNode } from '../nodes/time-node.js';

const unused = (): never => {
  throw new Error('Nothing but lookups is asked for here.');
};
const ENTRY: ProjectedEntry = { rank: 2, playerId: 'ada', score: 5, columns: [], achievedAtMs: 1000 };
const away = (): Error => new LadderError('PROJECTION_UNAVAILABLE', 'Redis does not answer.');

/** Everybody is second of three everywhere, but on boards whose shards are away. */
class Ranks extends RankReadings {
  readonly away = new Map<number, Error>();
  underWay = 0;
  mostUnderWay = 0;
  lookups = 0;

  override page = unused;
  override player = unused;
  override rankOfKey = unused;
  override total = unused;

  override async lookup(list: RankList): Promise<{ total: number; listVersion: number; entries: [ProjectedEntry] }> {
    this.lookups += 1;
    this.underWay += 1;
    this.mostUnderWay = Math.max(this.mostUnderWay, this.underWay);
    await new Promise((resolve) => setTimeout(resolve, 1));
    this.underWay -= 1;
    const failure = this.away.get(list.boardUid);
    if (failure) throw failure;
    return { total: 3, listVersion: 7, entries: [ENTRY] };
  }
}

describe('the standings of a player', () => {
  let testDatabase: TestDatabase;
  let node: TimeNode;
  let handler: GetStandingsHandler;
  let ranks: Ranks;
  const boards: Board[] = [];

  const make = async (id: string, definition: Partial<BoardDefinition> = {}): Promise<Board> => {
    const board = await node.put({ windows: ['alltime', 'daily'], ...definition }, id);
    await node.submit(board, 'ada', 1);
    return board;
  };

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    node = new TimeNode(testDatabase.url);
    await node.start();
    for (const id of ['a', 'b', 'c']) boards.push(await make(id));
  });
  afterAll(async () => {
    await node.stop();
    await testDatabase.drop();
  });
  beforeEach(() => {
    ranks = new Ranks();
    const { boards: catalog, windows, scopes, database } = node;
    const editions = new EditionCatalog(database);
    const reads = new StandingsReader(database);
    const standings = new StandingsRanks(reads);
    const keys = new RunEntryKeys(database, reads);
    const resolver = new ListResolver(catalog, windows, scopes, editions, ranks, standings, keys);
    const details = new EntryDetails(database, NO_EXTENSIONS);
    const reader = new ListReader(
      resolver,
      details,
      undefined as unknown as SnapshotCache,
      new AnsweredVersions(),
      new OwnWorlds(database),
      undefined as unknown as PlayerCounts,
      undefined as unknown as RetaxProgress,
    );
    const templates = undefined as unknown as BoardTemplates;
    handler = new GetStandingsHandler(catalog, windows, resolver, reader, templates);
  });

  const page = (limit = 100): Promise<StandingsPage> =>
    handler.execute(
      new GetStandingsQuery('ada', {}, limit, undefined, { seesPrivateBoards: true, unlistedShown: 'all' }),
    );
  const boardsOf = ({ standings }: StandingsPage): string[] => standings.map(({ board }) => board);

  it('leave out a board that cannot be read, whole, and name it', async () => {
    expect(boardsOf(await page())).toEqual(['a', 'a', 'b', 'b', 'c', 'c']);
    ranks.away.set(boards[1]!.uid, away());
    const { unavailable, ...rest } = await page();
    expect(unavailable).toEqual(['b']);
    expect(boardsOf({ unavailable, ...rest })).toEqual(['a', 'a', 'c', 'c']);
  });

  it('fail when no board can be read, and are not silent about what is broken', async () => {
    for (const { uid } of boards) ranks.away.set(uid, away());
    await expect(page()).rejects.toMatchObject({ code: 'PROJECTION_UNAVAILABLE' });
    ranks.away.set(boards[0]!.uid, new TypeError('a fault of ours'));
    await expect(page()).rejects.toThrow('a fault of ours');
  });

  it('make no window by asking, and see one that another process made', async () => {
    const definition = { windows: ['alltime' as const] };
    const board = await node.put(definition, 'unused');
    const windowsMade = async (): Promise<number> => (await node.windows.ofBoard(board.uid)).length;
    expect(boardsOf(await page())).not.toContain('unused');
    expect(await windowsMade()).toBe(0);
    const other = new TimeNode(testDatabase.url);
    await other.start();
    await other.submit(board, 'ada', 1);
    await other.stop();
    expect(boardsOf(await page())).toContain('unused');
  });

  it('read a bounded number of lists side by side', async () => {
    for (let i = 0; i < 40; i += 1) await make(`many-${String(i).padStart(2, '0')}`);
    ranks.mostUnderWay = ranks.lookups = 0;
    expect((await page(500)).standings).toHaveLength(ranks.lookups);
    expect(ranks.lookups).toBeGreaterThan(80);
    expect(ranks.mostUnderWay).toBe(64);
    ranks.lookups = 0;
    expect(await page(2)).toMatchObject({ next: 'b' });
    expect(ranks.lookups).toBe(4);
  });
});
