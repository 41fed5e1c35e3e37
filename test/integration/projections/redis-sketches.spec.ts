// Real: Redis or Valkey with the projection's scripts. Sketches are held against the list as it was at their version.
import {
  compareSortKeys,
  errorBoundOf,
  GLOBAL_SCOPE,
  RankSketch,
  shardOf,
  type BoardOrdering,
} from '@laddercast/domain';
import {
  FIRST_GENERATION,
  RedisConnection,
  RedisRankProjection,
  RedisSketchStore,
  SketchBuilder,
  type RankList,
} from '@laddercast/projections';
import { Dice, emptyTestRedis, sortKeyOf, SortedArrayOracle, type OracleValues } from '@laddercast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const ORDERING: BoardOrdering = { order: 'desc', operator: 'latest', tiebreak: 'earliest', columns: [] };
const SEED = Number(process.env.TEST_SEED ?? 20_261_120);
let redis: RedisConnection;
let projection: RedisRankProjection;
let store: RedisSketchStore;
let windowUid = 1;

const newList = (shards: number): RankList => ({
  boardUid: 1,
  windowUid: (windowUid += 1),
  scope: GLOBAL_SCOPE,
  ordering: ORDERING,
  shards,
  ...FIRST_GENERATION,
});

/** One writer: random players get random scores, or go, one after another. */
class Writer {
  readonly history: { playerId: string; version: number; values: Omit<OracleValues, 'playerId'> | null }[] = [];

  constructor(
    private readonly list: RankList,
    private readonly random: () => number,
  ) {}

  async write(count: number): Promise<void> {
    const byShard = Array.from({ length: this.list.shards }, () => [] as typeof this.history);
    for (let left = count; left > 0; left -= 1) {
      const playerId = `p${Math.floor(this.random() * 4000)}`;
      const score = Math.floor(this.random() * 30);
      const values = this.random() < 0.1 ? null : { score, columns: [], achievedAtMs: this.history.length };
      const change = { playerId, version: this.history.length + 1, values };
      this.history.push(change);
      byShard[shardOf(playerId, this.list.shards)]!.push(change);
    }
    for (const [shard, changes] of byShard.entries()) {
      const projected = changes.map(({ playerId, version, values }) => ({
        playerId,
        version,
        key: values && sortKeyOf(ORDERING, { ...values, playerId }),
      }));
      await projection.apply(this.list, shard, projected, null);
    }
  }

  /** The list after so many changes. */
  oracle(changes = this.history.length): SortedArrayOracle {
    const oracle = new SortedArrayOracle(ORDERING);
    for (const { playerId, version, values } of this.history.slice(0, changes)) oracle.apply(playerId, version, values);
    return oracle;
  }
}

/** Asks the sketch for every entry of the list, and for keys between them. */
function expectTrue(sketch: RankSketch, oracle: SortedArrayOracle): void {
  const { entries } = oracle;
  expect(sketch.total).toBe(entries.length);
  for (const [index, entry] of entries.entries()) {
    const key = sortKeyOf(ORDERING, entry);
    const estimate = sketch.estimate(key);
    expect(Math.abs(estimate.likely - index)).toBeLessThanOrEqual(errorBoundOf(estimate));
    const beside = { score: key.score, member: Buffer.concat([key.member, Buffer.from('!')]) };
    const next = entries[index + 1];
    if (next && compareSortKeys(beside, sortKeyOf(ORDERING, next)) >= 0) continue;
    const estimateBeside = sketch.estimate(beside);
    expect(Math.abs(estimateBeside.likely - index - 1)).toBeLessThanOrEqual(errorBoundOf(estimateBeside));
  }
}

beforeAll(async () => {
  redis = new RedisConnection({ url: await emptyTestRedis(), commandTimeoutMs: 10_000 });
  await redis.connect();
  projection = new RedisRankProjection(redis);
  store = new RedisSketchStore(redis);
});
afterAll(() => redis.close());

describe('a sketch of a list that is being written', () => {
  it('is true for the list as it was at its version, of one shard at any moment', async () => {
    const list = newList(1);
    const writer = new Writer(list, new Dice(SEED).next);
    await writer.write(6000);
    const { listVersion: firstVersion } = await projection.total(list);
    // What changed nothing was not counted: each change of the rest is a version of its own.
    const states = new Map([[firstVersion, writer.history.length]]);
    let isWriting = true;
    const writing = (async () => {
      while (isWriting) {
        await writer.write(1);
        states.set((await projection.total(list)).listVersion, writer.history.length);
      }
    })();
    const builder = new SketchBuilder(projection, store, 50);
    const sketches = [];
    for (let made = 0; made < 12; made += 1) sketches.push(await builder.build(list));
    isWriting = false;
    await writing;
    expect(new Set(sketches.map(({ listVersion }) => listVersion)).size).toBeGreaterThan(3);
    for (const { listVersion, shards } of sketches) {
      expectTrue(new RankSketch(shards), writer.oracle(states.get(listVersion)));
    }
  });

  it('is true over several shards whenever the writers pause', async () => {
    const list = newList(5);
    const writer = new Writer(list, new Dice(SEED + 1).next);
    const builder = new SketchBuilder(projection, store, 40);
    for (let round = 0; round < 5; round += 1) {
      await Promise.all([writer.write(1500), builder.build(list), builder.build(list)]);
      await builder.renew(list, (await store.stamps([list]))[0]!);
      const stored = await store.read(list);
      expect(stored).toMatchObject({ listVersion: (await projection.total(list)).listVersion, generation: 1 });
      expectTrue(new RankSketch(stored!.shards), writer.oracle());
    }
  });
});

describe('the published sketch of a list', () => {
  const sketchOf = (generation: number, listVersion: number, asOfMs: number) => {
    const key = { score: listVersion, member: Buffer.from([0, 0xff, listVersion]) };
    return { generation, listVersion, asOfMs, shards: [{ total: 1, step: 1, keys: [key] }] };
  };

  it('is replaced by newer ones alone', async () => {
    const list = newList(1);
    expect([await store.read(list), await store.stamps([list])]).toEqual([null, [null]]);
    expect(await store.publish(list, sketchOf(1, 5, 100))).toBe(true);
    expect(await store.read(list)).toEqual(sketchOf(1, 5, 100));
    expect(await store.publish(list, sketchOf(1, 4, 200))).toBe(false);
    expect(await store.read(list)).toEqual(sketchOf(1, 5, 100));
    expect(await store.publish(list, sketchOf(1, 6, 200))).toBe(true);
    // The next generation serves, whatever those write who have not heard of it yet.
    expect(await store.publish(list, sketchOf(2, 3, 300))).toBe(true);
    expect(await store.publish(list, sketchOf(1, 7, 400))).toBe(false);
    expect(await store.read(list)).toEqual(sketchOf(2, 3, 300));
  });

  it('is confirmed where it is still that of the list, and never becomes older', async () => {
    const list = newList(1);
    const { shards, ...stamp } = sketchOf(1, 5, 100);
    expect(await store.confirm(list, stamp)).toBe(false);
    await store.publish(list, { ...stamp, shards });
    expect(await store.confirm(list, { ...stamp, asOfMs: 300 })).toBe(true);
    expect(await store.confirm(list, { ...stamp, asOfMs: 200 })).toBe(true);
    for (const other of [sketchOf(1, 6, 400), sketchOf(2, 5, 400), sketchOf(1, 4, 400)]) {
      expect(await store.confirm(list, other)).toBe(false);
    }
    expect(await store.read(list)).toEqual({ ...stamp, asOfMs: 300, shards });
  });

  it('is not made again while the list does not change', async () => {
    const list = newList(2);
    await new Writer(list, new Dice(SEED + 2).next).write(100);
    const builder = new SketchBuilder(projection, store);
    const made = await builder.renew(list, null);
    expect(made).not.toBeNull();
    expect(await builder.renew(list, made)).toBeNull();
    const [stamp] = await store.stamps([list]);
    expect(stamp!.asOfMs).toBeGreaterThanOrEqual(made!.asOfMs);
    expect((await store.read(list))!.shards).toEqual(made!.shards);
  });

  it('is wanted for as long as it was marked last', async () => {
    const list = newList(1);
    const { boardUid, windowUid: uid, scope } = list;
    const isMarked = async (atMs: number) => {
      const marked = await store.listsInUse(atMs, 10_000);
      return marked.some((one) => one.windowUid === uid && one.boardUid === boardUid && one.scope === scope);
    };
    await store.markInUse([list], 5000);
    await store.markInUse([list], 4000);
    expect([await isMarked(5000), await isMarked(5001), await isMarked(5000)]).toEqual([true, false, false]);
  });
});
