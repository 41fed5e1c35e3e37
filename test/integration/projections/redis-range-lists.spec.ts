// Real: Redis or Valkey, with lists by ranges that are large enough for pages and neighbours over many edges.
import { shardOf, type BoardOrdering } from '@laddercast/domain';
import { FIRST_GENERATION, RecoveryRun, RedisRankProjection, type RankList } from '@laddercast/projections';
import { applyAll, expectedRows, projectedChange, SortedArrayOracle, type RankChange } from '@laddercast/testing';
import type { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openCountedRedis, type CountingConnection } from './counted-redis.js';

let plain: Redis;
let redis: CountingConnection;
let projection: RedisRankProjection;
let windowUid = 1;

let close: () => Promise<void>;

beforeAll(async () => {
  ({ redis, plain, close } = await openCountedRedis());
  projection = new RedisRankProjection(redis);
});
afterAll(() => close());

const ordering: BoardOrdering = { order: 'asc', operator: 'latest', tiebreak: 'earliest', columns: [] };
const listOf = (boundaries: number[], more: Partial<RankList> = {}): RankList => ({
  ...FIRST_GENERATION,
  boardUid: 8,
  windowUid: windowUid++,
  scope: 0,
  ordering,
  shards: boundaries.length + 1,
  boundaries,
  ...more,
});
const change = (playerId: string, version: number, score: number | null): RankChange => ({
  playerId,
  version,
  values: score === null ? null : { score, columns: [], achievedAtMs: 5 },
});
const SETTLED = [change('ada', 1, 1), change('bob', 2, 1), change('cy', 3, 11), change('dee', 4, 12)];

function expectedOf(list: RankList, history: readonly RankChange[]): SortedArrayOracle {
  const oracle = new SortedArrayOracle(list.ordering);
  for (const { playerId, version, values } of history) oracle.apply(playerId, version, values);
  return oracle;
}

describe('a list by ranges', () => {
  /** Entries on few scores, their times a permutation. */
  const tied = (count: number, scores: number): RankChange[] =>
    Array.from({ length: count }, (_, at) => ({
      playerId: `player-${at}`,
      version: at + 1,
      values: { score: (at * 7919) % scores, columns: [], achievedAtMs: 1000 + ((at * 104_729) % count) },
    }));

  it('gives deep pages, neighbours over edges and ranks in every style, in one trip or two while it is quiet', async () => {
    const list = listOf([7, 8, 20, 33], { dense: true });
    const history = tied(4000, 40);
    await applyAll(projection, list, history);
    const oracle = expectedOf(list, history);
    const denseRanks = new Map(
      [...new Set(oracle.entries.map(({ score }) => score))].map((score, at) => [score, at + 1]),
    );
    const expected = (from: number, to: number, style: 'ordinal' | 'competition' | 'dense') =>
      expectedRows(list, oracle, from, to, style).map((row) =>
        style === 'dense' ? { ...row, rank: denseRanks.get(row.score)! } : row,
      );
    const trips = async <Answer>(read: () => Promise<Answer>): Promise<{ answer: Answer; trips: number }> => {
      redis.trips = 0;
      return { answer: await read(), trips: redis.trips };
    };
    await projection.total(list);
    for (const style of ['ordinal', 'competition', 'dense'] as const) {
      // 700 entries are before the first edge, 100 between it and the second.
      for (const offset of [0, 690, 699, 700, 795, 1999, 3301, 3980, 3999, 4000, 9000]) {
        const page = await trips(() => projection.page(list, offset, 120, style));
        expect(page.answer.entries).toEqual(expected(offset, offset + 120, style));
        expect(page.answer).toMatchObject({ total: 4000 });
        expect(page.trips).toBe(1);
      }
      for (const index of [0, 3, 699, 700, 750, 799, 800, 3999]) {
        const { playerId } = oracle.entries[index]!;
        const player = await trips(() => projection.player(list, playerId, 110, 110, style));
        expect(player.answer.neighbours).toEqual(expected(Math.max(0, index - 110), index + 111, style));
        expect(player.answer.entry!.rank).toBe(expected(index, index + 1, style)[0]!.rank);
        expect(player.trips).toBe(2);
      }
      const ids = Array.from({ length: 501 }, (_, at) => `player-${at * 9}`);
      const lookup = await trips(() => projection.lookup(list, ids, style));
      expect(lookup.answer.entries).toEqual(
        ids.map((id) => {
          const index = oracle.indexOf(id);
          return index < 0 ? null : expected(index, index + 1, style)[0];
        }),
      );
      expect(lookup.trips).toBeLessThanOrEqual(3);
    }
  });

  it('is whole again when a shard lost everything and all is brought back', async () => {
    const list = listOf([7, 20]);
    const history = tied(300, 30);
    await applyAll(projection, list, history);
    const { listVersion } = await projection.total(list);
    await plain.unlink(...(await plain.keys(`{8.${list.windowUid}.0.1}*`)));
    // A process that knows the counters refuses; one that does not relies on the marks.
    expect((await new RedisRankProjection(redis).total(list)).total).toBeLessThan(300);
    await applyAll(projection, list, history, new RecoveryRun());
    const page = await projection.page(list, 0, 300, 'ordinal');
    expect(page.entries).toEqual(expectedRows(list, expectedOf(list, history), 0, 300, 'ordinal'));
    expect(page.listVersion).toBeGreaterThan(listVersion);
  });

  it('never falls back behind its version when nothing is brought back to a shard that entries went through', async () => {
    const list = listOf([7, 20]);
    const passing = [change('ada', 1, 25), change('ada', 2, 10), change('ada', 3, 5)];
    for (const one of passing) await applyAll(projection, list, [one]);
    const { listVersion } = await projection.total(list);
    await plain.unlink(...(await plain.keys(`{8.${list.windowUid}.*`)));
    await applyAll(projection, list, passing.slice(-1), new RecoveryRun());
    expect((await projection.total(list)).listVersion).toBeGreaterThan(listVersion);
  });

  it('gives all its keys the expiry of the window, and a later one; late changes of a window that is over make none', async () => {
    const list = listOf([10]);
    const until = Date.now() + 100_000;
    for (const keepUntilMs of [until, until + 50_000, until]) {
      for (const one of [...SETTLED, change('ada', 20 + keepUntilMs - until, 15), change('bob', 21, null)]) {
        const home = shardOf(one.playerId, 2);
        await projection.apply(list, home, [projectedChange(ordering, one)], keepUntilMs);
      }
    }
    const keys = (await plain.keys(`{8.${list.windowUid}.*`)).filter((key) => !key.endsWith(':w'));
    expect(keys.length).toBeGreaterThan(6);
    for (const key of keys) expect([key, await plain.pexpiretime(key)]).toEqual([key, until + 50_000]);
    await projection.drop(list);
    expect(await plain.keys(`{8.${list.windowUid}.*`)).toEqual([]);

    // A shard that is nobody's home is told of a later end by what is put into it.
    const home = shardOf('ada', 2);
    const score = home === 0 ? 15 : 5;
    for (const [version, keepUntilMs] of [until, until + 50_000].entries()) {
      await projection.apply(list, home, [projectedChange(ordering, change('ada', version + 1, score))], keepUntilMs);
    }
    expect(await plain.pexpiretime(`{8.${list.windowUid}.0.${1 - home}}1:z`)).toBe(until + 50_000);

    const over = listOf([10]);
    for (const one of SETTLED) {
      await projection.apply(over, shardOf(one.playerId, 2), [projectedChange(ordering, one)], 1000);
    }
    expect(await projection.total(over)).toMatchObject({ total: 0, listVersion: 0 });
    expect((await plain.keys(`{8.${over.windowUid}.*`)).filter((key) => !key.endsWith(':w'))).toEqual([]);
  });
});
