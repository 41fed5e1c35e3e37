// Real: PostgreSQL with the ledger, Redis or Valkey, the outbox as the log, the saga that feeds the ranks.
import {
  encodeSortKey,
  GLOBAL_SCOPE,
  GUILDS_SCOPE,
  laneOf,
  shardOf,
  type Board,
  type Layout,
} from '@laddercast/domain';
import { DropBoardCommand, DropBoardHandler, LayoutGrowth, rankListOf, WindowLists } from '@laddercast/projections';
import { createTestDatabase, emptyTestRedis, type TestDatabase } from '@laddercast/testing';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LayoutNode, type LayoutNodeOptions } from '../nodes/layout-node.js';
import { startRedis } from '../nodes/redis-process.js';

const LANES = 2;
const never = new AbortController().signal;
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

let testDatabase: TestDatabase;
let redisUrl: string;
let plain: Redis;
let nodes: LayoutNode[];

async function newNode(options: LayoutNodeOptions = {}): Promise<LayoutNode> {
  const node = new LayoutNode(testDatabase.url, redisUrl, options);
  nodes.push(node);
  await node.start();
  return node;
}

beforeEach(async () => {
  nodes = [];
  redisUrl = await emptyTestRedis();
  plain = new Redis(redisUrl);
  testDatabase = await createTestDatabase();
});

afterEach(async () => {
  for (const node of nodes) await node.stop();
  plain.disconnect();
  await testDatabase.drop();
});

const PLAYERS = 12_000;

/**
 * A board with entries straight in the ledger's tables, and ranked as a projector would have: player n has the score
 * n % 50; every tenth was removed; every third left the scope 17 for 16, and has a guild with its score.
 */
async function putFilled(node: LayoutNode, id: string, sharding = 1): Promise<Board> {
  const board = await node.put(id, { keepEndedSeconds: 3600, sharding: { by: 'hash', count: sharding } });
  const ends = { alltime: null, running: '1 hour', kept: '-30 minutes', over: '-2 hours' };
  for (const [name, end] of Object.entries(ends)) {
    await node.database.query(
      `INSERT INTO windows (board_uid, window_id, kind, ends_at) VALUES ($1, $2, 'daily', now() + $3::interval)`,
      [board.uid, name, end],
    );
  }
  const numbers = Array.from({ length: PLAYERS }, (_, at) => at + 1);
  const players = numbers.map((number) => `p${number}`);
  await node.database.query(
    `INSERT INTO entries (window_uid, player_id, board_uid, lane, version, removed, score, columns, achieved_at_ms,
       scopes, left_scopes)
     SELECT window_uid, player, $1, lane, nextval('ladder_position'), number % 10 = 0, number % 50, '{}', 1000 + number,
       CASE WHEN number % 3 = 0 THEN ARRAY[16] ELSE '{}' END, CASE WHEN number % 3 = 0 THEN ARRAY[17] ELSE '{}' END
     FROM windows, unnest($2::text[], $3::int[], $4::int[]) AS given (player, lane, number)
     WHERE board_uid = $1 AND (window_id = 'alltime' OR number <= 600)`,
    [board.uid, players, players.map((player) => laneOf(player, LANES)), numbers],
  );
  await node.database.query(
    `INSERT INTO guild_totals (window_uid, guild_id, board_uid, lane, version, removed, score, members, achieved_at_ms)
     SELECT window_uid, 'g' || player_id, board_uid, lane, version, removed, score, 1, achieved_at_ms FROM entries
     WHERE board_uid = $1 AND cardinality(scopes) > 0`,
    [board.uid],
  );
  await node.database.query(
    `INSERT INTO projected_positions (lane, position)
     SELECT lane, last_value FROM ladder_position, generate_series(0, $1 - 1) AS lane
     ON CONFLICT (lane) DO UPDATE SET position = excluded.position`,
    [LANES],
  );
  await recover(node);
  return board;
}

async function recover(node: LayoutNode): Promise<void> {
  for (const lane of node.lanes.all) await node.recovery.check(lane, never);
}

/** The totals that lists of {@link putFilled} have. */
const TOTALS: [window: string, scope: number, total: number][] = [
  ['alltime', GLOBAL_SCOPE, PLAYERS * 0.9],
  ['alltime', 16, PLAYERS * 0.3],
  ['alltime', 17, 0],
  ['alltime', GUILDS_SCOPE, PLAYERS * 0.3],
  ['running', GLOBAL_SCOPE, 540],
  ['running', 16, 180],
  ['kept', GLOBAL_SCOPE, 540],
  ['kept', GUILDS_SCOPE, 180],
];

async function expectWhole(node: LayoutNode, id: string, generation: number): Promise<void> {
  expect((await node.layoutsOf(id)).serving.generation).toBe(generation);
  for (const [window, scope, total] of TOTALS) {
    const list = await node.listOf(id, window, scope);
    expect([window, scope, (await node.projection.total(list)).total]).toEqual([window, scope, total]);
  }
  const list = await node.listOf(id);
  for (const number of [1, 77, 599, 11_999]) {
    const { entry } = await node.projection.player(list, `p${number}`, 0, 0, 'ordinal');
    expect(entry).toMatchObject({ score: number % 50, achievedAtMs: 1000 + number });
  }
  expect(await node.projection.entryVersion(list, 'p10')).toBeGreaterThan(0);
  expect(await node.projection.entryVersion(await node.listOf(id, 'alltime', 17), 'p3')).toBeGreaterThan(0);
}

const reshard = (node: LayoutNode, id: string, count: number): Promise<Board> =>
  node.put(id, { keepEndedSeconds: 3600, sharding: { by: 'hash', count } });

/** Has `act` run when the generation is written to for the n-th time, which waits for it. */
function atApply(node: LayoutNode, generation: number, applies: number, act: () => Promise<void>): void {
  const apply = node.projection.apply.bind(node.projection);
  let left = applies;
  node.projection.apply = async (list, ...rest) => {
    if (list.generation === generation && (left -= 1) === 0) await act();
    return apply(list, ...rest);
  };
}

const keysOf = async (board: Board, generation: number): Promise<string[]> =>
  (await plain.keys(`{${board.uid}.*`)).filter((key) => key.includes(`}${generation}:`)).sort();

describe('a generation that is filled', () => {
  it('holds all lists of the windows that are kept, removals too, and lives as long as they', async () => {
    const node = await newNode();
    const board = await putFilled(node, 'filled');
    await node.follow();
    await reshard(node, 'filled', 3);
    await node.builder.build(board.uid, never);
    await expectWhole(node, 'filled', 2);
    const list = await node.listOf('filled', 'kept');
    expect(await plain.pttl(`{${board.uid}.${list.windowUid}.0.1}2:z`)).toBeGreaterThan(1_000_000);
    const over = await node.listOf('filled', 'over');
    expect(await plain.keys(`{${board.uid}.${over.windowUid}.*`)).toEqual([]);
    expect([...new Set(node.news.map(({ step }) => step))]).toEqual(['filling', 'proving', 'serving']);
    expect(node.news.at(-1)).toMatchObject({ board: 'filled', generation: 2, rowsScanned: (PLAYERS + 1200) * (4 / 3) });
    expect(await node.layouts.progressOf(board.uid)).toBeUndefined();
  });

  it('is made anew on demand, and kept with distinct values when the definition asks for dense ranks', async () => {
    const node = await newNode();
    const board = await putFilled(node, 'again', 2);
    await node.follow();
    expect(await node.layouts.rebuild('again', 'the test')).toBe(2);
    expect(await node.layouts.rebuild('again', 'the test')).toBe(2);
    await node.boards.refresh();
    await node.builder.build(board.uid, never);
    await expectWhole(node, 'again', 2);
    await node.removeAll();
    await node.put('again', { keepEndedSeconds: 3600, dense: true });
    await node.builder.build(board.uid, never);
    await expectWhole(node, 'again', 3);
    const list = await node.listOf('again');
    expect(list).toMatchObject({ shards: 1, dense: true });
    expect(await plain.zcard(`{${board.uid}.${list.windowUid}.0.0}3:u`)).toBe(45);
    await expect(node.layouts.rebuild('none', 'the test')).rejects.toMatchObject({ code: 'BOARD_NOT_FOUND' });
  });

  it('serves only once every lane has passed the end of the filling', async () => {
    const node = await newNode();
    const board = await putFilled(node, 'behind');
    await node.submit('behind', 'p1', 1000);
    await reshard(node, 'behind', 2);
    let isDone = false;
    const building = node.builder.build(board.uid, never).then(() => (isDone = true));
    await expect.poll(() => node.news.at(-1)?.step).toBe('proving');
    await sleep(400);
    expect(isDone).toBe(false);
    expect((await node.layoutsOf('behind')).serving.generation).toBe(1);
    await node.follow();
    await building;
    const { entry } = await node.projection.player(await node.listOf('behind'), 'p1', 0, 0, 'ordinal');
    expect(entry).toMatchObject({ rank: 1, score: 1000 });
  });

  it('gets every entry that changes after the opening, from a process that has not heard of it as well', async () => {
    const node = await newNode();
    const board = await putFilled(node, 'unheard');
    const deaf = await newNode();
    deaf.boards.stop();
    await sleep(300);
    await reshard(node, 'unheard', 2);
    expect(deaf.boards.byId('unheard')!.layouts.opening).toBeNull();
    await node.submit('unheard', 'p2', 2000);
    await deaf.follow();
    await deaf.caughtUp();
    const layouts = await node.layoutsOf('unheard');
    for (const layout of [layouts.serving, layouts.opening!]) {
      const list = rankListOf(node.boards.byId('unheard')!, (await node.listOf('unheard')).windowUid, 0, layout);
      expect((await node.projection.player(list, 'p2', 0, 0, 'ordinal')).entry).toMatchObject({ score: 2000 });
    }
    await node.builder.build(board.uid, never);
    const { entry } = await node.projection.player(await node.listOf('unheard'), 'p2', 0, 0, 'ordinal');
    expect(entry).toMatchObject({ rank: 1, score: 2000 });
  });

  it('is begun anew by another process when the one that filled it ended', async () => {
    const [first, second] = [await newNode(), await newNode()];
    const board = await putFilled(first, 'killed');
    await first.follow();
    await reshard(first, 'killed', 2);
    const killed = new AbortController();
    atApply(first, 2, 5, async () => killed.abort());
    await expect(first.builder.build(board.uid, killed.signal)).rejects.toThrow();
    await second.builder.build(board.uid, never);
    await expectWhole(second, 'killed', 2);
    // And what served before is removed by whoever is there.
    await second.removeAll();
    expect(await keysOf(board, 1)).not.toContainEqual(expect.stringMatching(/:(z|i:\d+)$/));
    expect(await second.layouts.removals()).toEqual([]);
    await expectWhole(second, 'killed', 2);
  });

  it('is whole when Redis was emptied while it was filled', async () => {
    const node = await newNode();
    const board = await putFilled(node, 'emptied');
    await node.follow();
    await reshard(node, 'emptied', 2);
    let recovering: Promise<void> = Promise.resolve();
    atApply(node, 2, 12, async () => {
      await plain.flushall();
      recovering = recover(node);
    });
    await node.builder.build(board.uid, never);
    await recovering;
    await expectWhole(node, 'emptied', 2);
  });

  it('is filled anew when Redis was replaced while it was filled', async () => {
    const own = await startRedis();
    redisUrl = own.url;
    const node = await newNode();
    const board = await putFilled(node, 'replaced');
    await node.follow();
    await reshard(node, 'replaced', 2);
    let replacement: Awaited<ReturnType<typeof startRedis>> | undefined;
    let recovering: Promise<void> = Promise.resolve();
    atApply(node, 2, 12, async () => {
      await own.stop();
      replacement = await startRedis({ port: own.port });
      await expect.poll(() => node.redis.isReady).toBe(true);
      recovering = recover(node);
    });
    await node.builder.build(board.uid, never);
    await recovering;
    expect(node.news.map(({ step }) => step)).toContain('again');
    await expectWhole(node, 'replaced', 2);
    await replacement!.stop();
  });

  it('is given up for another one, whose place nothing of it takes', async () => {
    const node = await newNode();
    const board = await putFilled(node, 'twice');
    await node.follow();
    await reshard(node, 'twice', 4);
    atApply(node, 2, 10, async () => void (await reshard(node, 'twice', 2)));
    await node.builder.build(board.uid, never);
    expect(node.news.at(-1)).toMatchObject({ generation: 2, step: 'given up' });
    await node.builder.build(board.uid, never);
    await expectWhole(node, 'twice', 3);
    // And back to what serves: nothing is opened.
    await reshard(node, 'twice', 1);
    await reshard(node, 'twice', 2);
    expect(await node.layoutsOf('twice')).toMatchObject({ serving: { generation: 3 }, opening: null });
    await node.removeAll();
    for (const generation of [2, 4]) {
      const left = await keysOf(board, generation);
      for (const key of left) expect(await plain.get(key)).toBe('retired');
    }
    await expectWhole(node, 'twice', 3);
  });

  it('is opened for a board that has outgrown its index buckets, once, and holds the same in more of them', async () => {
    const node = await newNode();
    const board = await node.put('grown', {});
    await node.database.query(
      `UPDATE boards SET layouts = jsonb_set(layouts, '{serving,indexBuckets}', '1') WHERE board_uid = $1`,
      [board.uid],
    );
    await node.put('grown', { title: 'Seen anew' });
    await node.follow();
    const growth = new LayoutGrowth(node.boards, node.layouts, node.projection, node.store, node.windowLists, 0);
    await growth.look(never);
    expect((await node.layoutsOf('grown')).opening).toMatchObject({ generation: 2, indexBuckets: 256 });
    await Promise.all(Array.from({ length: 100 }, (_, player) => node.submit('grown', `p${player}`, player)));
    await growth.look(never);
    await node.builder.build(board.uid, never);
    await node.caughtUp();
    expect(await node.layoutsOf('grown')).toMatchObject({ serving: { generation: 2, indexBuckets: 256 } });
    const list = await node.listOf('grown');
    expect((await node.projection.page(list, 0, 3, 'ordinal')).entries.map(({ playerId }) => playerId)).toEqual([
      'p99',
      'p98',
      'p97',
    ]);
    expect((await plain.keys(`{${board.uid}.*}2:i:*`)).length).toBeGreaterThan(60);
    await node.removeAll();
    await growth.look(never);
    expect(await node.layoutsOf('grown')).toMatchObject({ serving: { generation: 2 }, opening: null });
  });

  it('goes with a board that is reset while it is filled', async () => {
    const node = await newNode();
    const board = await putFilled(node, 'reset');
    await node.follow();
    await reshard(node, 'reset', 4);
    atApply(node, 2, 10, async () => void (await node.registry.reset('reset', 'the test')));
    await node.builder.build(board.uid, never);
    expect(node.news.at(-1)).toMatchObject({ step: 'given up' });
    const lists = new WindowLists(node.database);
    const drop = new DropBoardHandler(node.boards, node.registry, node.layouts, lists, node.projection);
    await drop.execute(new DropBoardCommand(board.uid));
    // That they are gone for good, and nothing else.
    for (const name of await plain.keys(`{${board.uid}.*`)) expect(await plain.get(name)).toBe('retired');
    expect((await node.layoutsOf('reset')).opening).toBeNull();
  });
});

describe('a generation that was proven', () => {
  it('is brought back whole when Redis turns out to be from before it was filled', async () => {
    const node = await newNode();
    const board = await putFilled(node, 'old');
    await node.follow();
    await node.submit('old', 'p2', 1);
    await node.caughtUp();
    const marks = await Promise.all(node.lanes.all.map((lane) => node.projection.readMark(lane)));
    await reshard(node, 'old', 2);
    await node.builder.build(board.uid, never);
    await node.unfollow();
    // As a dump from before the filling would have it.
    await plain.del(await keysOf(board, 2));
    for (const lane of node.lanes.all) await plain.set(`{m0}ladder:mark:${lane}`, marks[lane]!);
    await recover(node);
    await expectWhole(node, 'old', 2);
  });
});

describe('a generation that served', () => {
  const indexed = async (node: LayoutNode, board: Board, layout: Layout) =>
    rankListOf(board, (await node.listOf(board.id)).windowUid, 0, layout);

  it('answers nobody any more once it is fed no longer, and takes no change', async () => {
    const node = await newNode();
    const board = await putFilled(node, 'retired', 2);
    await node.follow();
    const before = (await node.layoutsOf('retired')).serving;
    await reshard(node, 'retired', 1);
    await node.builder.build(board.uid, never);
    const old = await indexed(node, board, before);
    expect((await node.projection.total(old)).total).toBe(PLAYERS * 0.9);
    const gone = { code: 'PROJECTION_UNAVAILABLE', retriable: true };
    // Whoever reads it until then reads what is fed.
    const stopFeeding = node.layouts.stopFeeding.bind(node.layouts);
    node.layouts.stopFeeding = async (...which) => {
      await expect(node.projection.total(old)).rejects.toMatchObject(gone);
      await stopFeeding(...which);
    };
    await node.removeAll();
    expect((await node.layoutsOf('retired')).retiring).toBeNull();
    for (const read of [
      () => node.projection.total(old),
      () => node.projection.page(old, 0, 10, 'ordinal'),
      () => node.projection.player(old, 'p1', 1, 1, 'competition'),
      () => node.projection.lookup(old, ['p1', 'p2'], 'ordinal'),
      () => node.projection.sortKeys(old, ['p1', 'p2']),
    ])
      await expect(read()).rejects.toMatchObject(gone);
    const key = encodeSortKey(old.ordering, { score: 9, columns: [], achievedAtMs: 9 }, 'p1');
    expect(await node.projection.apply(old, shardOf('p1', 2), [{ playerId: 'p1', version: 1e9, key }], null)).toBe(0);
    const left = await keysOf(board, 1);
    expect(left.length).toBeGreaterThan(0);
    for (const name of left) expect(await plain.get(name)).toBe('retired');
    await expectWhole(node, 'retired', 2);
  });

  it('is removed beside eleven others without a warning of too many listeners', async () => {
    const warnings: Error[] = [];
    const onWarning = (warning: Error): void => {
      if (warning.name === 'MaxListenersExceededWarning') warnings.push(warning);
    };
    process.on('warning', onWarning);
    const node = await newNode({ feedMs: 2000 });
    await node.follow();
    const end = new AbortController();
    const ids = Array.from({ length: 12 }, (_, at) => `beside-${at}`);
    for (const id of ids) {
      await node.put(id, {});
      await node.submit(id, 'ada', 1);
      const { uid } = await node.put(id, { sharding: { by: 'hash', count: 2 } });
      await node.builder.build(uid, end.signal);
    }
    await node.remover.look(end.signal);
    await sleep(200);
    end.abort();
    await node.remover.settled();
    process.off('warning', onWarning);
    expect(warnings).toEqual([]);
  });

  it('keeps its keys while somebody reads a checkpoint of it, and not for ever', async () => {
    const node = await newNode({ keepMs: 60_000 });
    const board = await putFilled(node, 'held');
    await node.follow();
    const old = await node.listOf('held');
    const checkpoints = `{${board.uid}.${old.windowUid}.0.0}1:c`;
    await plain.hset(checkpoints, '2', `abc ${Date.now() + 60_000}`);
    await reshard(node, 'held', 2);
    await node.builder.build(board.uid, never);
    const [removal] = await node.layouts.removals();
    const removing = node.remover.remove(removal!, never);
    await expect.poll(async () => (await node.layoutsOf('held')).retiring).toBeNull();
    await sleep(1500);
    expect(await plain.zcard(`{${board.uid}.${old.windowUid}.0.0}1:z`)).toBe(PLAYERS * 0.9);
    await plain.hset(checkpoints, '2', `abc ${Date.now() - 1}`);
    await removing;
    expect(await plain.exists(`{${board.uid}.${old.windowUid}.0.0}1:z`, checkpoints)).toBe(0);
  });
});
