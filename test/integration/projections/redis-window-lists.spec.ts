// Real: PostgreSQL with the ledger, Redis or Valkey, the handlers of the command bus.
import {
  GLOBAL_SCOPE,
  GUILDS_SCOPE,
  shardOf,
  withBoardDefaults,
  type Board,
  type SeasonSpec,
  type StoredWindow,
} from '@laddercast/domain';

import {
  ChangesByShard,
  DropBoardCommand,
  DropBoardHandler,
  KeepWindowsCommand,
  KeepWindowsHandler,
  rankListOf,
  RedisConnection,
  RedisRankProjection,
  WindowLists,
  type RankList,
} from '@laddercast/projections';
import { createTestDatabase, emptyTestRedis, type TestDatabase } from '@laddercast/testing';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LedgerNode, submissionOf } from '../nodes/ledger-node.js';

const DAY_MS = 86_400_000;
const KEPT_MS = 90_000_000;
const STARTED_AT_MS = Date.now();

/** Writes down which lists it was asked to keep. */
class WatchedProjection extends RedisRankProjection {
  readonly kept: { windowUid: number; scope: number; keepUntilMs: number }[] = [];

  override async keep(list: RankList, keepUntilMs: number): Promise<void> {
    this.kept.push({ windowUid: list.windowUid, scope: list.scope, keepUntilMs });
    await super.keep(list, keepUntilMs);
  }
}

let testDatabase: TestDatabase;
let node: LedgerNode;
let redis: RedisConnection;
let plain: Redis;
let projection: WatchedProjection;
let lists: WindowLists;

beforeAll(async () => {
  const url = await emptyTestRedis();
  plain = new Redis(url);
  redis = new RedisConnection({ url, commandTimeoutMs: 10_000 });
  await redis.connect();
  projection = new WatchedProjection(redis);
  testDatabase = await createTestDatabase();
  node = new LedgerNode(testDatabase.url);
  await node.start();
  lists = new WindowLists(node.database);
});

afterAll(async () => {
  plain?.disconnect();
  await redis?.close();
  await node?.stop();
  await testDatabase?.drop();
});

const season = (endsInDays: number): SeasonSpec => ({
  season: 's1',
  startsAt: '2026-01-01T00:00:00Z',
  endsAt: new Date(STARTED_AT_MS + endsInDays * DAY_MS).toISOString(),
});
const definitionOf = (endsInDays: number, graceSeconds = 300) =>
  withBoardDefaults({
    order: 'desc',
    operator: 'best',
    windows: ['alltime', 'daily', season(endsInDays)],
    scopes: ['global', 'region'],
    sharding: { count: 2 },
    graceSeconds,
  });

async function put(id: string, ...definition: Parameters<typeof definitionOf>): Promise<Board> {
  await node.registry.put(id, definitionOf(...definition));
  await node.boards.refresh();
  return node.boards.byId(id)!;
}

/** Gives the board's windows an entry in a scope and one that left another, in the ledger and in the ranks. */
async function fill(board: Board): Promise<StoredWindow[]> {
  await node.ledger.write(submissionOf(board, 'ada', 5));
  const windows = await node.windows.at(board, Date.now(), Date.now());
  const changes = new ChangesByShard();
  for (const { uid: windowUid, startsAtMs, endsAtMs } of windows) {
    await node.database.query(
      `UPDATE entries SET scopes = ARRAY[16, 21], left_scopes = ARRAY[17] WHERE window_uid = $1`,
      [windowUid],
    );
    const keepUntilMs = endsAtMs === null ? null : endsAtMs + KEPT_MS;
    const values = { score: 5, columns: [], achievedAtMs: 1 };
    const entry = { windowUid, startsAtMs, endsAtMs, playerId: 'ada', version: 1, values, isGuild: false, keepUntilMs };
    changes.add(board, { ...entry, scopes: [16, 21], leftScopes: [17] });
    changes.add(board, { ...entry, playerId: 'red', scopes: [], leftScopes: [], isGuild: true });
  }
  await changes.apply(({ list, shard, changes, keepUntilMs }) => projection.apply(list, shard, changes, keepUntilMs));
  return windows;
}

const keysOf = (board: Board): Promise<string[]> => plain.keys(`{${board.uid}.*`);
const expiriesOf = async (board: Board, window: StoredWindow): Promise<Set<number>> => {
  const keys = await plain.keys(`{${board.uid}.${window.uid}.*`);
  expect(keys.length).toBeGreaterThan(10);
  return new Set(await Promise.all(keys.map((key) => plain.pexpiretime(key))));
};

describe('WindowLists', () => {
  it('knows every scope in use of a window that is larger than a page, and which windows are kept', async () => {
    const board = await put('paged', 10);
    const [alltime, daily, ofSeason] = await fill(board);
    await node.database.query(
      `INSERT INTO entries (window_uid, player_id, board_uid, lane, version, removed, score, columns, achieved_at_ms, scopes)
       SELECT $1, 'player-' || lpad(n::text, 5, '0'), $2, 0, n, false, 1, '{}', 1, CASE WHEN n > 11000 THEN ARRAY[100 + n % 3] ELSE '{}' END
       FROM generate_series(1, 12000) n`,
      [alltime!.uid, board.uid],
    );
    const scopesOf = async (window: StoredWindow): Promise<number[]> =>
      (await lists.listsOf(board, window.uid)).map(({ scope }) => scope).sort((a, b) => a - b);
    expect(await scopesOf(alltime!)).toEqual([GLOBAL_SCOPE, GUILDS_SCOPE, 16, 17, 21, 100, 101, 102]);
    expect(await scopesOf(daily!)).toEqual([GLOBAL_SCOPE, GUILDS_SCOPE, 16, 17, 21]);
    const kept = async (): Promise<number[]> => (await lists.windowsOf(board)).map(({ uid }) => uid);
    expect(await kept()).toEqual([alltime!.uid, daily!.uid, ofSeason!.uid]);
    const endedAgo = (seconds: number): Promise<unknown> =>
      node.database.query(`UPDATE windows SET ends_at = now() - $2 * interval '1 second' WHERE window_uid = $1`, [
        daily!.uid,
        seconds,
      ]);
    await endedAgo(89_000);
    expect(await kept()).toContain(daily!.uid);
    await endedAgo(91_000);
    expect(await kept()).toEqual([alltime!.uid, ofSeason!.uid]);
  });
});

describe('the keys of a season whose end is moved', () => {
  it('live longer in every list, looked for once, and again only when an end has moved', async () => {
    const handler = new KeepWindowsHandler(node.boards, lists, projection);
    const ordered = async (): Promise<typeof projection.kept> => {
      projection.kept.length = 0;
      await Promise.all([1, 2].map(() => handler.execute(new KeepWindowsCommand([board.uid, board.uid]))));
      return projection.kept;
    };
    let board = await put('moving', 10);
    const [alltime, daily, ofSeason] = await fill(board);
    const scopes = [GLOBAL_SCOPE, GUILDS_SCOPE, 16, 17, 21];
    // At first sight of the board: its end may have moved before.
    expect((await ordered()).map(({ windowUid }) => windowUid).sort()).toEqual(
      [daily!.uid, ofSeason!.uid].flatMap((uid) => scopes.map(() => uid)),
    );
    expect(await ordered()).toEqual([]);

    board = await put('moving', 20);
    const moved = await ordered();
    expect(new Set(moved.map(({ windowUid }) => windowUid))).toEqual(new Set([ofSeason!.uid]));
    expect(moved.map(({ scope }) => scope).sort((a, b) => a - b)).toEqual(scopes);
    const ends = Date.parse((board.definition.windows[2] as SeasonSpec).endsAt);
    expect(await expiriesOf(board, ofSeason!)).toEqual(new Set([ends + KEPT_MS]));
    expect(await expiriesOf(board, daily!)).toEqual(new Set([daily!.endsAtMs! + KEPT_MS]));
    expect(await expiriesOf(board, alltime!)).toEqual(new Set([-1]));

    // Announced without another end, and with an earlier one: nothing to do.
    board = await put('moving', 20, 200);
    expect(await ordered()).toEqual([]);
    board = await put('moving', 15);
    expect(await ordered()).toEqual([]);
    expect(await expiriesOf(board, ofSeason!)).toEqual(new Set([ends + KEPT_MS]));
  });

  it('are looked for again after a failure', async () => {
    const board = await put('failing', 10);
    const [, , ofSeason] = await fill(board);
    const failing = new (class extends WatchedProjection {
      failures = 1;

      override async keep(list: RankList, keepUntilMs: number): Promise<void> {
        if (list.scope === 16 && (this.failures -= 1) >= 0) throw new Error('Redis went away.');
        await super.keep(list, keepUntilMs);
      }
    })(redis);
    const handler = new KeepWindowsHandler(node.boards, lists, failing);
    await expect(handler.execute(new KeepWindowsCommand([board.uid]))).rejects.toThrow('went away');
    await handler.execute(new KeepWindowsCommand([board.uid]));
    const keptScopes = failing.kept.filter(({ windowUid }) => windowUid === ofSeason!.uid).map(({ scope }) => scope);
    expect(keptScopes).toContain(16);
  });
});

describe('a board that is gone', () => {
  it('leaves nothing behind in any list of its windows, nor of others', async () => {
    const [board, other] = [await put('leaving', 10), await put('staying', 10)];
    const windows = await fill(board);
    await fill(other);
    const handler = new DropBoardHandler(node.boards, node.registry, node.layouts, lists, projection);
    await handler.execute(new DropBoardCommand(board.uid));
    expect((await keysOf(board)).length).toBeGreaterThan(30);
    const before = (await keysOf(other)).sort();
    await node.registry.delete('leaving', null, 'the test');
    await handler.execute(new DropBoardCommand(board.uid));
    // Only that the lists are gone for good, so that who writes late makes nothing again.
    for (const key of await keysOf(board)) expect(await plain.get(key)).toBe('retired');
    const list = rankListOf(board, windows[0]!.uid, 0);
    const late = { playerId: 'late', version: 1e9, key: { score: 1, member: Buffer.from('late') } };
    expect(await projection.apply(list, shardOf('late', 2), [late], null)).toBe(0);
    expect((await keysOf(other)).sort()).toEqual(before);
    const rows = await node.database.query('SELECT FROM entries WHERE board_uid = $1', [board.uid]);
    expect(rows).toEqual([]);
    // Every lane brings the event.
    await handler.execute(new DropBoardCommand(board.uid));
  });
});
