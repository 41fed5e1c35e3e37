// Real: PostgreSQL with the ledger's tables, Redis or Valkey, the handlers of the command bus.
import {
  encodeSortKey,
  GLOBAL_SCOPE,
  GUILDS_SCOPE,
  LadderError,
  laneOf,
  shardOf,
  withBoardDefaults,
  type Board,
  firstLayouts,
} from '@laddercast/domain';
import { Lanes, PostgresDatabase } from '@laddercast/ledger';
import {
  AppliedSessions,
  ApplyEntriesCommand,
  ApplyEntriesHandler,
  CommittedPositions,
  MarkLaneCommand,
  MarkLaneHandler,
  ProjectionRecovery,
  rankListOf,
  RedisConnection,
  RedisRankProjection,
  type RankList,
  type RecoveredBoards,
  type RecoveryProgress,
} from '@laddercast/projections';
import { metrics } from '@laddercast/platform';
import { createTestDatabase, emptyTestRedis, type TestDatabase } from '@laddercast/testing';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

const LANES = 2;
const PLAYERS = 6000;
const never = new AbortController().signal;

class CommittedInMemory extends CommittedPositions {
  readonly positions = [0, 0];

  override async ofAll(lanes: readonly number[]): Promise<number[]> {
    return lanes.map((lane) => this.positions[lane]!);
  }

  override async record(): Promise<void> {
    // The test itself says what is committed.
  }

  override async drawn(): Promise<number> {
    return Math.max(...this.positions);
  }
}

let testDatabase: TestDatabase;
let database: PostgresDatabase;
let redis: RedisConnection;
let plain: Redis;
let projection: RedisRankProjection;
let committed: CommittedInMemory;
let progress: RecoveryProgress[];
let recovery: ProjectionRecovery;
let board: Board;
let windows: Record<'alltime' | 'running' | 'kept' | 'over', number>;

beforeAll(async () => {
  const url = await emptyTestRedis();
  plain = new Redis(url);
  redis = new RedisConnection({ url, commandTimeoutMs: 10_000 });
  await redis.connect();
  projection = new RedisRankProjection(redis);
  testDatabase = await createTestDatabase();
  database = new PostgresDatabase({ url: testDatabase.url });
  await database.open({ migrate: true });
  await fill();
});

afterAll(async () => {
  plain?.disconnect();
  await redis?.close();
  await database?.close();
  await testDatabase?.drop();
});

beforeEach(async () => {
  await plain.flushall();
  committed = new CommittedInMemory();
  committed.positions.fill(PLAYERS);
  progress = [];
  recovery = recoveryWith({});
});

interface RecoveryParts {
  boards: RecoveredBoards;
  projection: RedisRankProjection;
  onProgress: (progress: RecoveryProgress) => void;
}

const recoveryWith = (parts: Partial<RecoveryParts>): ProjectionRecovery => {
  const boards = parts.boards ?? boardsOf((uid) => (uid === board.uid ? board : undefined));
  const onProgress = parts.onProgress ?? ((step) => progress.push(step));
  const [ledgerCheck, sweeper] = [{ isAhead: async () => false }, { removeStrays: async () => undefined }];
  const ranks = parts.projection ?? projection;
  const recovery = new ProjectionRecovery(database, ranks, committed, boards, ledgerCheck, sweeper, new Lanes(LANES));
  recovery.onProgress = onProgress;
  return recovery;
};

const boardsOf = (find: (uid: number) => Board | undefined): RecoveredBoards => ({
  refresh: async () => undefined,
  byUid: async (uid) => find(uid),
  all: () => [board],
});

const listOf = (window: keyof typeof windows, scope = GLOBAL_SCOPE): RankList =>
  rankListOf(board, windows[window], scope);

/**
 * A board whose players each have an entry in four windows, with version = number; every tenth was removed. Every third
 * moved from the scope 17 to 16, and as many guilds have a total as players are in 16.
 */
async function fill(): Promise<void> {
  const definition = withBoardDefaults({
    order: 'desc',
    operator: 'best',
    sharding: { by: 'hash', count: 3 },
    keepEndedSeconds: 3600,
    columns: [{ name: 'moves', order: 'asc' }],
  });
  const layouts = firstLayouts(definition);
  const [row] = await database.query<{ uid: number }>(
    `INSERT INTO boards (board_id, definition, layouts, revision) VALUES ('blitz', $1, $2, 1) RETURNING board_uid AS uid`,
    [JSON.stringify(definition), JSON.stringify(layouts)],
  );
  board = { uid: row!.uid, id: 'blitz', revision: 1, definitionRevision: 1, windowsSinceMs: {}, definition, layouts };
  const ends = { alltime: null, over: '-2 hours', running: '1 hour', kept: '-30 minutes' };
  windows = {} as typeof windows;
  for (const [name, end] of Object.entries(ends)) {
    const [window] = await database.query<{ uid: number }>(
      `INSERT INTO windows (board_uid, window_id, kind, ends_at) VALUES ($1, $2, 'daily', now() + $3::interval)
       RETURNING window_uid AS uid`,
      [board.uid, name, end],
    );
    windows[name as keyof typeof windows] = window!.uid;
  }
  const numbers = Array.from({ length: PLAYERS }, (_, at) => at + 1);
  const players = numbers.map((number) => `Spieler ${number} é`);
  for (const windowUid of Object.values(windows)) {
    await database.query(
      `INSERT INTO entries (window_uid, player_id, board_uid, lane, version, removed, score, columns, achieved_at_ms,
         scopes, left_scopes)
       SELECT $1, player, $2, lane, number, number % 10 = 0, number % 50, ARRAY[number % 7], 1000 + number,
         CASE WHEN number % 3 = 0 THEN ARRAY[16] ELSE '{}' END, CASE WHEN number % 3 = 0 THEN ARRAY[17] ELSE '{}' END
       FROM unnest($3::text[], $4::int[], $5::int[]) AS given (player, lane, number)`,
      [windowUid, board.uid, players, players.map((player) => laneOf(player, LANES)), numbers],
    );
    await database.query(
      `INSERT INTO guild_totals (window_uid, guild_id, board_uid, lane, version, removed, score, members, achieved_at_ms)
       SELECT window_uid, player_id, board_uid, lane, version, removed, score, 1, achieved_at_ms FROM entries
       WHERE window_uid = $1 AND cardinality(scopes) > 0`,
      [windowUid],
    );
  }
}

async function expectWhole(window: keyof typeof windows): Promise<void> {
  const list = listOf(window);
  expect((await projection.total(list)).total).toBe(PLAYERS * 0.9);
  for (const number of [1, 17, 5999]) {
    const playerId = `Spieler ${number} é`;
    const { entry } = await projection.player(list, playerId, 0, 0, 'ordinal');
    expect(entry).toMatchObject({
      score: number % 50,
      columns: [number % 7],
      achievedAtMs: 1000 + number,
      version: number,
    });
  }
  expect(await projection.entryVersion(list, 'Spieler 10 é')).toBe(10);
}

const checkAll = async (): Promise<boolean[]> => [await recovery.check(0, never), await recovery.check(1, never)];

describe('recovery of the ranks', () => {
  it('brings everything back when Redis is empty, removals and the expiry of windows included', async () => {
    expect(await checkAll()).toEqual([true, true]);
    await expectWhole('alltime');
    await expectWhole('running');
    await expectWhole('kept');
    expect(await plain.keys(`{${board.uid}.${windows.over}.*`)).toEqual([]);
    expect(await plain.pttl(`{${board.uid}.${windows.kept}.0.1}1:z`)).toBeGreaterThan(1_000_000);
    expect(await plain.pttl(`{${board.uid}.${windows.alltime}.0.1}1:z`)).toBe(-1);
    expect(await projection.readMark(0)).toBe(PLAYERS);
    expect(progress.at(-1)).toMatchObject({ lane: 1, step: 'recovered', mark: null, committed: PLAYERS });
    progress = [];
    expect(await checkAll()).toEqual([false, false]);
    expect(progress).toEqual([]);
  });

  it('brings the lists of scopes and guilds back, and takes entries out of the scopes that they left', async () => {
    const stale = { score: 1, columns: [1], achievedAtMs: 1 };
    const playerId = 'Spieler 3 é';
    const key = encodeSortKey(board.definition, stale, playerId);
    await projection.apply(listOf('alltime', 17), 0, [{ playerId, version: 1, key }], null);
    await checkAll();
    for (const window of ['alltime', 'running', 'kept'] as const) {
      expect((await projection.total(listOf(window, 16))).total).toBe(PLAYERS * 0.3);
      expect((await projection.total(listOf(window, 17))).total).toBe(0);
      expect(await projection.entryVersion(listOf(window, 17), playerId)).toBe(3);
      const { entry } = await projection.player(listOf(window, 16), 'Spieler 5997 é', 0, 0, 'ordinal');
      expect(entry).toMatchObject({ score: 47, columns: [5], version: 5997 });
      const guilds = listOf(window, GUILDS_SCOPE);
      expect((await projection.total(guilds)).total).toBe(PLAYERS * 0.3);
      const guild = await projection.player(guilds, 'Spieler 5997 é', 0, 0, 'ordinal');
      expect(guild.entry).toMatchObject({ score: 47, columns: [], achievedAtMs: 6997, version: 5997 });
      expect(await projection.entryVersion(guilds, 'Spieler 30 é')).toBe(30);
    }
    for (const scope of [16, GUILDS_SCOPE]) {
      expect(await plain.pttl(`{${board.uid}.${windows.kept}.${scope}.0}1:z`)).toBeGreaterThan(1_000_000);
    }
  });

  it('does not bring back a board that is gone', async () => {
    const goneAfter = (looks: number): ProjectionRecovery =>
      recoveryWith({
        boards: boardsOf(() => ((looks -= 1) >= 0 ? board : undefined)),
      });
    expect(await goneAfter(0).check(0, never)).toBe(true);
    expect(await plain.keys(`{${board.uid}.*`)).toEqual([]);
    // Also when it goes after its windows were looked up, while its entries are read.
    expect(await goneAfter(Object.keys(windows).length).check(1, never)).toBe(true);
    expect(await plain.keys(`{${board.uid}.*`)).toEqual([]);
  });

  it('sends only what is newer than a mark that is behind', async () => {
    await checkAll();
    await plain.set('{m0}ladder:mark:0', PLAYERS - 100);
    progress = [];
    expect(await checkAll()).toEqual([true, false]);
    const { sent, newer, mark } = progress.at(-1)!;
    expect(mark).toBe(PLAYERS - 100);
    expect(sent).toBeGreaterThan(100);
    expect(sent).toBeLessThan(300);
    expect(newer).toBe(0);
  });

  it('tries a page again when the store was slow, and does not begin anew', async () => {
    let failures = 3;
    class SlowAtFirst extends RedisRankProjection {
      override async apply(...change: Parameters<RedisRankProjection['apply']>): Promise<number> {
        if (failures-- > 0) throw new LadderError('PROJECTION_UNAVAILABLE', 'The store took too long.');
        return super.apply(...change);
      }
    }
    const patient = recoveryWith({ projection: new SlowAtFirst(redis) });
    expect(await patient.check(0, never)).toBe(true);
    expect(await patient.check(1, never)).toBe(true);
    expect(failures).toBeLessThan(0);
    await expectWhole('alltime');
  });

  it('does not vouch for a Redis that was emptied while it worked', async () => {
    const emptiedOnce = recoveryWith({
      onProgress: ({ step, sent }) => void (step === 'scanning' && sent > 4000 && void plain.flushall()),
    });
    await expect(emptiedOnce.check(0, never)).rejects.toMatchObject({ code: 'PROJECTION_UNAVAILABLE' });
    expect(await projection.readMark(0)).toBeNull();
    expect(await recovery.check(0, never)).toBe(true);
  });

  it('says that a lane is recovered where the answer to its last mark was lost', async () => {
    const recovering = async (): Promise<unknown> =>
      (await metrics.laneRecovering.get()).values.find(({ labels }) => labels['lane'] === 0)?.value;
    class AnswerLost extends RedisRankProjection {
      override async advanceMark(...mark: Parameters<RedisRankProjection['advanceMark']>): Promise<void> {
        await super.advanceMark(...mark);
        throw new LadderError('PROJECTION_UNAVAILABLE', 'The answer was lost.');
      }
    }
    await expect(recoveryWith({ projection: new AnswerLost(redis) }).check(0, never)).rejects.toThrow('lost');
    expect(await recovering()).toBe(1);
    expect(await recovery.check(0, never)).toBe(false);
    expect(await recovering()).toBe(0);
  });

  it('looks again when it is woken, and stops with its signal', async () => {
    const stop = new AbortController();
    let wake = (): void => undefined;
    const watching = recovery.watch(0, stop.signal, (listener) => {
      wake = listener;
      return () => undefined;
    });
    await expect.poll(() => projection.readMark(0)).toBe(PLAYERS);
    await plain.flushall();
    wake();
    await expect.poll(() => projection.readMark(0)).toBe(PLAYERS);
    stop.abort();
    await watching;
  });
});

describe('the handlers of the score saga', () => {
  const change = (number: number) => {
    const playerId = `Spieler ${number} é`;
    const values = { score: number, columns: [1], achievedAtMs: 1 };
    const key = encodeSortKey(board.definition, values, playerId);
    return { shard: shardOf(playerId, 3), changes: [{ playerId, version: PLAYERS + number, key }] };
  };

  it('apply and mark, and refuse to mark what an emptied Redis has lost', async () => {
    await checkAll();
    const sessions = new AppliedSessions();
    const apply = new ApplyEntriesHandler(projection, sessions);
    const mark = new MarkLaneHandler(projection, sessions, committed);
    const applyOne = (number: number): Promise<{ applied: number }> => {
      const { shard, changes } = change(number);
      return apply.execute(new ApplyEntriesCommand(listOf('alltime'), shard, changes, null));
    };
    expect(await applyOne(1)).toEqual({ applied: 1 });
    expect(await applyOne(1)).toEqual({ applied: 0 });
    await mark.execute(new MarkLaneCommand(0, PLAYERS + 1));
    committed.positions[0] = PLAYERS + 1;
    expect(await projection.readMark(0)).toBe(PLAYERS + 1);

    await plain.flushall();
    await applyOne(2);
    const refused = { code: 'PROJECTION_UNAVAILABLE', retriable: true };
    await expect(mark.execute(new MarkLaneCommand(0, PLAYERS + 2))).rejects.toMatchObject(refused);
    expect(await recovery.check(0, never)).toBe(true);
    await mark.execute(new MarkLaneCommand(0, PLAYERS + 2));
    expect(await projection.readMark(0)).toBe(PLAYERS + 2);
  });

  it('refuse to mark once when the connection was replaced between two changes of a batch', async () => {
    await checkAll();
    const sessions = new AppliedSessions();
    const apply = new ApplyEntriesHandler(projection, sessions);
    const mark = new MarkLaneHandler(projection, sessions, committed);
    const { shard, changes } = change(1);
    await apply.execute(new ApplyEntriesCommand(listOf('alltime'), shard, changes, null));
    const before = projection.session();
    await plain.client('KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    await expect.poll(() => projection.session()).not.toBe(before);
    await apply.execute(new ApplyEntriesCommand(listOf('alltime'), shard, changes, null));
    const refused = { code: 'PROJECTION_UNAVAILABLE' };
    await expect(mark.execute(new MarkLaneCommand(0, PLAYERS + 1))).rejects.toMatchObject(refused);
    await apply.execute(new ApplyEntriesCommand(listOf('alltime'), shard, changes, null));
    await mark.execute(new MarkLaneCommand(0, PLAYERS + 1));
    expect(await projection.readMark(0)).toBe(PLAYERS + 1);
  });
});
