// Real: Redis or Valkey, the scripts, the steps of several processes that write and read one list, in any order of steps.
// Compared with what stands in the shards after each step, and in the end with a sorted array.
import { isDeepStrictEqual } from 'node:util';
import { compareSortKeys, decodeSortKey, shardOf, type BoardOrdering, type SortKey } from '@laddercast/domain';
import {
  FIRST_GENERATION,
  RedisConnection,
  RedisRankProjection,
  type RankList,
  type Reading,
} from '@laddercast/projections';
import {
  anyOrdering,
  applyAll,
  emptyTestRedis,
  expectedRows,
  projectedChange,
  SortedArrayOracle,
  type RankChange,
} from '@laddercast/testing';
import fc from 'fast-check';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Died, SteppedConnection, Turns } from './turns.js';

const PLAYERS = ['ada', 'bob', 'cy', 'dee'];
const SHARDS_MAX = 4;
const STEPS_MAX = 4000;
/** Changes at the beginning of each history that are there before anything else happens. */
const SETTLED_CHANGES = 4;

let plain: Redis;
let url: string;
let windowUid = 1;
const connections: RedisConnection[] = [];

beforeAll(async () => {
  url = await emptyTestRedis();
  plain = new Redis(url);
});
afterAll(async () => {
  plain.disconnect();
  await Promise.all(connections.map((connection) => connection.close()));
});

/** A part of the history that some process applies; it dies before its n-th step, or not. */
interface Delivery {
  from: number;
  count: number;
  diesAtStep: number | null;
}

interface Scenario {
  ordering: BoardOrdering;
  boundaries: number[];
  history: RankChange[];
  /** What each process does, one delivery after the other. */
  writers: Delivery[][];
  choices: number[];
}

const anyScenario = (): fc.Arbitrary<Scenario> =>
  fc.tuple(anyOrdering(), fc.integer({ min: 2, max: SHARDS_MAX })).chain(([ordering, shards]) => {
    const values = fc.record({
      score: fc.integer({ min: 0, max: 2 * shards }),
      columns: fc.constant(ordering.columns.map(() => 1)),
      achievedAtMs: fc.integer({ min: 1000, max: 1001 }),
    });
    const change = fc.tuple(fc.constantFrom(...PLAYERS), fc.option(values, { freq: 5 }));
    const delivery = fc.record({
      from: fc.integer({ min: SETTLED_CHANGES, max: 15 }),
      count: fc.integer({ min: 1, max: 4 }),
      diesAtStep: fc.option(fc.integer({ min: 1, max: 6 }), { freq: 3 }),
    });
    const boundaries = Array.from({ length: shards - 1 }, (_, at) => 2 * at + 1);
    return fc.record({
      ordering: fc.constant(ordering),
      boundaries: fc.constant(
        ordering.order === 'asc' ? boundaries : boundaries.map((score) => -score).sort((a, b) => a - b),
      ),
      history: fc
        .array(change, { minLength: 8, maxLength: 16 })
        .map((changes) => changes.map(([playerId, values], at) => ({ playerId, version: at + 1, values }))),
      writers: fc.array(fc.array(delivery, { minLength: 1, maxLength: 4 }), { minLength: 2, maxLength: 3 }),
      choices: fc.array(fc.nat({ max: 60 }), { minLength: 40, maxLength: 200 }),
    });
  });

/** Where each player stood after each step: more than one key while it crosses. */
type Standing = Map<string, SortKey[]>;

async function standingOf(list: RankList): Promise<Standing> {
  const standing: Standing = new Map(PLAYERS.map((playerId) => [playerId, []]));
  for (let shard = 0; shard < list.shards; shard += 1) {
    const flat = await plain.zrangeBuffer(`{9.${list.windowUid}.0.${shard}}1:z`, 0, -1, 'WITHSCORES');
    for (let at = 0; at < flat.length; at += 2) {
      const key = { member: flat[at]!, score: Number(flat[at + 1]!.toString()) };
      standing.get(decodeSortKey(list.ordering, key).playerId)!.push(key);
    }
  }
  return standing;
}

/** Between how many entries stood before a key, each counted as it stood at one of the moments, without a player. */
function boundsOf(moments: readonly Standing[], key: SortKey | null, without: string | null): [number, number] {
  let [least, most] = [0, 0];
  for (const playerId of PLAYERS) {
    if (playerId === without) continue;
    const counts = moments.flatMap((standing) => {
      const keys = standing.get(playerId)!;
      return keys.length === 0 ? [0] : keys.map((one) => (key === null || compareSortKeys(one, key) < 0 ? 1 : 0));
    });
    least += Math.min(...counts);
    most += Math.max(...counts);
  }
  return [least, most];
}

/** Checks that a number lies between bounds, or no further beyond them than the reading says. */
function expectWithin(value: number, [least, most]: [number, number], { accuracy, errorBound = 0 }: Reading): void {
  if (accuracy === 'estimated') expect(errorBound).toBeGreaterThan(0);
  expect(value).toBeGreaterThanOrEqual(least - errorBound);
  expect(value).toBeLessThanOrEqual(most + errorBound);
}

/** Reads a list in every way, and compares with how it stood at some of the moments while it was read. */
async function readAll(projection: RedisRankProjection, list: RankList, moments: () => Standing[]): Promise<number> {
  let exact = 0;
  const page = await projection.page(list, 0, 50, 'ordinal');
  let seen = moments();
  const ids = page.entries.map(({ playerId }) => playerId);
  expect(new Set(ids).size).toBe(ids.length);
  expect(page.entries.map(({ rank }) => rank)).toEqual(ids.map((_, at) => at + 1));
  expectWithin(page.total, boundsOf(seen, null, null), page);
  if (page.accuracy === undefined) {
    exact += 1;
    expect(page.total).toBe(ids.length);
    for (const playerId of PLAYERS) {
      const entry = page.entries.find((row) => row.playerId === playerId);
      const stood = seen.flatMap((standing) => {
        const keys = standing.get(playerId)!;
        return keys.length === 0 ? [null] : keys.map((key) => decodeSortKey(list.ordering, key));
      });
      const { rank: _rank, ...shown } = entry ?? { rank: 0 };
      expect(stood).toContainEqual(entry === undefined ? null : shown);
    }
  }
  const playerId = PLAYERS[page.total % PLAYERS.length]!;
  const player = await projection.player(list, playerId, 2, 2, 'ordinal');
  seen = moments();
  const around = player.neighbours.map((row) => row.playerId);
  expect(new Set(around).size).toBe(around.length);
  if (player.entry !== null) {
    const { entry } = player;
    const own = seen
      .flatMap((standing) => standing.get(playerId)!)
      .find((key) => {
        const { playerId: _playerId, ...values } = decodeSortKey(list.ordering, key);
        return isDeepStrictEqual(values, {
          score: entry.score,
          columns: entry.columns,
          achievedAtMs: entry.achievedAtMs,
        });
      });
    if (player.accuracy === undefined) expect(own).toBeDefined();
    if (own) expectWithin(entry.rank - 1, boundsOf(seen, own, playerId), player);
  } else if (player.accuracy === undefined) {
    expect(seen.some((standing) => standing.get(playerId)!.length === 0)).toBe(true);
  }
  const looked = await projection.lookup(list, PLAYERS, 'ordinal');
  seen = moments();
  expectWithin(looked.total, boundsOf(seen, null, null), looked);
  const key = { score: list.boundaries![0]!, member: Buffer.alloc(0) };
  const placement = await projection.placement(list, playerId, key, null);
  seen = moments();
  expectWithin(placement.after - 1, boundsOf(seen, key, playerId), placement);
  return exact + [player, looked, placement].filter(({ accuracy }) => accuracy === undefined).length;
}

async function connected<Connection extends RedisConnection>(connection: Connection): Promise<Connection> {
  await connection.connect();
  connections.push(connection);
  return connection;
}

describe('entries that cross between shards', () => {
  it('are counted once in whatever is exact, and shown once, whoever dies between two steps', async () => {
    const writers = await Promise.all([0, 1, 2].map(() => connected(new SteppedConnection({ url }))));
    const reader = await connected(new SteppedConnection({ url }));
    const sweeper = await connected(new SteppedConnection({ url }));
    const direct = await connected(new RedisConnection({ url }));
    const counts = { exact: 0, estimated: 0, twice: 0 };
    await fc.assert(
      fc.asyncProperty(anyScenario(), fc.boolean(), async (scenario, isSwept) => {
        const { ordering, boundaries, history } = scenario;
        const list: RankList = {
          ...FIRST_GENERATION,
          boardUid: 9,
          windowUid: windowUid++,
          scope: 0,
          ordering,
          shards: boundaries.length + 1,
          boundaries,
          dense: true,
        };
        const between = new RedisRankProjection(direct);
        await applyAll(between, list, history.slice(0, SETTLED_CHANGES));
        const moments: Standing[] = [await standingOf(list)];
        const turns = new Turns();
        let writing = 0;
        for (const [at, deliveries] of scenario.writers.entries()) {
          writing += 1;
          turns.start(async () => {
            const projection = new RedisRankProjection(writers[at]!);
            for (const delivery of deliveries) await deliver(turns, writers[at]!, projection, list, history, delivery);
            writing -= 1;
          });
        }
        reader.beforeStep = () => turns.step('reader');
        turns.start(async () => {
          const reading = new RedisRankProjection(reader);
          while (writing > 0) {
            const from = moments.length - 1;
            await readAll(reading, list, () => moments.slice(from));
          }
        });
        sweeper.beforeStep = () => turns.step('sweeper');
        if (isSwept) turns.start(async () => void (await new RedisRankProjection(sweeper).finishMoves(list, null, 0)));
        let steps = 0;
        await turns.play(
          (count) => scenario.choices[steps++ % scenario.choices.length]! % Math.max(1, count),
          async (actor) => {
            expect(steps).toBeLessThan(STEPS_MAX);
            if (actor === 'reader') return void moments.push(moments.at(-1)!);
            moments.push(await standingOf(list));
            const now = moments.at(-1)!;
            const isTwice = [...now.values()].some((keys) => keys.length > 1);
            // Nobody interrupts this reader: what it calls exact is the one true list.
            const exact = steps % 3 === 0 || isTwice ? await readAll(between, list, () => [now]) : null;
            if (exact !== null) counts[exact === 4 ? 'exact' : 'estimated'] += 1;
            if (isTwice) {
              counts.twice += 1;
              expect(exact).toBe(0);
            }
          },
        );
        await finishAndCompare(between, list, history, isSwept);
        await between.drop(list);
      }),
      // An order of steps shrinks for minutes; the seed that is printed gives it again.
      { numRuns: Number(process.env['RANGE_RUNS'] ?? 60), endOnFailure: true },
    );
    // The property looked at what it is about.
    expect(counts.twice).toBeGreaterThan(10);
    expect(counts.exact).toBeGreaterThan(10);
  }, 300_000);
});

/** Applies a part of the history home by home, as a process does, until it dies. */
async function deliver(
  turns: Turns,
  connection: SteppedConnection,
  projection: RedisRankProjection,
  list: RankList,
  history: readonly RankChange[],
  { from, count, diesAtStep }: Delivery,
): Promise<void> {
  let step = 0;
  connection.beforeStep = async () => {
    if (step++ === diesAtStep) throw new Died();
    await turns.step('writer');
  };
  const first = Math.max(SETTLED_CHANGES, from % history.length);
  const part = history.slice(first, first + count);
  try {
    for (let home = 0; home < list.shards; home += 1) {
      const ofHome = part.filter(({ playerId }) => shardOf(playerId, list.shards) === home);
      const changes = ofHome.map((change) => projectedChange(list.ordering, change));
      if (changes.length > 0) await projection.apply(list, home, changes, null);
    }
  } catch (error) {
    if (!(error instanceof Died)) throw error;
  }
}

/** What died is delivered once more, or swept and then delivered: afterwards everything is as it should be. */
async function finishAndCompare(
  projection: RedisRankProjection,
  list: RankList,
  history: readonly RankChange[],
  isSwept: boolean,
): Promise<void> {
  const keysOf = async (name: string): Promise<string[]> => plain.keys(`{9.${list.windowUid}.0.*}1:${name}`);
  if (isSwept) {
    await projection.finishMoves(list, null, 0);
    expect(await keysOf('p')).toEqual([]);
    expect([...(await standingOf(list)).values()].every((keys) => keys.length <= 1)).toBe(true);
  }
  await applyAll(projection, list, history);
  expect(await keysOf('[pm]')).toEqual([]);
  const oracle = new SortedArrayOracle(list.ordering);
  for (const { playerId, version, values } of history) oracle.apply(playerId, version, values);
  const page = await projection.page(list, 0, 50, 'ordinal');
  expect(page.accuracy).toBeUndefined();
  expect(page.total).toBe(oracle.entries.length);
  expect(page.entries).toEqual(expectedRows(list, oracle, 0, 50, 'ordinal'));
  let distinct = 0;
  for (let shard = 0; shard < list.shards; shard += 1) {
    distinct += await plain.zcard(`{9.${list.windowUid}.0.${shard}}1:u`);
  }
  expect(distinct).toBe(new Set(oracle.entries.map(({ score, columns }) => `${score} ${columns.join()}`)).size);
  for (const playerId of PLAYERS)
    expect(await projection.entryVersion(list, playerId)).toBe(oracle.versionOf(playerId));
}
