// Real: Redis or Valkey, and a writer who changes the list between the calls of one reading.
import type { BoardOrdering } from '@laddercast/domain';
import { FIRST_GENERATION, RedisConnection, RedisRankProjection, type RankList } from '@laddercast/projections';
import {
  applyAll,
  Dice,
  emptyTestRedis,
  expectedRows,
  seedOfRun,
  SortedArrayOracle,
  type RankChange,
} from '@laddercast/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';

const SEED = seedOfRun();
const ORDERING: BoardOrdering = { order: 'desc', operator: 'latest', tiebreak: 'earliest', columns: [] };
const PLAYERS = 60;
const SCORES = 6;

/** A connection that calls somebody before shared ranks are counted by a call of their own. */
class CountedApart extends RedisConnection {
  beforeCount: () => Promise<void> = () => Promise.resolve();
  counts = 0;

  override async run(calls: Parameters<RedisConnection['run']>[0]): Promise<unknown[]> {
    if (calls[0]?.script.name === 'count-better' && calls[0].arguments[0] === 'competition') {
      this.counts += 1;
      await this.beforeCount();
    }
    return super.run(calls);
  }
}

let reading: CountedApart;
let writing: RedisConnection;
let writer: RedisRankProjection;

beforeAll(async () => {
  const url = await emptyTestRedis();
  [reading, writing] = [new CountedApart({ url }), new RedisConnection({ url })];
  await Promise.all([reading.connect(), writing.connect()]);
  writer = new RedisRankProjection(writing);
});
afterAll(() => Promise.all([reading, writing].map((one) => one.close())));

let windowUid = 1;
let version = 0;

function randomChange(dice: Dice): RankChange {
  version += 1;
  const values = dice.isUnder(0.1) ? null : { score: dice.below(SCORES), columns: [], achievedAtMs: version };
  return { playerId: `p${dice.below(PLAYERS)}`, version, values };
}

/** A list, what it is to be, and how both go on. */
async function startList(dice: Dice) {
  const list: RankList = {
    ...{ boardUid: 7, windowUid: (windowUid += 1), scope: 0, ordering: ORDERING, shards: dice.from(2, 4) },
    ...FIRST_GENERATION,
  };
  const oracle = new SortedArrayOracle(ORDERING);
  const change = async (count: number): Promise<void> => {
    const changes = Array.from({ length: count }, () => randomChange(dice));
    for (const { playerId, version: at, values } of changes) oracle.apply(playerId, at, values);
    await applyAll(writer, list, changes);
  };
  await change(100);
  return { list, oracle, change };
}

/** Near the top all rows are read from the first on; by these limits most pages are deep ones. */
const LIMITS = [undefined, { mergedRowsMax: 4, skippedRowsMax: 3 }];

it(`pages and neighbours have the ranks of one moment, whatever changes while they are read (SEED=${SEED})`, async () => {
  const dice = new Dice(SEED);
  for (let times = 0; times < 300; times += 1) {
    const { list, oracle, change } = await startList(dice);
    const projection = new RedisRankProjection(reading, undefined, dice.oneOf(LIMITS));
    let left = 1;
    reading.beforeCount = async () => {
      left -= 1;
      if (left >= 0) await change(dice.from(1, 3));
    };
    const [offset, limit] = [dice.below(30), dice.from(1, 20)];
    const page = await projection.page(list, offset, limit, 'competition');
    // It was read again: what it says is the list of now.
    expect(page.accuracy).toBeUndefined();
    expect(page.entries, `page ${times}`).toEqual(expectedRows(list, oracle, offset, offset + limit, 'competition'));
    left = 1;
    const { playerId } = dice.oneOf(oracle.entries);
    const around = dice.from(1, 6);
    const player = await projection.player(list, playerId, around, around, 'competition');
    expect(player.accuracy).toBeUndefined();
    const at = oracle.entries.findIndex((entry) => entry.playerId === playerId);
    const rows = at < 0 ? [] : expectedRows(list, oracle, Math.max(0, at - around), at + around + 1, 'competition');
    expect(player.neighbours, `player ${times}`).toEqual(rows);
  }
  expect(reading.counts).toBeGreaterThan(100);
});

it(`say how far off they can be when the list never rests (SEED=${SEED})`, async () => {
  const dice = new Dice(SEED);
  let marked = 0;
  for (let times = 0; times < 100; times += 1) {
    const { list, oracle, change } = await startList(dice);
    const projection = new RedisRankProjection(reading, undefined, LIMITS[1]);
    reading.beforeCount = () => change(1);
    const [offset, limit] = [dice.from(5, 30), dice.from(1, 20)];
    const { entries, accuracy, errorBound = 0 } = await projection.page(list, offset, limit, 'competition');
    if (accuracy === undefined || entries.length === 0) continue;
    marked += 1;
    expect(errorBound).toBe(1);
    const before = expectedRows(list, oracle, 0, PLAYERS, 'competition');
    for (const { playerId, rank, score } of entries) {
      const now = before.find((row) => row.playerId === playerId && row.score === score);
      if (now) expect(Math.abs(now.rank - rank), `page ${times}, ${playerId}`).toBeLessThanOrEqual(errorBound);
    }
  }
  expect(marked).toBeGreaterThan(5);
});
