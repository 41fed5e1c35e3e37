// Real: Redis or Valkey, the scripts, a list by ranges whose entries cross while checkpoints of it are opened.
import type { BoardOrdering } from '@laddercast/domain';
import {
  FIRST_GENERATION,
  RedisCheckpoints,
  RedisConnection,
  RedisRankProjection,
  type Checkpoint,
  type RankList,
} from '@laddercast/projections';
import { applyAll, emptyTestRedis, type RankChange } from '@laddercast/testing';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SteppedConnection } from '../../property/redis-stepped-store.js';
import { Died } from '../../property/turns.js';

const FROM_START = { beside: null, direction: 'after', denseRank: null } as const;
const BEHIND = { code: 'PROJECTION_BEHIND', extensions: { retryAfterSeconds: 1 } };
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

let plain: Redis;
let redis: RedisConnection;
let stepped: SteppedConnection;
let projection: RedisRankProjection;
let checkpoints: RedisCheckpoints;
let windowUid = 1;

beforeAll(async () => {
  const url = await emptyTestRedis();
  plain = new Redis(url);
  redis = new RedisConnection({ url, commandTimeoutMs: 10_000 });
  stepped = new SteppedConnection({ url, commandTimeoutMs: 10_000 });
  await Promise.all([redis.connect(), stepped.connect()]);
  projection = new RedisRankProjection(redis);
  checkpoints = new RedisCheckpoints(redis);
});
afterAll(async () => {
  plain.disconnect();
  await Promise.all([redis.close(), stepped.close()]);
});

const ordering: BoardOrdering = { order: 'asc', operator: 'latest', tiebreak: 'earliest', columns: [] };
const listOf = (boundaries: number[]): RankList => ({
  ...FIRST_GENERATION,
  boardUid: 9,
  windowUid: windowUid++,
  scope: 0,
  ordering,
  shards: boundaries.length + 1,
  boundaries,
});
const change = (playerId: string, version: number, score: number | null): RankChange => ({
  playerId,
  version,
  values: score === null ? null : { score, columns: [], achievedAtMs: 5 },
});
const SETTLED = [change('ada', 1, 1), change('bob', 2, 2), change('cy', 3, 11), change('dee', 4, 12)];

/** A list of two shards, with two players in each. */
async function settledList(): Promise<RankList> {
  const list = listOf([10]);
  await applyAll(projection, list, SETTLED);
  return list;
}

/** Calls something before the step of a number, 0-based: once. */
function beforeStep(number: number, work: () => Promise<unknown>): void {
  let step = 0;
  stepped.beforeStep = async () => {
    if (step++ === number) await work();
  };
}

/** Leaves a change behind that was put into its new shard, and is not removed from the old one. */
async function leaveCrossing(list: RankList, one: RankChange): Promise<void> {
  const writer = new RedisRankProjection(stepped);
  stepped.beforeStep = async () => undefined;
  await applyAll(writer, list, [change('somebody', one.version, null)]);
  beforeStep(2, () => Promise.reject(new Died()));
  await expect(applyAll(writer, list, [one])).rejects.toThrow(Died);
  stepped.beforeStep = async () => undefined;
}

const rowsOf = async (list: RankList, opened: Checkpoint): Promise<string[]> =>
  (await checkpoints.page(list, opened, FROM_START, 500, 'ordinal')).entries.map(
    ({ rank, playerId, score }) => `${rank} ${playerId} ${score}`,
  );
const openSlots = async (list: RankList): Promise<number[]> => {
  const prefix = `{9.${list.windowUid}.0.`;
  return Promise.all([0, 1].map((shard) => plain.hlen(`${prefix}${shard}}1:c`)));
};

describe('a checkpoint of a list by ranges', () => {
  // Steps of an opening: two looks, the two shards, two looks.
  it.each([
    [
      'from the shard that has it to the one that has not',
      change('ada', 10, 20),
      ['1 bob 2', '2 cy 11', '3 dee 12', '4 ada 20'],
    ],
    [
      'to the shard that has it from the one that has not',
      change('cy', 10, 3),
      ['1 ada 1', '2 bob 2', '3 cy 3', '4 dee 12'],
    ],
  ])('is opened once more when an entry crosses %s', async (_, crossing, expected) => {
    const list = await settledList();
    beforeStep(3, () => applyAll(projection, list, [crossing]));
    const opened = await new RedisCheckpoints(stepped).open(list);
    expect(await rowsOf(list, opened)).toEqual(expected);
    expect(opened).toMatchObject({ total: 4, slot: 0 });
    expect(await openSlots(list)).toEqual([1, 1]);
    expect(await checkpoints.open(list)).toEqual(opened);
  });

  it('is refused while an entry stands in two shards, and finds it where it was once it was opened before', async () => {
    const list = await settledList();
    const opened = await checkpoints.open(list);
    await leaveCrossing(list, change('ada', 10, 20));
    expect(await rowsOf(list, opened)).toEqual(['1 ada 1', '2 bob 2', '3 cy 11', '4 dee 12']);
    const old = await checkpoints.keyOf(list, opened, 'ada');
    expect(old?.score).toBe(1);
    await expect(checkpoints.open(list, false)).rejects.toMatchObject(BEHIND);
    await projection.finishMoves(list, null, -1);
    expect(await rowsOf(list, await checkpoints.open(list, false))).toEqual([
      '1 bob 2',
      '2 cy 11',
      '3 dee 12',
      '4 ada 20',
    ]);
    expect(await checkpoints.keyOf(list, opened, 'ada')).toEqual(old);
    expect(await checkpoints.keyOf(list, opened, 'somebody')).toBeNull();
  });

  it('is shared by nobody before it is proven, and its slot is taken once it was left', async () => {
    const list = await settledList();
    beforeStep(4, () => Promise.reject(new Died()));
    await expect(new RedisCheckpoints(stepped).open(list)).rejects.toThrow(Died);
    stepped.beforeStep = async () => undefined;
    await applyAll(projection, list, [change('ada', 10, 20)]);
    await expect(checkpoints.open(list)).rejects.toMatchObject(BEHIND);
    await sleep(1500);
    const opened = await checkpoints.open(list);
    expect(opened.slot).toBe(0);
    expect(await rowsOf(list, opened)).toHaveLength(4);
    expect(await openSlots(list)).toEqual([1, 1]);
  });

  it('shows everybody once, whenever it is opened and whoever crosses', async () => {
    const list = listOf([10, 20, 30, 40]);
    const players = Array.from({ length: 40 }, (_, at) => `p${at}`);
    let version = 1;
    const scoreAll = (): RankChange[] =>
      players.map((playerId, at) => change(playerId, version++, (at * 7 + version * 11) % 50));
    await applyAll(projection, list, scoreAll());
    const stop = new AbortController();
    const writing = (async () => {
      while (!stop.signal.aborted) {
        for (const one of scoreAll().slice(0, 8)) await applyAll(projection, list, [one]);
        await sleep(8);
      }
    })();
    let refused = 0;
    for (let opening = 0; opening < 25; opening += 1) {
      const opened = await checkpoints.open(list, false).catch((error: unknown) => {
        expect(error).toMatchObject(BEHIND);
        refused += 1;
        return null;
      });
      if (opened === null) continue;
      const ids = (await rowsOf(list, opened)).map((row) => row.split(' ')[1]);
      expect(ids.sort()).toEqual([...players].sort());
      // Room for the next: this one is closed as if it were over.
      for (let shard = 0; shard < list.shards; shard += 1) await plain.del(`{9.${list.windowUid}.0.${shard}}1:c`);
    }
    stop.abort();
    await writing;
    expect(refused).toBeLessThan(20);
  });
});

describe('a list by ranges that was retired', () => {
  it('is read by nobody, takes no change, and is dropped whole', async () => {
    const list = await settledList();
    await checkpoints.open(list);
    const keysOf = (): Promise<string[]> => plain.keys(`{9.${list.windowUid}.*`);
    await projection.retire(list);
    const dump = async (): Promise<unknown> =>
      Promise.all((await keysOf()).sort().map(async (key) => [key, await plain.dumpBuffer(key)]));
    const before = await dump();
    const newer = await Promise.all(
      [0, 1].map((home) => projection.apply(list, home, [{ playerId: 'eve', version: 20, key: null }], null)),
    );
    expect(newer).toEqual([0, 0]);
    await applyAll(projection, list, [change('ada', 20, 20), change('new', 21, 3)]);
    expect(await dump()).toEqual(before);
    const gone = { code: 'PROJECTION_UNAVAILABLE' };
    await expect(projection.page(list, 0, 10, 'ordinal')).rejects.toMatchObject(gone);
    await expect(projection.total(list)).rejects.toMatchObject(gone);
    await expect(projection.player(list, 'ada', 1, 1, 'ordinal')).rejects.toMatchObject(gone);
    await expect(projection.lookup(list, ['ada'], 'ordinal')).rejects.toMatchObject(gone);
    await expect(projection.readMarks(list, 10)).rejects.toMatchObject(gone);
    await projection.drop(list);
    const left = await keysOf();
    expect(left).toHaveLength(2);
    for (const key of left) expect(await plain.get(key)).toBe('retired');
  });

  it('takes nothing where it was retired after a change was claimed', async () => {
    const list = await settledList();
    const writer = new RedisRankProjection(stepped);
    stepped.beforeStep = async () => undefined;
    await applyAll(writer, list, [change('somebody', 5, null)]);
    beforeStep(1, () => projection.retire(list));
    await applyAll(writer, list, [change('ada', 10, 20)]);
    stepped.beforeStep = async () => undefined;
    expect(await plain.zcard(`{9.${list.windowUid}.0.0}1:z`)).toBe(2);
    expect(await plain.zcard(`{9.${list.windowUid}.0.1}1:z`)).toBe(2);
  });
});
