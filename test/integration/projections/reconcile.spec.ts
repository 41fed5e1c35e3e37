// Real: PostgreSQL with the ledger, Redis or Valkey, the outbox as the log, the saga that feeds the ranks.
import { GUILDS_SCOPE, shardOf, type Sharding } from '@laddercast/domain';
import {
  StateRepublisher,
  Reconciliations,
  LaneQueue,
  OutboxNotifier,
  GuildTotals,
  type ReconciliationReport,
} from '@laddercast/ledger';
import {
  BoardReconciler,
  EntryComparison,
  ListInspection,
  rankListOf,
  RedisRankInspection,
  SampledReconciliation,
  WindowLists,
  type RankList,
} from '@laddercast/projections';
import { createTestDatabase, emptyTestRedis, type TestDatabase } from '@laddercast/testing';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { LayoutNode } from '../nodes/layout-node.js';
import { Redis } from '../nodes/redis-client.js';

const PLAYERS = 60;
const NOTHING = { missing: 0, stale: 0, stray: 0, values: 0, counters: 0, unsettled: 0 };
const RANGE: Sharding = { by: 'range', boundaries: [15, 40] };

let testDatabase: TestDatabase;
let node: LayoutNode;
let redis: Redis;
let jobs: Reconciliations;
let reconciler: BoardReconciler;
let samples: SampledReconciliation;

beforeEach(async () => {
  const redisUrl = await emptyTestRedis();
  testDatabase = await createTestDatabase();
  node = new LayoutNode(testDatabase.url, redisUrl);
  await node.start();
  redis = new Redis(redisUrl);
  const { database, projection, committed, boards, scopes } = node;
  const inspection = new RedisRankInspection(node.redis, projection);
  const comparison = new EntryComparison(database, projection, inspection, committed);
  const windowLists = new WindowLists(database);
  const lists = new ListInspection(comparison, inspection);
  jobs = new Reconciliations(database);
  reconciler = new BoardReconciler(database, boards, windowLists, scopes, comparison, lists, jobs);
  samples = new SampledReconciliation(database, boards, comparison, lists);
  await node.follow();
});

afterEach(async () => {
  redis.disconnect();
  await node.stop();
  await testDatabase.drop();
});

async function fill(sharding: Sharding, more: object = {}): Promise<RankList> {
  await node.put('board', { sharding, dense: sharding.by === 'range' || sharding.count === 1, ...more });
  for (let n = 0; n < PLAYERS; n += 1) await node.submit('board', `p${n}`, n);
  await node.caughtUp();
  return node.listOf('board');
}

async function reconcile(): Promise<ReconciliationReport> {
  return reconciler.run(await jobs.request('board', 'test'), AbortSignal.timeout(20_000));
}

async function standing(list: RankList): Promise<[string, number][]> {
  const { entries, total, accuracy } = await node.projection.page(list, 0, 500, 'ordinal');
  expect([total, accuracy]).toEqual([entries.length, undefined]);
  return entries.map(({ playerId, score }) => [playerId, score]);
}

const everybody = (): [string, number][] =>
  Array.from({ length: PLAYERS }, (_, n): [string, number] => [`p${n}`, n]).reverse();

/** The sorted set that holds a player, and the player's member there. */
async function placeOf(playerId: string, list: RankList): Promise<{ set: string; member: Buffer; score: string }> {
  for (const set of await redis.keys(`{${list.boardUid}.${list.windowUid}.${list.scope}.*:z`)) {
    const rows = await redis.zrangeBuffer(set, 0, -1, 'WITHSCORES');
    const at = rows.findIndex((row, index) => index % 2 === 0 && row.toString('latin1').endsWith(playerId));
    if (at >= 0) return { set, member: rows[at]!, score: rows[at + 1]!.toString() };
  }
  throw new Error(`${playerId} stands nowhere`);
}

async function bucketOf(playerId: string, list: RankList): Promise<string> {
  for (const key of await redis.keys(`{${list.boardUid}.${list.windowUid}.${list.scope}.*:i:*`)) {
    if (await redis.hexists(key, playerId)) return key;
  }
  throw new Error(`${playerId} is in no index`);
}

/** Others stay in the bucket: one that is gone whole is a lost key, and brings the shard back. */
async function dropFromIndex(playerId: string, list: RankList): Promise<void> {
  const bucket = await bucketOf(playerId, list);
  const removed = Buffer.from([0xf1, 1]);
  await redis.hset(bucket, 'somebody', removed);
  await redis.hdel(bucket, playerId);
}

describe.each([
  ['one shard', { by: 'hash', count: 1 } as Sharding],
  ['shards by player', { by: 'hash', count: 3 } as Sharding],
  ['shards by score', RANGE],
])('comparing a board with %s', (_name, sharding) => {
  it('finds nothing where nothing was damaged', async () => {
    const list = await fill(sharding);
    const report = await reconcile();
    expect(report).toMatchObject({ ...NOTHING, windows: 1, examples: [] });
    expect(report.compared).toBeGreaterThanOrEqual(2 * PLAYERS);
    expect(await standing(list)).toEqual(everybody());
  });

  it('puts back a member, an index field and a score that went wrong', async () => {
    const list = await fill(sharding);
    const gone = await placeOf('p7', list);
    await redis.zrem(gone.set, gone.member);
    await dropFromIndex('p20', list);
    const changed = await placeOf('p33', list);
    await redis.zadd(changed.set, Number(changed.score) - 1000, changed.member);
    const both = await placeOf('p50', list);
    await redis.zrem(both.set, both.member);
    await dropFromIndex('p50', list);
    const report = await reconcile();
    expect(report.missing + report.stale).toBe(4);
    expect(report.examples.map(({ playerId }) => playerId).sort()).toEqual(['p20', 'p33', 'p50', 'p7']);
    expect(await standing(list)).toEqual(everybody());
    expect(await reconcile()).toMatchObject(NOTHING);
  });

  it('takes out what PostgreSQL has not: a stray of the order, and one that the index has too', async () => {
    const list = await fill(sharding);
    const { set, member, score } = await placeOf('p30', list);
    const prefix = member.subarray(0, member.length - 3);
    await redis.zadd(set, score, Buffer.concat([prefix, Buffer.from('nobody')]));
    await node.projection.apply(
      list,
      shardOf('stray', list.shards),
      [{ playerId: 'stray', version: 7, key: { score: -30, member: Buffer.concat([prefix, Buffer.from('stray')]) } }],
      null,
    );
    const report = await reconcile();
    expect(report.stray).toBe(2);
    expect(report.examples).toEqual([{ window: 'alltime', scope: 'global', playerId: 'stray', kind: 'stray' }]);
    expect(await standing(list)).toEqual(everybody());
    expect(await reconcile()).toMatchObject(NOTHING);
  });

  it('brings an entry back that is otherwise under its version, or under one to come', async () => {
    const list = await fill(sharding);
    const wrongly = async (playerId: string, ahead: number): Promise<void> => {
      const version = (await node.projection.entryVersion(list, playerId))! + ahead;
      const [key] = (await node.projection.sortKeys(list, [playerId])).keys;
      if (ahead === 0) await dropFromIndex(playerId, list);
      const change = { playerId, version, key: { ...key!, score: -17.5 } };
      await node.projection.apply(list, shardOf(playerId, list.shards), [change], null);
    };
    await wrongly('p3', 0);
    // Shards by score remember the versions that they wrote, for a while: a store that is ahead is emptied.
    const isRange = list.boundaries !== null;
    if (!isRange) await wrongly('p40', 1e9);
    const report = await reconcile();
    expect(report.missing + report.stale).toBe(isRange ? 1 : 2);
    expect(await standing(list)).toEqual(everybody());
    expect(await reconcile()).toMatchObject(NOTHING);
    await node.submit('board', 'p40', 1000);
    await node.caughtUp();
    expect((await standing(list))[0]).toEqual(['p40', 1000]);
  });

  it('puts back a member that is gone, though the index is behind as well', async () => {
    const list = await fill(sharding);
    await node.database.query(
      `UPDATE entries SET version = (SELECT max(version) FROM entries o WHERE o.lane = entries.lane) WHERE player_id = 'p9'`,
    );
    const { set, member } = await placeOf('p9', list);
    await redis.zrem(set, member);
    expect(await reconcile()).toMatchObject({ ...NOTHING, missing: 1 });
    expect(await standing(list)).toEqual(everybody());
    expect(await reconcile()).toMatchObject(NOTHING);
  });

  it('restores distinct values and counters', async () => {
    const list = await fill(sharding);
    const [counter] = await redis.keys('{*:v');
    await redis.set(counter!, 5);
    let values = 0;
    if (list.dense) {
      const distinct = (await placeOf('p30', list)).set.replace(/:z$/, ':u');
      const [first] = await redis.zrangeBuffer(distinct, 0, 0);
      await redis.zrem(distinct, first!);
      const never = Buffer.alloc(8);
      never.writeDoubleBE(-12.25);
      await redis.zadd(distinct, -12.25, never);
      values = 2;
    }
    expect(await reconcile()).toMatchObject({ ...NOTHING, counters: 1, values });
    expect(await reconcile()).toMatchObject(NOTHING);
    if (list.dense) expect((await node.projection.page(list, PLAYERS - 1, 1, 'dense')).entries[0]!.rank).toBe(PLAYERS);
  });
});

describe('comparing boards', () => {
  it.each([
    ['another shard', 50],
    ['another place of its shard', 12],
  ])('counts no entry that went to %s after it was read', async (_where, score) => {
    const list = await fill(RANGE);
    const shard = Number(/(\d+)\}/.exec((await placeOf('p10', list)).set)![1]);
    const run = node.redis.run.bind(node.redis);
    let isMoved = false;
    const running = vi.spyOn(node.redis, 'run').mockImplementation(async (calls) => {
      const answers = await run(calls);
      if (isMoved || calls[0]?.script.name !== 'range-rows') return answers;
      isMoved = true;
      await node.submit('board', 'p10', score);
      await node.caughtUp();
      return answers;
    });
    try {
      const inspection = new RedisRankInspection(node.redis, node.projection);
      expect(await inspection.removeStrays(list, shard, 0, null)).toMatchObject({ repaired: 0 });
    } finally {
      running.mockRestore();
    }
    expect(isMoved).toBe(true);
    expect(await reconcile()).toMatchObject(NOTHING);
  });

  it('sees no drift in what is under way, and none in what is removed', async () => {
    const list = await fill(RANGE);
    const stop = new AbortController();
    const writing = (async () => {
      for (let n = 0; !stop.signal.aborted; n += 1) await node.submit('board', `p${n % PLAYERS}`, (n * 37) % 90);
    })();
    const reports: ReconciliationReport[] = [];
    for (let n = 0; n < 4; n += 1) reports.push(await reconcile());
    for (let n = 0; n < 4; n += 1) expect((await samples.run(stop.signal)).drift).toEqual({});
    stop.abort();
    await writing;
    await node.caughtUp();
    for (const { missing, stale, stray, values, counters } of reports) {
      expect({ missing, stale, stray, values, counters }).toEqual({
        missing: 0,
        stale: 0,
        stray: 0,
        values: 0,
        counters: 0,
      });
    }
    expect(await reconcile()).toMatchObject(NOTHING);
    expect((await standing(list)).length).toBe(PLAYERS);
  });

  it('leaves what the log has not brought yet to the log', async () => {
    await fill({ by: 'hash', count: 1 });
    await node.unfollow();
    await node.submit('board', 'p1', 500);
    await node.submit('board', 'new', 600);
    expect(await reconcile()).toMatchObject({ ...NOTHING, unsettled: 3 });
  });

  it('brings back what was lost of a guild, and what was lost of a region', async () => {
    const list = await fill({ by: 'hash', count: 2 }, { scopes: ['global', 'region'] });
    const [scope] = await node.scopes.ensure(['region:EU']);
    // As a profile with a region, and a guild, would have written them.
    const { database, lanes } = node;
    const version = await node.committed.of(lanes.of('p5'));
    await database.query(`UPDATE entries SET scopes = ARRAY[$1::int] WHERE player_id = 'p5'`, [scope]);
    await database.query(
      `INSERT INTO guild_totals (window_uid, guild_id, board_uid, lane, version, removed, score, members, achieved_at_ms)
       VALUES ($1, 'red', $2, 0, $3, false, 77, 3, 1000)`,
      [list.windowUid, list.boardUid, Math.min(version, await node.committed.of(0))],
    );
    const report = await reconcile();
    expect(report).toMatchObject({ ...NOTHING, missing: 2 });
    expect(report.examples).toEqual([
      { window: 'alltime', scope: 'region:EU', playerId: 'p5', kind: 'missing' },
      { window: 'alltime', scope: 'guilds', playerId: 'red', kind: 'missing' },
    ]);
    const board = node.boards.byId('board')!;
    expect(await standing(rankListOf(board, list.windowUid, scope!))).toEqual([['p5', 5]]);
    expect(await standing(rankListOf(board, list.windowUid, GUILDS_SCOPE))).toEqual([['red', 77]]);
    await database.query(`UPDATE entries SET scopes = '{}' WHERE player_id = 'p5'`);
    expect(await reconcile()).toMatchObject({ ...NOTHING, stray: 0 });
  });

  it('is left to the one under way when it is ordered again, which is no act', async () => {
    await fill({ by: 'hash', count: 1 });
    const job = await jobs.request('board', 'first');
    expect(await jobs.request('board', 'second')).toEqual(job);
    await jobs.note(job.boardUid, { windowUid: 1, step: 'lists', id: '', scope: 0 }, job.report);
    expect(await jobs.request('board', 'second')).toEqual(await jobs.of(job.boardUid));
    await jobs.finish(job.boardUid, job.report);
    expect(await jobs.request('board', 'third')).toMatchObject({ startedAtMs: null, finishedAtMs: null });
    const acts = await node.database.query(`SELECT actor FROM audit_log WHERE action = 'board.reconcile'`);
    expect(acts).toEqual([{ actor: 'first' }, { actor: 'third' }]);
    await expect(jobs.request('none', 'test')).rejects.toMatchObject({ code: 'BOARD_NOT_FOUND' });
  });

  it('goes on where it was interrupted', async () => {
    await fill({ by: 'hash', count: 1 });
    const job = await jobs.request('board', 'test');
    const list = await node.listOf('board');
    const reached = { windowUid: list.windowUid, step: 'lists' as const, id: '', scope: 0 };
    const half = { ...job.report, compared: PLAYERS, missing: 3 };
    await jobs.note(job.boardUid, reached, half);
    const again = await reconciler.run((await jobs.next())!, AbortSignal.timeout(10_000));
    expect(again).toMatchObject({ compared: 2 * PLAYERS, missing: 3, lists: 2 });
    expect(await jobs.next()).toBeUndefined();
    expect((await jobs.of(job.boardUid))!.report).toEqual(again);
  });

  it('finds damage by samples', async () => {
    const list = await fill({ by: 'hash', count: 1 });
    const { set, member } = await placeOf('p11', list);
    await redis.zrem(set, member);
    const { drift } = await samples.run(AbortSignal.timeout(10_000));
    expect(drift).toEqual({ missing: 1 });
    expect(await standing(list)).toEqual(everybody());
  });

  it('brings a player up by saying once more what is', async () => {
    const list = await fill(RANGE);
    const { set, member } = await placeOf('p11', list);
    await redis.zrem(set, member);
    await dropFromIndex('p11', list);
    const notifier = new OutboxNotifier(node.database);
    const totals = new GuildTotals(node.database, node.lanes, node.scopes, notifier);
    const present = new StateRepublisher(new LaneQueue(node.database, node.lanes, notifier), totals);
    for (let n = 0; n < 2; n += 1) {
      expect(await present.emitPlayer('p11', { boardUid: list.boardUid, windowUids: [list.windowUid] })).toBe(1);
    }
    expect(await present.emitPlayer('p11', { boardUid: null, windowUids: null })).toBe(1);
    expect(await present.emitPlayer('nobody', { boardUid: null, windowUids: null })).toBe(0);
    await node.caughtUp();
    expect(await standing(list)).toEqual(everybody());
    expect(await reconcile()).toMatchObject(NOTHING);
  });
});
