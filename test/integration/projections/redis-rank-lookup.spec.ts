// Real: Redis or Valkey. A trip is everything that is sent together, to however many nodes.
import type { BoardOrdering, RankStyle } from '@laddercast/domain';
import { LOOKUP_PLAYERS_MAX, RedisRankProjection, type RankList, FIRST_GENERATION } from '@laddercast/projections';
import { applyAll, expectedRows, SortedArrayOracle, type RankChange } from '@laddercast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openCountedRedis, type CountingConnection } from './counted-redis.js';

const PLAYERS = 4000;
const ordering: BoardOrdering = {
  order: 'desc',
  operator: 'best',
  tiebreak: 'earliest',
  columns: [{ name: 'moves', order: 'asc' }],
};
const STYLES: RankStyle[] = ['ordinal', 'competition'];

let redis: CountingConnection;
let close: () => Promise<void>;
let windowUid = 1;

beforeAll(async () => {
  ({ redis, close } = await openCountedRedis());
});
afterAll(() => close());

/** A list of masses of ties, the oracle of it, and a projection that remembers nothing yet. */
async function filledList(shards: number) {
  const list: RankList = { boardUid: 6, windowUid: windowUid++, scope: 0, ordering, shards, ...FIRST_GENERATION };
  const projection = new RedisRankProjection(redis);
  const oracle = new SortedArrayOracle(ordering);
  let version = 0;
  const apply = async (changes: Omit<RankChange, 'version'>[]): Promise<void> => {
    const history = changes.map((change) => ({ ...change, version: ++version }));
    await applyAll(projection, list, history);
    for (const change of history) oracle.apply(change.playerId, change.version, change.values);
  };
  const entry = (at: number, seed: number) => ({
    playerId: `player-${at}`,
    values: { score: (((at + seed) * 7919) % 5) + 0.1, columns: [at % 3], achievedAtMs: 1000 + ((at * 7) % 50) },
  });
  await apply(Array.from({ length: PLAYERS }, (_, at) => entry(at, 0)));
  const circle = Array.from({ length: LOOKUP_PLAYERS_MAX }, (_, at) => `player-${at * 7}`);
  /** Looks the circle up, compares each rank with the oracle's. @returns how many trips that took */
  const lookUp = async (style: RankStyle, ids: readonly string[] = circle): Promise<number> => {
    redis.trips = 0;
    const { entries, total } = await projection.lookup(list, ids, style);
    const { trips } = redis;
    expect(total).toBe(oracle.entries.length);
    expect(entries).toEqual(
      ids.map((id) => {
        const index = oracle.indexOf(id);
        return index < 0 ? null : expectedRows(list, oracle, index, index + 1, style)[0];
      }),
    );
    return trips;
  };
  return { apply, entry, circle, lookUp, projection, list };
}

describe('looking up the 501 players of a circle', () => {
  it.each(STYLES)('takes one trip where the list has one shard (%s)', async (style) => {
    const { lookUp } = await filledList(1);
    expect(await lookUp(style)).toBe(1);
    expect(await lookUp(style)).toBe(1);
  });

  it('takes two trips over several shards at first, and one as long as nobody of them scores, in any style', async () => {
    const { lookUp, apply, entry } = await filledList(4);
    expect(await lookUp('ordinal')).toBe(2);
    expect(await lookUp('ordinal')).toBe(1);
    // Ranks of the circle change by what others do, and are exact all the same.
    await apply(Array.from({ length: 300 }, (_, at) => entry(at * 7 + 1, 3)));
    expect(await lookUp('competition')).toBe(1);
    expect(await lookUp('ordinal')).toBe(1);
  });

  it('asks again for those alone whose entries changed, and gives what they are now', async () => {
    const { lookUp, apply, entry } = await filledList(4);
    await lookUp('ordinal');
    await apply([entry(7, 1), entry(14, 2), { playerId: 'player-21', values: null }]);
    redis.calls = 0;
    expect(await lookUp('ordinal')).toBe(2);
    // Beside the first round's reads and counts (6 and 3 × 6 calls or so): two keys, in three shards each.
    expect(redis.calls).toBeLessThanOrEqual(8 + 24 + 6);
    expect(await lookUp('ordinal')).toBe(1);
    await apply([entry(21, 4)]);
    expect(await lookUp('ordinal')).toBe(2);
  });

  it('knows players twice in one question, and players who are nowhere', async () => {
    const { lookUp } = await filledList(3);
    const ids = ['player-5', 'nobody', 'player-5', 'player-6'];
    expect(await lookUp('ordinal', ids)).toBe(2);
    expect(await lookUp('ordinal', ids)).toBe(1);
    expect(await lookUp('ordinal', ['nobody'])).toBe(1);
  });

  it('refuses more', async () => {
    const { projection, list } = await filledList(1);
    const ids = Array.from({ length: LOOKUP_PLAYERS_MAX + 1 }, (_, at) => `p${at}`);
    await expect(projection.lookup(list, ids, 'ordinal')).rejects.toThrow(RangeError);
  });

  it('counts nobody as better than itself, while it moves between the first place and the last', async () => {
    const { apply, projection, list, circle } = await filledList(4);
    const hop = (score: number) => apply([{ playerId: 'player-0', values: { score, columns: [0], achievedAtMs: 1 } }]);
    await hop(100);
    let reading = true;
    const hops = (async () => {
      for (let turn = 0; reading; turn += 1) await hop(turn % 2 ? 100 : -100);
    })();
    const ranks = new Set<number>();
    for (let read = 0; read < 60; read += 1) {
      const { entries } = await projection.lookup(list, circle, read % 2 ? 'ordinal' : 'competition');
      ranks.add(entries[0]!.rank);
    }
    reading = false;
    await hops;
    expect([...ranks].sort((a, b) => a - b)).toEqual([1, PLAYERS]);
  });
});
