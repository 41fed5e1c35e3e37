// Real: Redis or Valkey, the scripts, several writers of one list by ranges, stopped between the steps that are named.
import {
  everyLayout,
  firstLayouts,
  shardOf,
  withBoardDefaults,
  type Board,
  type BoardOrdering,
} from '@laddercast/domain';
import {
  FIRST_GENERATION,
  RangeSweeper,
  rankListOf,
  RecoveryRun,
  RedisConnection,
  RedisRankProjection,
  type RankList,
} from '@laddercast/projections';
import {
  applyAll,
  emptyTestRedis,
  expectedRows,
  projectedChange,
  SortedArrayOracle,
  type RankChange,
} from '@laddercast/testing';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SteppedConnection } from '../../property/redis-stepped-store.js';
import { Died } from '../../property/turns.js';

let plain: Redis;
let redis: RedisConnection;
let stepped: SteppedConnection;
let steppedWriting: SteppedConnection;
let projection: RedisRankProjection;
let windowUid = 1;

beforeAll(async () => {
  const url = await emptyTestRedis();
  plain = new Redis(url);
  redis = new RedisConnection({ url, commandTimeoutMs: 10_000 });
  stepped = new SteppedConnection({ url, commandTimeoutMs: 10_000 });
  steppedWriting = new SteppedConnection({ url, commandTimeoutMs: 10_000 });
  await Promise.all([redis, stepped, steppedWriting].map((connection) => connection.connect()));
  projection = new RedisRankProjection(redis);
});
afterAll(async () => {
  plain.disconnect();
  await Promise.all([redis, stepped, steppedWriting].map((connection) => connection.close()));
});

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

/** Calls something before the step of a number, 0-based. */
function beforeStep(number: number, work: () => Promise<void>, connection = stepped): void {
  let step = 0;
  connection.beforeStep = async () => {
    if (step++ === number) await work();
  };
}

/** Applies a change with a writer that dies before a step: 0 is the claim, 1 the put, 2 the removal, 3 the last. */
async function applyUntil(list: RankList, one: RankChange, step: number, connection = stepped): Promise<void> {
  const writer = new RedisRankProjection(connection);
  connection.beforeStep = async () => undefined;
  // From here on the writer knows the epochs of all shards.
  await applyAll(writer, list, [change('somebody', one.version, null)]);
  const die = async (): Promise<void> => {
    throw new Died();
  };
  beforeStep(step, die, connection);
  await expect(applyAll(writer, list, [one])).rejects.toThrow(Died);
}

function expectedOf(list: RankList, history: readonly RankChange[]): SortedArrayOracle {
  const oracle = new SortedArrayOracle(list.ordering);
  for (const { playerId, version, values } of history) oracle.apply(playerId, version, values);
  return oracle;
}

/** Both shards in use, so that both have an epoch. */
const SETTLED = [change('ada', 1, 1), change('bob', 2, 1), change('cy', 3, 11), change('dee', 4, 12)];

describe('a crossing that nobody finished', () => {
  it.each([
    ['its claim', 1, 4, undefined],
    ['its put', 2, 5, 'estimated'],
    ['its removal', 3, 4, 'estimated'],
  ] as const)(
    'after %s is said, shown once, and finished by whoever comes next',
    async (_step, step, size, accuracy) => {
      const list = listOf([10]);
      await applyAll(projection, list, SETTLED);
      const crossing = change('ada', 10, 20);
      await applyUntil(list, crossing, step);
      const page = await projection.page(list, 0, 10, 'ordinal');
      expect(page.accuracy).toBe(accuracy);
      expect(page.total).toBe(size);
      expect(page.errorBound ?? 0).toBeGreaterThanOrEqual(size - 4);
      expect(page.entries.map(({ playerId }) => playerId).sort()).toEqual(['ada', 'bob', 'cy', 'dee']);
      const { entry, accuracy: ofPlayer } = await projection.player(list, 'ada', 1, 1, 'ordinal');
      expect(entry).toMatchObject(step === 1 ? { score: 1, version: 1 } : { score: 20, version: 10 });
      expect(ofPlayer).toBe(accuracy);
      // Not finished: a submission that waits goes on waiting.
      expect(await projection.entryVersion(list, 'ada')).toBe(1);
      await applyAll(projection, list, [crossing]);
      const finished = await projection.page(list, 0, 10, 'ordinal');
      const oracle = expectedOf(list, [...SETTLED, crossing]);
      expect(finished).toMatchObject({ total: 4, entries: expectedRows(list, oracle, 0, 10, 'ordinal') });
      expect(finished.accuracy).toBeUndefined();
      expect(await projection.entryVersion(list, 'ada')).toBe(10);
    },
  );

  it('is finished by the next change of the player, wherever that goes', async () => {
    for (const score of [null, 2, 30, 5]) {
      const list = listOf([10, 25]);
      await applyAll(projection, list, SETTLED);
      await applyUntil(list, change('ada', 10, 20), 2);
      const next = change('ada', 11, score);
      await applyAll(projection, list, [next]);
      const oracle = expectedOf(list, [...SETTLED, next]);
      const page = await projection.page(list, 0, 10, 'ordinal');
      expect(page.accuracy).toBeUndefined();
      expect(page.total).toBe(oracle.entries.length);
      expect(page.entries).toEqual(expectedRows(list, oracle, 0, 10, 'ordinal'));
    }
  });

  it('is finished by the sweeper once it has lain there for a while, and not before', async () => {
    const definition = withBoardDefaults({
      order: 'asc',
      operator: 'latest',
      sharding: { by: 'range', boundaries: [10] },
    });
    const board = { uid: 80, id: 'swept', definition, layouts: firstLayouts(definition) } as Board;
    const list = rankListOf(board, 1, 0, everyLayout(board.layouts)[0]);
    await applyAll(projection, list, SETTLED);
    const crossing = change('ada', 10, 20);
    await applyUntil(list, crossing, 2);
    const sweeper = (leftAfterMs: number): RangeSweeper =>
      new RangeSweeper(
        { all: () => [board] },
        { windowsOf: async () => [{ uid: 1, kind: 'alltime', startsAtMs: null, endsAtMs: null, keepUntilMs: null }] },
        projection,
        leftAfterMs,
      );
    expect(await sweeper(60_000).sweep(new AbortController().signal)).toBe(0);
    expect((await projection.total(list)).accuracy).toBe('estimated');
    expect(await sweeper(0).sweep(new AbortController().signal)).toBe(1);
    expect(await projection.total(list)).toMatchObject({ total: 4 });
    expect((await projection.total(list)).accuracy).toBeUndefined();
  });

  it('is doubted by a reader who saw it begin, although it ends between the looks at two shards', async () => {
    const list = listOf([10]);
    await applyAll(projection, list, SETTLED);
    const crossing = change('ada', 10, 20);
    await applyUntil(list, crossing, 2);
    const reader = new RedisRankProjection(stepped);
    stepped.beforeStep = async () => undefined;
    expect((await reader.page(list, 0, 10, 'ordinal')).accuracy).toBe('estimated');
    // The first shard is read while the entry is there still, the second one when it is acknowledged.
    beforeStep(1, async () => void (await applyAll(projection, list, [crossing])));
    const page = await reader.page(list, 0, 10, 'ordinal');
    expect(page).toMatchObject({
      total: 4,
      entries: expectedRows(list, expectedOf(list, [...SETTLED, crossing]), 0, 10, 'ordinal'),
    });
    expect(page.accuracy).toBeUndefined();
  });
});

describe('a reader', () => {
  const reader = async (list: RankList): Promise<RedisRankProjection> => {
    const reading = new RedisRankProjection(stepped);
    stepped.beforeStep = async () => undefined;
    await reading.total(list);
    return reading;
  };

  it('asks again when an entry crossed to where it had looked already', async () => {
    const list = listOf([10]);
    await applyAll(projection, list, SETTLED);
    const crossing = change('cy', 10, 0);
    const reading = await reader(list);
    beforeStep(1, async () => void (await applyAll(projection, list, [crossing])));
    const page = await reading.page(list, 0, 10, 'ordinal');
    expect(page.entries).toEqual(expectedRows(list, expectedOf(list, [...SETTLED, crossing]), 0, 10, 'ordinal'));
    expect(page).toMatchObject({ total: 4 });
    expect(page.accuracy).toBeUndefined();
  });

  it('asks again when an entry moved inside its shard after it was looked for in the index', async () => {
    const ways: ((reading: RedisRankProjection, list: RankList) => Promise<unknown>)[] = [
      async (reading, list) => (await reading.player(list, 'ada', 0, 0, 'ordinal')).entry?.score,
      async (reading, list) => (await reading.lookup(list, ['ada'], 'ordinal')).entries[0]?.score,
      async (reading, list) => {
        const { key } = projectedChange(ordering, change('ada', 1, 9));
        return (await reading.placement(list, 'ada', key!, null)).total;
      },
    ];
    for (const [at, read] of ways.entries()) {
      const list = listOf([10]);
      await applyAll(projection, list, SETTLED);
      // Claimed again as it is, and left so: it may be that it is not there yet.
      await applyUntil(list, change('ada', 10, 1), 1);
      const reading = await reader(list);
      beforeStep(1, async () => void (await applyAll(projection, list, [change('ada', 11, 3)])));
      expect(await read(reading, list)).toBe(at === 2 ? 4 : 3);
    }
  });

  it.each([0, 1, 2, 3])(
    'counts nobody beside itself when its entry moves inside its shard before step %i of reading a placement',
    async (movedBefore) => {
      const list = listOf([10]);
      await applyAll(projection, list, SETTLED);
      const moved = change('ada', 10, 3);
      await applyUntil(list, moved, 1);
      const reading = await reader(list);
      // It is put where it belongs, and not settled: the index says the same before and after.
      let isMoved = false;
      beforeStep(movedBefore, async () => {
        await applyUntil(list, moved, 2, steppedWriting);
        isMoved = true;
      });
      const { key } = projectedChange(ordering, change('ada', 11, 9));
      expect(await reading.placement(list, 'ada', key!, null)).toMatchObject({ after: 2, total: 4 });
      expect(isMoved).toBe(true);
    },
  );
});

describe('a writer that comes late', () => {
  it.each([
    ['while the shards know of newer writes', false, false],
    ['when they have forgotten them', true, false],
    ['when they have forgotten them, and its process knows it', true, true],
  ])('puts nothing back %s', async (_when, isForgotten, isLearnt) => {
    const list = listOf([10, 25]);
    await applyAll(projection, list, [...SETTLED, change('eve', 5, 30)]);
    const late = new RedisRankProjection(stepped);
    stepped.beforeStep = async () => undefined;
    await applyAll(late, list, [change('somebody', 1, null)]);
    const newer = change('ada', 11, 40);
    // Between its claim and its put another moves the entry on, and the shards' epochs end.
    stepped.afterStep = async () => {
      stepped.afterStep = async () => undefined;
      await applyAll(projection, list, [newer]);
      if (isForgotten) for (const key of await plain.keys(`{8.${list.windowUid}.*w`)) await plain.unlink(key);
      if (isLearnt) await applyAll(late, list, [change('eve', 6, 21)]);
    };
    await applyAll(late, list, [change('ada', 10, 20)]);
    const page = await projection.page(list, 0, 10, 'ordinal');
    const oracle = expectedOf(list, [...SETTLED, change('eve', isLearnt ? 6 : 5, isLearnt ? 21 : 30), newer]);
    expect(page.total).toBe(5);
    expect(page.entries).toEqual(expectedRows(list, oracle, 0, 10, 'ordinal'));
    expect((await projection.total(list)).accuracy).toBeUndefined();
  });
});

describe('what is brought back', () => {
  const bringBack = (by: RedisRankProjection, list: RankList, one: RankChange): Promise<number> =>
    applyAll(by, list, [one], new RecoveryRun());

  async function expectOnly(list: RankList, ...changes: RankChange[]): Promise<void> {
    const page = await projection.page(list, 0, 10, 'ordinal');
    expect(page.entries).toEqual(expectedRows(list, expectedOf(list, changes), 0, 10, 'ordinal'));
    expect(page.total).toBe(changes.length);
  }

  it.each([
    ['while its shard knows of it', false],
    ['when its shard has forgotten it', true],
  ])('does not come back beside something newer, %s', async (_when, isForgotten) => {
    const list = listOf([10]);
    const newer = change('ada', 11, 20);
    // Two steps tell the shards, the third is the claim.
    beforeStep(3, async () => {
      await applyAll(projection, list, [newer]);
      if (isForgotten) for (const key of await plain.keys(`{8.${list.windowUid}.*w`)) await plain.unlink(key);
    });
    await bringBack(new RedisRankProjection(stepped), list, change('ada', 10, 1));
    await expectOnly(list, newer);
  });

  it('is announced once to each shard, by a number that no epoch had before', async () => {
    const list = listOf([10, 20, 30]);
    const begun: string[] = [];
    class Watched extends RedisConnection {
      override run(calls: Parameters<RedisConnection['run']>[0]): Promise<unknown[]> {
        begun.push(...calls.flatMap(({ script, keys }) => (script.name === 'range-begin' ? keys[1]! : [])));
        return super.run(calls);
      }
    }
    const watched = new Watched({ url: await emptyTestRedis() });
    await watched.connect();
    const by = new RedisRankProjection(watched);
    const names = new Set<string>();
    for (const version of [1, 2]) {
      const run = new RecoveryRun();
      const all = ['ada', 'bob', 'cy', 'dee', 'eve', 'fay'].map((playerId, at) => change(playerId, version, 6 * at));
      await Promise.all(all.map((one) => applyAll(by, list, [one], run)));
      for (const key of begun.slice(-4)) names.add((await plain.hget(key, ''))!);
    }
    await watched.close();
    expect(begun).toHaveLength(8);
    expect(names.size).toBe(8);
    expect([...names].every((name) => Number(name) > 1e12)).toBe(true);
  });

  it('leaves no room for what was claimed before the loss', async () => {
    const list = listOf([10]);
    const home = shardOf('ada', list.shards);
    const [here, there] = home === 0 ? [1, 20] : [20, 1];
    // The other shard is in use, and has an epoch that the writer knows.
    const other = change(
      ['bob', 'cy', 'dee'].find((id) => shardOf(id, list.shards) !== home)!,
      1,
      there,
    );
    await applyAll(projection, list, [change('ada', 2, here), other]);
    const late = new RedisRankProjection(stepped);
    stepped.beforeStep = async () => undefined;
    await applyAll(late, list, [change('somebody', 3, null)]);
    const newest = change('ada', 11, here + 1);
    beforeStep(1, async () => {
      await plain.unlink(...(await plain.keys(`{8.${list.windowUid}.0.${home}}*`)));
      await bringBack(projection, list, newest);
    });
    await applyAll(late, list, [change('ada', 10, there + 1)]);
    await expectOnly(list, newest, other);
  });

  it('is not beside what was claimed by another connection to the store', async () => {
    const list = listOf([10]);
    const writer = new RedisRankProjection(stepped);
    stepped.beforeStep = async () => undefined;
    await applyAll(writer, list, [change('somebody', 1, null)]);
    stepped.afterStep = async () => {
      stepped.afterStep = async () => undefined;
      stepped.replaced += 1;
      await plain.unlink(...(await plain.keys(`{8.${list.windowUid}.0.*`)));
    };
    await expect(applyAll(writer, list, [change('ada', 10, 20)])).rejects.toThrow('was replaced');
    expect((await projection.total(list)).total).toBe(0);
  });
});
