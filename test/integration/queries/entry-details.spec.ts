// Real: PostgreSQL with its players, guilds and standings; the ranks are given by hand.
import { GUILDS_SCOPE, withBoardDefaults, type Board, type StoredWindow } from '@laddercast/domain';
import { EntryEnricher, type PlayerDecoration, NO_EXTENSIONS } from '@laddercast/extension';
import { NO_PROFILE, type SqlRunner } from '@laddercast/ledger';
import { rankListOf, type ProjectedEntry, type RankReadings } from '@laddercast/projections';
import { EntryDetails, type ResolvedList } from '@laddercast/queries';
import { createTestDatabase, type TestDatabase } from '@laddercast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { submissionOf } from '../nodes/ledger-node.js';
import { PeopleNode } from '../nodes/people-node.js';

/** Knows one name, and counts how often it is asked. */
class Names extends EntryEnricher {
  asked = 0;

  constructor(private readonly names: Record<string, string>) {
    super();
  }

  decorate(playerIds: readonly string[]): Promise<ReadonlyMap<string, PlayerDecoration>> {
    this.asked += 1;
    const known = playerIds.filter((id) => id in this.names);
    return Promise.resolve(new Map(known.map((id) => [id, { displayName: this.names[id]! }])));
  }
}

describe('what a row shows beside its rank', () => {
  let testDatabase: TestDatabase;
  let node: PeopleNode;
  let board: Board;
  let window: StoredWindow;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    node = new PeopleNode(testDatabase.url);
    await node.start();
    const columns = [{ name: 'moves', order: 'asc' as const }];
    const scopes = ['global' as const, 'guild' as const];
    board = (await node.registry.put('b', withBoardDefaults({ order: 'desc', operator: 'best', columns, scopes })))
      .board;
    for (const [index, playerId] of ['ada', 'bob', 'cy'].entries()) {
      const metadata = JSON.stringify({ of: playerId });
      await node.ledger.write(submissionOf(board, playerId, 30 - 10 * index, { columns: [index], metadata }));
    }
    window = (await node.windows.ofBoard(board.uid))[0]!;
  });
  afterAll(async () => {
    await node.stop();
    await testDatabase.drop();
  });

  const put = (playerId: string, profile: object) => node.players.put(playerId, { ...NO_PROFILE, ...profile });
  const listOf = (scope: number, edition: number | null = null): ResolvedList => ({
    board,
    window,
    scope: scope === GUILDS_SCOPE ? 'guilds' : 'global',
    list: { ...rankListOf(board, window.uid, scope), ...(edition !== null && { edition }) },
    ranks: {} as RankReadings,
    atMs: Date.now(),
    edition:
      edition === null
        ? null
        : { uid: edition, windowUid: window.uid, kind: 'final', asOfMs: 0, version: 1, number: 1 },
  });
  const entries = (...ids: string[]): ProjectedEntry[] =>
    ids.map((playerId, index) => ({
      rank: index + 1,
      playerId,
      score: 30 - 10 * ['ada', 'bob', 'cy'].indexOf(playerId),
      columns: [index],
      achievedAtMs: null,
    }));
  const detailsOn = (sql: SqlRunner = node.database, enricher: EntryEnricher | null = null) =>
    new EntryDetails(sql, { ...NO_EXTENSIONS, enricher });
  const idsOf = (rows: { rank: number; playerId: string }[]) => rows.map(({ rank, playerId }) => [rank, playerId]);

  it('are the name, the columns by name, and time and metadata of the run', async () => {
    await put('ada', { displayName: 'Ada' });
    const [ada, bob] = await detailsOn().complete(listOf(0), entries('ada', 'bob'));
    expect(ada).toEqual({
      rank: 1,
      playerId: 'ada',
      displayName: 'Ada',
      score: 30,
      columns: { moves: 0 },
      achievedAt: expect.stringMatching(/^\d{4}-.*Z$/) as string,
      metadata: { of: 'ada' },
    });
    expect(bob).toMatchObject({ displayName: null, metadata: { of: 'bob' } });
  });

  it('is the name that a team’s enricher knows, before the player’s own', async () => {
    await put('ada', { displayName: 'Ada' });
    await put('bob', { displayName: 'Bob' });
    const names = new Names({ ada: 'Countess' });
    const details = detailsOn(node.database, names);
    const rows = await details.complete(listOf(0), entries('ada', 'bob', 'cy'));
    expect(rows.map(({ displayName }) => displayName)).toEqual(['Countess', 'Bob', null]);
    await details.complete(listOf(0), entries('ada', 'bob', 'cy'));
    expect(names.asked).toBe(1);
  });

  it('is nothing for players who are not listed: the rows of others keep their ranks', async () => {
    await put('bob', { listed: false });
    const details = detailsOn();
    const shown = async (options = {}) =>
      idsOf(await details.complete(listOf(0), entries('ada', 'bob', 'cy'), options));
    expect(await shown()).toEqual([
      [1, 'ada'],
      [3, 'cy'],
    ]);
    const all = [
      [1, 'ada'],
      [2, 'bob'],
      [3, 'cy'],
    ];
    expect(await shown({ including: ['bob'] })).toEqual(all);
    expect(await shown({ including: 'all' })).toEqual(all);
    expect(await shown({ including: ['all'] })).toHaveLength(2);
    await put('bob', {});
    details.forget(['bob'], false);
    expect(await shown()).toEqual(all);
  });

  it('is asked for once in a second, and at once after it was told that it changed', async () => {
    await put('cy', { displayName: 'Cy' });
    const details = detailsOn();
    const name = async () => (await details.complete(listOf(0), entries('cy')))[0]!.displayName;
    expect(await name()).toBe('Cy');
    await put('cy', { displayName: 'Cyd' });
    expect(await name()).toBe('Cy');
    details.forget(['someone else'], false);
    expect(await name()).toBe('Cy');
    details.forget(['cy'], true);
    expect(await name()).toBe('Cy');
    details.forget(['cy'], false);
    expect(await name()).toBe('Cyd');
    await put('cy', { displayName: 'Cyril' });
    details.forget(null, false);
    expect(await name()).toBe('Cyril');
  });

  it('is not remembered when it was asked for before it was told that it changed', async () => {
    await put('cy', { displayName: 'Old' });
    let answered = (): void => undefined;
    let held: Promise<void> | null = new Promise((resolve) => (answered = resolve));
    const details = detailsOn({
      query: async <Row>(sql: string, values?: unknown[]): Promise<Row[]> => {
        const rows = await node.database.query<Row>(sql, values);
        if (sql.includes('display_name')) await held;
        return rows;
      },
    });
    const name = async () => (await details.complete(listOf(0), entries('cy')))[0]!.displayName;
    const first = name();
    await new Promise((resolve) => setTimeout(resolve, 50));
    await put('cy', { displayName: 'New' });
    details.forget(['cy'], false);
    answered();
    held = null;
    expect(await first).toBe('Old');
    expect(await name()).toBe('New');
  });

  describe('on a board whose runs bring no metadata', () => {
    const runs = { rank: 1, playerId: 'ada', score: 5, columns: [] };
    const asked: string[] = [];
    const counting: SqlRunner = {
      query: <Row>(sql: string, values?: unknown[]) => {
        asked.push(sql);
        return node.database.query<Row>(sql, values);
      },
    };
    const askedOf = (table: string) => asked.filter((sql) => sql.includes(`FROM ${table}`)).length;
    let bare: ResolvedList;

    beforeAll(async () => {
      const { board: other } = await node.registry.put(
        'bare',
        withBoardDefaults({ order: 'desc', operator: 'latest' }),
      );
      await node.ledger.write(submissionOf(other, 'ada', 5));
      const [alltime] = await node.windows.ofBoard(other.uid);
      bare = { ...listOf(0), board: other, window: alltime!, list: rankListOf(other, alltime!.uid, 0) };
    });

    const rowsAt = (details: EntryDetails, listVersion: number | null, achievedAtMs: number) =>
      details.complete(bare, [{ ...runs, achievedAtMs }], { read: { listVersion, beganAtMs: performance.now() } });

    it('is nothing that an entry is asked for: each version of the list once for all', async () => {
      const details = detailsOn(counting);
      asked.length = 0;
      expect(await rowsAt(details, 1, 1000)).toMatchObject([
        { achievedAt: '1970-01-01T00:00:01.000Z', metadata: null },
      ]);
      expect(askedOf('metadata_boards')).toBe(1);
      await rowsAt(details, 1, 1000);
      await rowsAt(details, 2, 1000);
      expect(askedOf('metadata_boards')).toBe(2);
      expect(askedOf('entries')).toBe(0);
    });

    it('is asked for where the reading began before it was known, and where nothing is said of it', async () => {
      const details = detailsOn(counting);
      const beganAtMs = performance.now();
      await rowsAt(details, 1, 1000);
      asked.length = 0;
      await details.complete(bare, [{ ...runs, achievedAtMs: 1000 }], { read: { listVersion: 1, beganAtMs } });
      expect(askedOf('metadata_boards')).toBe(1);
      await details.complete(bare, [{ ...runs, achievedAtMs: 1000 }]);
      expect(askedOf('entries')).toBe(1);
    });

    it('is asked for with every reading that does not know its version, and says nothing of others', async () => {
      const details = detailsOn(counting);
      asked.length = 0;
      await rowsAt(details, null, 1000);
      await rowsAt(details, null, 1000);
      await rowsAt(details, 1, 1000);
      expect(askedOf('metadata_boards')).toBe(3);
      expect(askedOf('entries')).toBe(0);
    });

    it('is what is known, and partial, where PostgreSQL hangs', async () => {
      const details = detailsOn({ query: () => new Promise(() => undefined) });
      const read = { listVersion: 1, beganAtMs: performance.now() };
      const found = await details.completeOrPartial(bare, [{ ...runs, achievedAtMs: 1000 }], { read });
      expect(found).toMatchObject({ partial: true, entries: [{ playerId: 'ada', score: 5 }] });
    });

    it('is the metadata of the first run that brings some, from the version on that has it', async () => {
      const details = detailsOn();
      expect(await rowsAt(details, 1, 1000)).toMatchObject([{ metadata: null }]);
      const metadata = JSON.stringify({ replay: 'r1' });
      await node.ledger.write(submissionOf(bare.board, 'ada', 5, { metadata }));
      const [row] = await node.database.query<{ at: number }>(
        `SELECT achieved_at_ms AS at FROM entries WHERE window_uid = $1 AND player_id = 'ada'`,
        [bare.window.uid],
      );
      expect(await rowsAt(details, 2, row!.at)).toMatchObject([{ metadata: { replay: 'r1' } }]);
    });
  });

  it('is no name where there are no profiles at all, and the first one at once', async () => {
    await node.database.query('DELETE FROM players');
    const asked: string[] = [];
    const details = detailsOn({
      query: <Row>(sql: string, values?: unknown[]) => {
        asked.push(sql);
        return node.database.query<Row>(sql, values);
      },
    });
    const name = async () => (await details.complete(listOf(0), entries('cy')))[0]!.displayName;
    expect(await name()).toBe(null);
    expect(await name()).toBe(null);
    expect(asked.filter((sql) => sql.includes('display_name'))).toEqual([]);
    const askedForAny = () => asked.filter((sql) => sql.includes('FROM players')).length;
    expect(askedForAny()).toBe(2);
    const profiles = details.ahead(listOf(0));
    await details.complete(listOf(0), entries('cy'), { profiles });
    expect(askedForAny()).toBe(3);
    await put('cy', { displayName: 'Cy' });
    expect(await name()).toBe('Cy');
  });

  it('is what was known while PostgreSQL is away, and said to be partial', async () => {
    await put('ada', { displayName: 'Ada' });
    await put('bob', { listed: false });
    let isAway = false;
    const details = detailsOn({
      query: <Row>(sql: string, values?: unknown[]): Promise<Row[]> =>
        isAway && sql.includes('FROM players')
          ? Promise.reject(new Error('away'))
          : node.database.query<Row>(sql, values),
    });
    await details.complete(listOf(0), entries('ada', 'bob'));
    isAway = true;
    details.forget(null, false);
    const { entries: rows, partial } = await details.completeOrPartial(listOf(0), entries('ada', 'bob', 'cy'));
    expect(partial).toBe(true);
    expect(rows.map(({ playerId, displayName }) => [playerId, displayName])).toEqual([
      ['ada', 'Ada'],
      ['cy', null],
    ]);
    await put('bob', {});
  });

  it('is, on the list of guilds, the guild’s name and how many members count, as of now', async () => {
    await node.guilds.put('ada', 'The Adas');
    await node.guilds.join('ada', 'cy');
    const targets = [{ windowUid: window.uid, guildId: 'ada' }];
    await node.totals.recompute(targets);
    const details = detailsOn();
    const total = [{ rank: 1, playerId: 'ada', score: 10, columns: [], achievedAtMs: null }];
    const guild = async () => (await details.complete(listOf(GUILDS_SCOPE), total))[0];
    expect(await guild()).toMatchObject({ displayName: 'The Adas', columns: {}, metadata: { members: 1 } });
    // Another member changes neither the score nor, on some boards, the time.
    await node.database.query(`UPDATE guild_totals SET members = 2`);
    expect(await guild()).toMatchObject({ metadata: { members: 2 } });
  });

  it('is, in written standings, what they kept, whatever became of the entry', async () => {
    const [edition] = await node.database.query<{ uid: number }>(
      `INSERT INTO editions (window_uid, kind, as_of, version) VALUES ($1, 'final', ladder_now(), 1) RETURNING edition_uid AS uid`,
      [window.uid],
    );
    await node.database.query(
      `INSERT INTO standings (edition_uid, scope_uid, ordinal, competition, dense, player_id, score, columns,
         achieved_at_ms, metadata, scopes, members)
       VALUES ($1, 0, 1, 1, 1, 'ada', 30, '{0}', 86400000, '{"then":true}', '{}', NULL),
         ($1, 1, 1, 1, 1, 'ada', 99, '{}', 172800000, NULL, '{}', 7)`,
      [edition!.uid],
    );
    const details = detailsOn();
    const [ada] = await details.complete(listOf(0, edition!.uid), entries('ada'));
    expect(ada).toMatchObject({
      achievedAt: '1970-01-02T00:00:00.000Z',
      metadata: { then: true },
      columns: { moves: 0 },
    });
    const total = [{ rank: 1, playerId: 'ada', score: 99, columns: [], achievedAtMs: 172_800_000 }];
    const [guild] = await details.complete(listOf(GUILDS_SCOPE, edition!.uid), total);
    expect(guild).toMatchObject({ displayName: 'The Adas', metadata: { members: 7 } });
  });
});
