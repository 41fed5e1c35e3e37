// Real: Redis or Valkey, the scripts, the steps of several processes that write and read one list, in any order of steps.
// Compared with what stands in the shards after each step, and in the end with a sorted array.
import { isDeepStrictEqual } from 'node:util';
import { compareSortKeys, decodeSortKey, type SortKey } from '@laddercast/domain';
import {
  FIRST_GENERATION,
  RedisConnection,
  RedisRankProjection,
  type RankList,
  type Reading,
} from '@laddercast/projections';
import { applyAll, expectedRows, SortedArrayOracle, type RankChange } from '@laddercast/testing';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { anyScenario, deliver, PLAYERS, SETTLED_CHANGES } from './range-scenarios.js';
import { SteppedConnection, SteppedStore } from './redis-stepped-store.js';
import { Turns } from './turns.js';

const STEPS_MAX = 4000;

let store: SteppedStore;
let windowUid = 1;

beforeAll(async () => {
  store = await SteppedStore.open();
});
afterAll(() => store.close());

/** Where each player stood after each step: more than one key while it crosses. */
type Standing = Map<string, SortKey[]>;

async function standingOf(list: RankList): Promise<Standing> {
  const standing: Standing = new Map(PLAYERS.map((playerId) => [playerId, []]));
  for (let shard = 0; shard < list.shards; shard += 1) {
    const flat = await store.plain.zrangeBuffer(`{9.${list.windowUid}.0.${shard}}1:z`, 0, -1, 'WITHSCORES');
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

describe('entries that cross between shards', () => {
  it('are counted once in whatever is exact, and shown once, whoever dies between two steps', async () => {
    const writers = await Promise.all([0, 1, 2].map(() => store.connected(new SteppedConnection({ url: store.url }))));
    const reader = await store.connected(new SteppedConnection({ url: store.url }));
    const sweeper = await store.connected(new SteppedConnection({ url: store.url }));
    const direct = await store.connected(new RedisConnection({ url: store.url }));
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

/** What died is delivered once more, or swept and then delivered: afterwards everything is as it should be. */
async function finishAndCompare(
  projection: RedisRankProjection,
  list: RankList,
  history: readonly RankChange[],
  isSwept: boolean,
): Promise<void> {
  const keysOf = async (name: string): Promise<string[]> => store.plain.keys(`{9.${list.windowUid}.0.*}1:${name}`);
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
    distinct += await store.plain.zcard(`{9.${list.windowUid}.0.${shard}}1:u`);
  }
  expect(distinct).toBe(new Set(oracle.entries.map(({ score, columns }) => `${score} ${columns.join()}`)).size);
  for (const playerId of PLAYERS)
    expect(await projection.entryVersion(list, playerId)).toBe(oracle.versionOf(playerId));
}
