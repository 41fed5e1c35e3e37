// Real: PostgreSQL with the ledger, Redis or Valkey whose keys are deleted one by one, the outbox as the log, the saga that
// feeds the ranks; what is read is compared with a sorted array.
import { GLOBAL_SCOPE, LadderError, shardOf, type BoardDefinition, type RankStyle } from '@laddercast/domain';
import {
  RedisCheckpoints,
  RedisLostShards,
  RedisRankProjection,
  rankListOf,
  ShardRestorer,
  WindowLists,
  type RankList,
} from '@laddercast/projections';
import { createTestDatabase, emptyTestRedis, SortedArrayOracle, type TestDatabase } from '@laddercast/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LayoutNode } from '../nodes/layout-node.js';
import { Redis } from '../nodes/redis-client.js';

const PLAYERS = 24;
const never = new AbortController().signal;

let testDatabase: TestDatabase;
let node: LayoutNode;
let redis: Redis;
let restorer: ShardRestorer;
let scores: Map<string, number>;

beforeEach(async () => {
  const redisUrl = await emptyTestRedis();
  testDatabase = await createTestDatabase();
  node = new LayoutNode(testDatabase.url, redisUrl);
  await node.start();
  redis = new Redis(redisUrl);
  const { database, projection, boards } = node;
  const lost = new RedisLostShards(node.redis);
  restorer = new ShardRestorer(database, projection, boards, new WindowLists(database), lost);
  scores = new Map();
  await node.follow();
});
afterEach(async () => {
  redis.disconnect();
  await node.stop();
  await testDatabase.drop();
});

/** Players of whom some share a score. */
const scoreOf = (n: number): number => (n % 5 === 0 ? 20 : n);

async function submit(playerId: string, score: number): Promise<void> {
  await node.submit('board', playerId, score);
  scores.set(playerId, score);
}

/** The board as it should be, ordinal ranks by player; ties stand by player, since no time breaks them. */
function oracleOf(list: RankList): SortedArrayOracle {
  const oracle = new SortedArrayOracle(list.ordering);
  for (const [playerId, score] of scores) oracle.apply(playerId, 1, { score, columns: [], achievedAtMs: 0 });
  return oracle;
}

interface Reading {
  name: string;
  read: () => Promise<unknown>;
  expected: unknown;
}

/** Every kind of reading of a list, and what it should say. */
function readingsOf(list: RankList, projection: RedisRankProjection, cursor: () => Promise<unknown>): Reading[] {
  const oracle = oracleOf(list);
  const total = oracle.entries.length;
  const asRanked = (from: number, to: number, style: RankStyle): unknown =>
    oracle.entries.slice(from, to).map(({ playerId, score }, at) => [oracle.rankAt(from + at, style), playerId, score]);
  const shown = (entries: readonly ({ rank: number; playerId: string; score: number } | null)[]): unknown =>
    entries.map((entry) => entry && [entry.rank, entry.playerId, entry.score]);
  const styles: RankStyle[] = list.dense ? ['ordinal', 'dense'] : ['ordinal', 'competition'];
  const ids = [...scores.keys(), 'nobody'];
  const placeOf = (id: string): number => oracle.indexOf(id);
  const ofStyle = (style: RankStyle): Reading[] => [
    {
      name: `a list (${style})`,
      read: async () => shown((await projection.page(list, 0, 100, style)).entries),
      expected: asRanked(0, 100, style),
    },
    {
      name: `a deep page (${style})`,
      read: async () => shown((await projection.page(list, 15, 5, style)).entries),
      expected: asRanked(15, 20, style),
    },
    {
      name: `lookups (${style})`,
      read: async () => shown((await projection.lookup(list, ids, style)).entries),
      expected: ids.map((id) =>
        placeOf(id) < 0 ? null : [oracle.rankAt(placeOf(id), style), id, oracle.entries[placeOf(id)]!.score],
      ),
    },
    {
      name: `players with neighbours (${style})`,
      read: () =>
        Promise.all(ids.map(async (id) => shown((await projection.player(list, id, 1, 1, style)).neighbours))),
      expected: ids.map((id) => {
        const at = placeOf(id);
        return at < 0 ? [] : asRanked(Math.max(0, at - 1), at + 2, style);
      }),
    },
    {
      name: `the rank of a score (${style})`,
      read: async () => {
        const key = { score: list.ordering.order === 'desc' ? -12.5 : 12.5, member: Buffer.alloc(0) };
        return (await projection.rankOfKey(list, key, style)).rank;
      },
      expected: oracle.rankOf({ playerId: '', score: 12.5, columns: [], achievedAtMs: 0 }, style),
    },
  ];
  return [
    ...styles.flatMap(ofStyle),
    { name: 'the total', read: async () => (await projection.total(list)).total, expected: total },
    {
      name: 'keys for estimates',
      read: async () => (await projection.sortKeys(list, ids)).keys.map((key) => key && Math.abs(key.score)),
      expected: ids.map((id) => scores.get(id) ?? null),
    },
    {
      name: 'marks',
      read: async () => (await projection.readMarks(list, 100)).shards.reduce((sum, shard) => sum + shard.total, 0),
      expected: total,
    },
    { name: 'a cursor', read: cursor, expected: asRanked(0, 100, 'ordinal') },
  ];
}

/** What was refused; nothing else than what is right was answered. */
async function refused(readings: readonly Reading[]): Promise<string[]> {
  const names: string[] = [];
  for (const { name, read, expected } of readings) {
    const outcome = await read().catch((error: unknown) => error);
    if (outcome instanceof LadderError) {
      expect(['PROJECTION_UNAVAILABLE', 'CURSOR_EXPIRED'], name).toContain(outcome.code);
      names.push(name);
    } else expect(outcome, name).toEqual(expected);
  }
  return names;
}

/** Waits for what is submitted. Beside that shards are closed, as a projector does: else changes by score wait for them. */
async function caughtUp(): Promise<void> {
  let isDone = false;
  const waiting = node.caughtUp().finally(() => (isDone = true));
  while (!isDone) {
    await restorer.close();
    await Promise.race([waiting, new Promise((resolve) => setTimeout(resolve, 100))]);
  }
  await waiting;
}

async function restoreAll(): Promise<number> {
  let restored = 0;
  for (;;) {
    const [one] = await restorer.close();
    if (one === undefined) return restored;
    await restorer.restore(one, never);
    restored += 1;
  }
}

const isListOfKeys = (key: string): boolean => key.endsWith(':k');

const KINDS: [name: string, definition: Partial<BoardDefinition>, damaged: RegExp, vital: string[]][] = [
  ['by player', { sharding: { by: 'hash', count: 2 } }, /^\{.*\.0\}/, ['z', 'v', 'k']],
  [
    'by player with distinct values',
    { sharding: { by: 'hash', count: 1 }, dense: true },
    /^\{.*\.0\}/,
    ['z', 'v', 'k', 'u'],
  ],
  ['by score', { sharding: { by: 'range', boundaries: [9, 20] } }, /^\{.*\.[01]\}/, ['z', 'v', 'k', 'x']],
  ['by score with an empty shard', { sharding: { by: 'range', boundaries: [-9, 100] } }, /^\{.*\.[02]\}/, ['v', 'k']],
];

describe.each(KINDS)('a list %s that loses one key', (_name, definition, damaged, vital) => {
  it(
    'answers what is right or nothing, also after a change, and is whole again soon',
    { timeout: 240_000 },
    async () => {
      const board = await node.put('board', { tiebreak: 'none', ...definition });
      for (let n = 0; n < PLAYERS; n += 1) await submit(`p${n}`, scoreOf(n));
      await node.caughtUp();
      const list = await node.listOf('board');
      expect(list).toMatchObject(rankListOf(board, list.windowUid, GLOBAL_SCOPE));
      const checkpoints = new RedisCheckpoints(node.redis);
      const open = async (): Promise<() => Promise<unknown>> => {
        const opened = await checkpoints.open(list, false);
        const place = { beside: null, direction: 'after' as const, denseRank: null };
        const then = oracleOf(list).entries.map(({ playerId, score }, at) => [at + 1, playerId, score]);
        return async () => {
          const { entries } = await checkpoints.page(list, opened, place, 100, 'ordinal');
          const rows = entries.map(({ rank, playerId, score }) => [rank, playerId, score]);
          expect(rows).toEqual(then);
          return oracleOf(list).entries.map(({ playerId, score }, at) => [at + 1, playerId, score]);
        };
      };
      const remembering = node.projection;
      let changes = 0;
      const change = async (): Promise<void> => {
        for (let n = 0; n < 2; n += 1) {
          changes += 1;
          const player = (7 * changes) % PLAYERS;
          await submit(`p${player}`, (scoreOf(player) + 11 * changes) % 40);
        }
        await caughtUp();
      };
      const keys = async (): Promise<string[]> => (await redis.keys('{*')).filter((key) => damaged.test(key)).sort();
      await open();
      await change();
      const kept = new Set((await keys()).map((key) => key.replace(/^.*\}/, '')));
      const lossesOf = new Map<string, number>();
      const all = await keys();
      // The list of keys first: while it is missed by nobody, neither is what is lost after it.
      for (const key of all.filter(isListOfKeys).concat(all.filter((key) => !isListOfKeys(key)))) {
        // Where many checkpoints are open, an older one would be shared.
        await redis.del((await keys()).filter((one) => /:c\d*(:\w+)?$/.test(one)).concat('-'));
        const cursor = await open();
        await change();
        expect(await refused(readingsOf(list, remembering, cursor))).toEqual([]);
        if ((await redis.del(key)) === 0) continue;
        const fresh = (): RedisRankProjection => new RedisRankProjection(node.redis);
        await refused(readingsOf(list, fresh(), cursor));
        await refused(readingsOf(list, remembering, cursor));
        await change();
        await refused(readingsOf(list, fresh(), cursor));
        await refused(readingsOf(list, remembering, cursor));
        lossesOf.set(key.replace(/^.*\}\d+:/, ''), await restoreAll());
        await node.caughtUp();
        for (const projection of [fresh(), remembering]) {
          const left = (await refused(readingsOf(list, projection, cursor))).filter((name) => name !== 'a cursor');
          expect(left, `after ${key} was lost`).toEqual([]);
        }
      }
      expect(kept.size).toBeGreaterThan(PLAYERS / 4);
      // None of these can be made up for by what is left.
      expect(vital.filter((name) => !lossesOf.get(name))).toEqual([]);
      expect([...lossesOf].filter(([name, losses]) => name.startsWith('i:') && losses === 0)).toEqual([]);
    },
  );
});

describe('a shard that loses all its keys', () => {
  it('is refused by whoever has read it, and brought back', async () => {
    await node.put('board', { tiebreak: 'none', sharding: { by: 'hash', count: 2 } });
    for (let n = 0; n < PLAYERS; n += 1) await submit(`p${n}`, n);
    await node.caughtUp();
    const list = await node.listOf('board');
    const page = async (): Promise<number> => (await node.projection.page(list, 0, 100, 'ordinal')).entries.length;
    expect(await page()).toBe(PLAYERS);
    await redis.del(...(await redis.keys(`{${list.boardUid}.${list.windowUid}.0.1}*`)));
    await expect(page()).rejects.toMatchObject({ code: 'PROJECTION_UNAVAILABLE' });
    const inLost = Array.from({ length: PLAYERS }, (_, n) => `p${n}`).find((id) => shardOf(id, 2) === 1)!;
    await submit(inLost, 99);
    await node.caughtUp();
    await expect(page()).rejects.toMatchObject({ code: 'PROJECTION_UNAVAILABLE' });
    expect(await restoreAll()).toBe(1);
    expect(await page()).toBe(PLAYERS);
    expect((await node.projection.page(list, 0, 1, 'ordinal')).entries[0]).toMatchObject({ playerId: inLost, rank: 1 });
  });

  it('is not filled by two at once: who began earlier does not open it', async () => {
    await node.put('board', { tiebreak: 'none', sharding: { by: 'hash', count: 1 } });
    for (let n = 0; n < PLAYERS; n += 1) await submit(`p${n}`, n);
    await node.caughtUp();
    const list = await node.listOf('board');
    const lost = new RedisLostShards(node.redis);
    await lost.close(list, 0);
    await lost.empty(list, 0);
    await lost.fill(list, 0, 'earlier', null);
    await lost.note(list, 0);
    const [one] = await restorer.close();
    expect(await restorer.restore(one!, never)).toBe(PLAYERS);
    expect(await lost.finish(list, 0, 'earlier')).toBe(false);
    expect((await node.projection.total(list)).total).toBe(PLAYERS);
  });
});
