// Real: Redis or Valkey and the scripts. What a shard keeps of distinct values is read as it lies there.
import { GLOBAL_SCOPE, type BoardOrdering } from '@laddercast/domain';
import { FIRST_GENERATION, RedisRankProjection, type RankList, type RankReadings } from '@laddercast/projections';
import {
  anyRankScenario,
  applyAll,
  expectedRows,
  oracleOf,
  SortedArrayOracle,
  sortKeyOf,
  type RankChange,
} from '@laddercast/testing';
import fc from 'fast-check';
import type { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openCountedRedis, type CountingConnection } from './counted-redis.js';

let redis: CountingConnection;
let plain: Redis;
let projection: RedisRankProjection;
let windowUid = 1;

let close: () => Promise<void>;

beforeAll(async () => {
  ({ redis, plain, close } = await openCountedRedis());
  projection = new RedisRankProjection(redis);
});

afterAll(() => close());

const ORDERING: BoardOrdering = {
  order: 'desc',
  operator: 'best',
  tiebreak: 'earliest',
  columns: [{ name: 'moves', order: 'asc' }],
};
const listOf = (changes: Partial<RankList> = {}): RankList => ({
  boardUid: 9,
  windowUid: windowUid++,
  scope: GLOBAL_SCOPE,
  ordering: ORDERING,
  shards: 1,
  ...FIRST_GENERATION,
  dense: true,
  ...changes,
});

/** What is kept, best first: the score by which Redis orders it, and its bytes. */
async function keptValues({ boardUid, windowUid: window, scope }: RankList): Promise<[number, string][]> {
  const flat = await plain.zrangeBuffer(`{${boardUid}.${window}.${scope}.0}1:u`, 0, -1, 'WITHSCORES');
  const values: [number, string][] = [];
  for (let at = 0; at < flat.length; at += 2)
    values.push([Number(flat[at + 1]!.toString()), flat[at]!.toString('hex')]);
  return values;
}

/** What should be: the score's eight bytes, and those of the columns. */
function distinctValues({ ordering }: RankList, oracle: SortedArrayOracle): [number, string][] {
  const isFirst = (at: number): boolean => at === 0 || oracle.rankAt(at, 'dense') > oracle.rankAt(at - 1, 'dense');
  return oracle.entries
    .filter((_, at) => isFirst(at))
    .map((entry) => {
      const { score, member } = sortKeyOf(ordering, entry);
      const bytes = Buffer.alloc(8);
      bytes.writeDoubleBE(score);
      return [score, Buffer.concat([bytes, member.subarray(0, 8 * ordering.columns.length)]).toString('hex')];
    });
}

describe('the distinct values of a shard', () => {
  /** Applies the changes some at a time, so that not all meet in one call. */
  async function expectKept(list: RankList, history: RankChange[], applied = history): Promise<void> {
    for (let at = 0; at < applied.length; at += 5) await applyAll(projection, list, applied.slice(at, at + 5));
    expect(await keptValues(list)).toEqual(distinctValues(list, oracleOf({ list, history })));
    await projection.drop(list);
    expect(await keptValues(list)).toEqual([]);
  }

  it('are those of its entries, and no others, however sharp they are and in whatever order they came', () =>
    fc.assert(
      fc.asyncProperty(
        anyRankScenario(80).chain(({ list, history }) =>
          fc.record({
            ordering: fc.constant(list.ordering),
            history: fc.constant(history),
            shuffled: fc.shuffledSubarray([...history, ...history], { minLength: history.length * 2 }),
          }),
        ),
        ({ ordering, history, shuffled }) => expectKept(listOf({ ordering }), history, shuffled),
      ),
      { numRuns: 60 },
    ));

  it('go with the last entry that has them, and not before', () => {
    const anyValues = fc.record({
      score: fc.constantFrom(0, -0, 1),
      columns: fc.tuple(fc.constantFrom(0, 1)).map((columns) => [...columns]),
      achievedAtMs: fc.constantFrom(1, 2),
    });
    const anyChange = fc.tuple(fc.constantFrom('a', 'b', 'c', 'd'), fc.option(anyValues, { freq: 4 }));
    return fc.assert(
      fc.asyncProperty(fc.array(anyChange, { minLength: 2, maxLength: 40 }), (changes) =>
        expectKept(
          listOf(),
          changes.map(([playerId, values], at) => ({ playerId, version: at + 1, values })),
        ),
      ),
      { numRuns: 100 },
    );
  });

  it('are not kept where the list does not ask for them', async () => {
    const list = listOf({ dense: false });
    await applyAll(projection, list, [
      { playerId: 'ada', version: 1, values: { score: 1, columns: [1], achievedAtMs: 1 } },
    ]);
    expect(await keptValues(list)).toEqual([]);
  });
});

describe('dense ranks', () => {
  it('among masses of ties take one trip each, whatever is asked', async () => {
    const list = listOf();
    const history = Array.from({ length: 6000 }, (_, at): RankChange => {
      const values = { score: (at * 7919) % 3, columns: [at % 4], achievedAtMs: 1000 + ((at * 104_729) % 6000) };
      return { playerId: `player-${at}`, version: at + 1, values };
    });
    await applyAll(projection, list, history);
    const oracle = oracleOf({ list, history });
    const inOneTrip = async <T>(ask: (ranks: RankReadings) => Promise<T>): Promise<T> => {
      redis.trips = 0;
      const answer = await ask(projection);
      expect(redis.trips).toBe(1);
      return answer;
    };
    for (const index of [0, 1, 499, 500, 1999, 2000, 4321, 5999]) {
      const entry = oracle.entries[index]!;
      const rank = oracle.rankAt(index, 'dense');
      const page = await inOneTrip((ranks) => ranks.page(list, index, 20, 'dense'));
      expect(page.entries).toEqual(expectedRows(list, oracle, index, index + 20, 'dense'));
      const player = await inOneTrip((ranks) => ranks.player(list, entry.playerId, 5, 5, 'dense'));
      expect(player.entry!.rank).toBe(rank);
      expect(player.neighbours).toEqual(expectedRows(list, oracle, Math.max(0, index - 5), index + 6, 'dense'));
      const found = await inOneTrip((ranks) => ranks.lookup(list, [entry.playerId, 'nobody'], 'dense'));
      expect(found.entries.map((one) => one?.rank ?? null)).toEqual([rank, null]);
      const key = sortKeyOf(list.ordering, entry);
      expect((await inOneTrip((ranks) => ranks.rankOfKey(list, key, 'dense'))).rank).toBe(rank);
    }
  });

  it.each([
    ['that keeps no distinct values', { dense: false }],
    ['of several shards by player', { shards: 2 }],
  ])('of a list %s are refused with the remedy', async (_what, changes) => {
    const list = listOf(changes);
    const key = sortKeyOf(list.ordering, { playerId: 'ada', score: 1, columns: [1], achievedAtMs: 1 });
    const readings = [
      () => projection.page(list, 0, 1, 'dense'),
      () => projection.player(list, 'ada', 1, 1, 'dense'),
      () => projection.lookup(list, ['ada'], 'dense'),
      () => projection.rankOfKey(list, key, 'dense'),
    ];
    for (const read of readings) {
      await expect(read()).rejects.toMatchObject({
        code: 'RANK_STYLE_NOT_KEPT',
        detail: expect.stringMatching(/"dense": true/),
      });
    }
  });
});
