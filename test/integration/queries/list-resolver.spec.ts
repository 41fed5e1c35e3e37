// Real: PostgreSQL with the ledger's schema; windows and editions are rows that the tests write.
import { setTimeout as sleep } from 'node:timers/promises';
import { GLOBAL_SCOPE, withBoardDefaults, type Board, type BoardDefinition } from '@laddercast/domain';
import { EditionCatalog, StandingsReader } from '@laddercast/ledger';
import { RankReadings, StandingsRanks } from '@laddercast/projections';
import { ListResolver, RunEntryKeys, type ListNames, type ResolvedList } from '@laddercast/queries';
import { createTestDatabase, openTcpProxy, type TcpProxy, type TestDatabase } from '@laddercast/testing';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { LedgerNode } from '../nodes/ledger-node.js';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

const unused = (): never => {
  throw new Error('Nothing is read here.');
};

/** Stands where the projection does: which it is, is all that is looked at. */
class Projection extends RankReadings {
  override page = unused;
  override player = unused;
  override lookup = unused;
  override rankOfKey = unused;
  override total = unused;
}

interface WindowTimes {
  startsAtMs: number;
  endsAtMs: number;
  freezeAtMs?: number;
  state?: 'open' | 'closed' | 'settled';
}

describe('a list is found', () => {
  const projection = new Projection();
  let testDatabase: TestDatabase;
  let node: LedgerNode;
  let resolver: ListResolver;
  let standings: StandingsRanks;
  let keys: RunEntryKeys;
  let boards = 0;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    node = new LedgerNode(testDatabase.url);
    await node.start();
    standings = new StandingsRanks(new StandingsReader(node.database));
    const editions = new EditionCatalog(node.database);
    keys = new RunEntryKeys(node.database, new StandingsReader(node.database));
    resolver = new ListResolver(node.boards, node.windows, node.scopes, editions, projection, standings, keys);
  });
  afterAll(async () => {
    await node.stop();
    await testDatabase.drop();
  });

  /** A board with the season `s`, whose row has these times. */
  async function makeBoard(times: WindowTimes, options: Partial<BoardDefinition> = {}): Promise<Board> {
    const season = {
      season: 's',
      startsAt: new Date(times.startsAtMs).toISOString(),
      endsAt: new Date(times.endsAtMs).toISOString(),
      freezeAt: times.freezeAtMs === undefined ? null : new Date(times.freezeAtMs).toISOString(),
    };
    const definition = withBoardDefaults({ order: 'desc', operator: 'best', windows: [season], ...options });
    const { board } = await node.registry.put(`r${(boards += 1)}`, definition);
    await node.database.query(
      `INSERT INTO windows (board_uid, window_id, kind, starts_at, ends_at, freeze_at, state)
       VALUES ($1, 'season:s', 'season', to_timestamp($2::float8 / 1000), to_timestamp($3::float8 / 1000),
         to_timestamp($4::float8 / 1000), $5)`,
      [board.uid, times.startsAtMs, times.endsAtMs, times.freezeAtMs ?? null, times.state ?? 'open'],
    );
    await node.boards.refresh();
    return board;
  }

  async function addEdition(board: Board, kind: 'final' | 'frozen' | 'kept', asOfMs: number): Promise<number> {
    const [row] = await node.database.query<{ edition_uid: number }>(
      `INSERT INTO editions (window_uid, kind, as_of, version)
       SELECT window_uid, $2, to_timestamp($3::float8 / 1000), 7 FROM windows WHERE board_uid = $1
       RETURNING edition_uid`,
      [board.uid, kind, asOfMs],
    );
    return row!.edition_uid;
  }

  const resolve = (board: Board, names: Partial<ListNames> = {}): Promise<ResolvedList> =>
    resolver.resolve({ boardId: board.id, window: 'season:s', ...names });

  const around = (nowMs: number): { startsAtMs: number; endsAtMs: number } => ({
    startsAtMs: nowMs - MINUTE_MS,
    endsAtMs: nowMs + MINUTE_MS,
  });

  it('in the projection while its window runs', async () => {
    const board = await makeBoard(around(Date.now()));
    const found = await resolve(board);
    expect(found).toMatchObject({ edition: null, window: { id: 'season:s' }, scope: 'global' });
    expect(found.ranks).toBe(projection);
    expect(found.isWithheld).toBeUndefined();
    expect(await resolver.resolve({ boardId: board.id })).toEqual({ ...found, atMs: expect.any(Number) });
  });

  it('in the frozen standings while they hold, by everyone but admins, and nowhere before they are written', async () => {
    const now = Date.now();
    const board = await makeBoard({ ...around(now), freezeAtMs: now - 1000 });
    await expect(resolve(board)).rejects.toMatchObject({
      code: 'PROJECTION_BEHIND',
      extensions: { retryAfterSeconds: 1 },
    });
    const edition = await addEdition(board, 'frozen', now - 1000);
    for (let times = 0; times < 2; times += 1) {
      const found = await resolve(board);
      expect(found).toMatchObject({ edition: { uid: edition, kind: 'frozen' }, list: { edition } });
      expect(found.ranks).toBe(standings);
    }
    const asAdmin = await resolve(board, { isAdmin: true });
    expect(asAdmin).toMatchObject({ edition: null, isWithheld: true });
    expect(asAdmin.ranks).toBe(projection);
    const byRef = await resolver.byRef({ boardUid: board.uid, windowUid: asAdmin.window.uid, scope: 0 });
    expect(byRef!.edition!.uid).toBe(edition);
  });

  it('in the frozen standings that are there, under every definition that is put beside', async () => {
    const now = Date.now();
    const board = await makeBoard({ ...around(now), freezeAtMs: now - 2000 });
    // Only the windows of a board with entries stay where they are.
    await node.database.query(
      `INSERT INTO entries (window_uid, board_uid, player_id, lane, version, removed, score, columns, achieved_at_ms)
       SELECT window_uid, board_uid, 'ada', 0, 1, false, 1, '{}', $2 FROM windows WHERE board_uid = $1`,
      [board.uid, now],
    );
    const before = await addEdition(board, 'frozen', now - 2000);
    expect((await resolve(board)).edition!.uid).toBe(before);
    await node.registry.put(board.id, { ...board.definition, title: 'Another' });
    await node.boards.refresh();
    expect((await resolve(board)).board.definition.title).toBe('Another');
    expect((await resolve(board)).edition!.uid).toBe(before);
  });

  it('in the projection after the end for as long as that keeps it, and then in the final standings', async () => {
    const now = Date.now();
    const ended = { startsAtMs: now - 3 * MINUTE_MS, endsAtMs: now - MINUTE_MS };
    const kept = await makeBoard({ ...ended, state: 'settled' }, { graceSeconds: 0, keepEndedSeconds: 600 });
    const edition = await addEdition(kept, 'final', now - MINUTE_MS);
    expect((await resolve(kept)).ranks).toBe(projection);
    const names = { boardId: kept.id, window: 'season:s' };
    expect((await resolver.resolve(names, { prefersStandings: true })).edition!.uid).toBe(edition);

    const gone = await makeBoard({ ...ended, state: 'closed' }, { graceSeconds: 0, keepEndedSeconds: 30 });
    await expect(resolve(gone)).rejects.toMatchObject({ code: 'PROJECTION_BEHIND' });
    const final = await addEdition(gone, 'final', now - MINUTE_MS);
    expect(await resolve(gone)).toMatchObject({ edition: { uid: final, kind: 'final' } });
  });

  it('no more once its standings are older than the board keeps them', async () => {
    const now = Date.now();
    const ended = { startsAtMs: now - 4 * DAY_MS, endsAtMs: now - 3 * DAY_MS, state: 'settled' as const };
    const board = await makeBoard(ended, { keepEndedSeconds: 60, retention: { standingsDays: 2 } });
    const gone = { code: 'SNAPSHOT_GONE', detail: expect.stringContaining('2 days') as string };
    await expect(resolve(board)).rejects.toMatchObject(gone);
    await addEdition(board, 'final', now - 3 * DAY_MS);
    await expect(resolve(board)).rejects.toMatchObject(gone);
    const kept = await makeBoard(ended, { keepEndedSeconds: 60, retention: { standingsDays: 4 } });
    const edition = await addEdition(kept, 'final', now - 3 * DAY_MS);
    expect((await resolve(kept)).edition!.uid).toBe(edition);
  });

  it('as it stood at the last moment before that was kept', async () => {
    const now = Date.now();
    const snapshot = { top: 10, keepEveryMinutes: 5, keepDays: 2 };
    const times = { startsAtMs: now - 9 * DAY_MS, endsAtMs: now + DAY_MS };
    const board = await makeBoard(times, { snapshot });
    const gone = { code: 'SNAPSHOT_GONE', detail: expect.stringContaining('every 5 minutes, for 2 days') as string };
    await expect(resolve(board, { asOfMs: now - 1000 })).rejects.toMatchObject(gone);
    await addEdition(board, 'kept', now - 3 * DAY_MS);
    const [first, second] = [
      await addEdition(board, 'kept', now - 20 * MINUTE_MS),
      await addEdition(board, 'kept', now - 5 * MINUTE_MS),
    ];
    expect((await resolve(board, { asOfMs: now - 6 * MINUTE_MS })).edition!.uid).toBe(first);
    expect((await resolve(board, { asOfMs: now - 20 * MINUTE_MS })).edition!.uid).toBe(first);
    expect((await resolve(board, { asOfMs: now - 1000 })).edition!.uid).toBe(second);
    expect((await resolve(board, { asOfMs: now + 1000 })).edition).toBeNull();
    // Older than the board keeps them, though they are not pruned yet.
    await expect(resolve(board, { asOfMs: now - 3 * DAY_MS })).rejects.toMatchObject(gone);
  });

  it('as it ended, when it is asked for a time after the end', async () => {
    const now = Date.now();
    const times = { startsAtMs: now - 9 * MINUTE_MS, endsAtMs: now - 2 * MINUTE_MS, state: 'settled' as const };
    const board = await makeBoard(times, { snapshot: { top: 10, keepEveryMinutes: 1, keepDays: 1 } });
    const kept = await addEdition(board, 'kept', now - 3 * MINUTE_MS);
    const final = await addEdition(board, 'final', now - MINUTE_MS);
    expect((await resolve(board, { asOfMs: now - 2 * MINUTE_MS })).edition!.uid).toBe(final);
    expect((await resolve(board, { asOfMs: now - 2 * MINUTE_MS - 1 })).edition!.uid).toBe(kept);
  });

  it('empty for a season that was over before anybody used it, in every scope and style', async () => {
    const season = { season: 's', startsAt: '2020-01-01T00:00:00Z', endsAt: '2020-02-01T00:00:00Z' };
    const definition = withBoardDefaults({ order: 'desc', operator: 'best', windows: ['alltime', season] });
    const { board } = await node.registry.put('unused', { ...definition, scopes: ['global', 'region', 'guild'] });
    await node.boards.refresh();
    const over = {
      window: { id: 'season:s', state: 'settled', startsAtMs: Date.parse(season.startsAt) },
      edition: null,
      list: { scope: -1, dense: true },
    };
    for (const names of [{}, { scope: 'region:EU' }, { ofGuilds: true }, { asOfMs: Date.parse(season.endsAt) }]) {
      const found = await resolve(board, names);
      expect(found).toMatchObject(over);
      expect(found.ranks).toBe(projection);
    }
    const names = { boardId: board.id, window: 'season:s' };
    expect(await resolver.resolve(names, { prefersStandings: true })).toMatchObject(over);
    await expect(resolve(board, { scope: 'country:US' })).rejects.toMatchObject({ code: 'SCOPE_NOT_FOUND' });
    await expect(resolve(board, { window: 'daily:2020-01-01' })).rejects.toMatchObject({ code: 'WINDOW_NOT_FOUND' });
    expect(await node.database.query('SELECT FROM windows WHERE board_uid = $1', [board.uid])).toEqual([]);
  });

  it('for scopes that the board has, empty ones too', async () => {
    const board = await makeBoard(around(Date.now()), { scopes: ['global', 'region', { attribute: 'country' }] });
    const [region] = await node.scopes.ensure(['region:EU']);
    expect(await resolve(board, { scope: 'region:EU' })).toMatchObject({ scope: 'region:EU', list: { scope: region } });
    expect(await resolve(board, { scope: 'country:US' })).toMatchObject({ list: { scope: -1 } });
    expect(await resolver.usedScopes(['country:US', 'region:EU'])).toEqual(['region:EU']);
    await node.scopes.ensure(['country:US']);
    expect((await resolve(board, { scope: 'country:US' })).list.scope).toBeGreaterThan(1);
    for (const scope of [
      'global:x',
      'global:',
      'guild:red',
      'region:',
      ':EU',
      'EU',
      'region:\0',
      `region:${'x'.repeat(200)}`,
    ]) {
      await expect(resolve(board, { scope })).rejects.toMatchObject({ code: 'SCOPE_NOT_FOUND' });
    }
    await expect(resolve(board, { ofGuilds: true })).rejects.toMatchObject({ code: 'SCOPE_NOT_FOUND' });
  });

  /** A process that reaches PostgreSQL by a proxy. */
  async function behindProxy(run: (away: LedgerNode, proxy: TcpProxy, lists: ListResolver) => Promise<void>) {
    const { hostname, port, href } = new URL(testDatabase.url);
    const proxy = await openTcpProxy(hostname, Number(port));
    const away = new LedgerNode(href.replace(`:${port}/`, `:${proxy.port}/`));
    try {
      await away.start();
      const { boards: catalog, windows, scopes, database } = away;
      const editions = new EditionCatalog(database);
      await run(away, proxy, new ListResolver(catalog, windows, scopes, editions, projection, standings, keys));
    } finally {
      await away.stop();
      await proxy.close();
    }
  }

  it('while PostgreSQL is away, also of a board that changed right before', async () => {
    await behindProxy(async (away, proxy, lists) => {
      const board = await makeBoard(around(Date.now()));
      await away.boards.refresh();
      const names = { boardId: board.id, window: 'season:s' };
      const { window } = await lists.resolve(names);
      const { board: changed } = await node.registry.put(board.id, { ...board.definition, title: 'Changed' });
      await away.boards.refresh();
      proxy.cut();
      expect(await lists.resolve(names)).toMatchObject({ board: { revision: changed.revision }, window });
      expect(await away.windows.byUid(window.uid)).toEqual(window);
      // As ticks look for it, of a list that somebody begins to watch now.
      const ref = { boardUid: board.uid, windowUid: window.uid, scope: GLOBAL_SCOPE };
      expect(await lists.byRef(ref)).toMatchObject({ window, scope: 'global' });
    });
  });

  it('while PostgreSQL hangs, of a window that has ended by the standings that were known last', async () => {
    await behindProxy(async (away, proxy, lists) => {
      const endsAtMs = Date.now() - MINUTE_MS;
      const board = await makeBoard({ startsAtMs: endsAtMs - DAY_MS, endsAtMs, state: 'settled' });
      await addEdition(board, 'final', endsAtMs);
      await away.boards.refresh();
      const names = { boardId: board.id, window: 'season:s' };
      const known = await lists.resolve(names);
      // They are asked for anew after a second.
      away.database.reach.start(() => undefined);
      await sleep(1100);
      proxy.freeze();
      const resolving = lists.resolve(names);
      // From then on nobody waits for it.
      const isKnown = vi.waitUntil(() => away.database.reach.awaySince !== null, { timeout: 30_000, interval: 20 });
      const found = await Promise.race([resolving, isKnown]);
      expect(found).toMatchObject({ window: known.window, final: { number: 1, isRevising: false } });
      await isKnown;
    });
  });
});
