import { sleep } from '@laddercast/platform';
import {
  errorBoundOf,
  GLOBAL_SCOPE,
  GUILDS_SCOPE,
  RankSketch,
  rangeShardOf,
  shardOf,
  type BoardOrdering,
  type SortKey,
} from '@laddercast/domain';
import { FIRST_GENERATION, RecoveryRun } from '@laddercast/projections';
import type { RankList, RankProjection } from '@laddercast/projections';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { seedOfRun } from '../oracle/dice.js';
import { anyPlayerId, anyValues, projectedChange, sortKeyOf, type RankChange } from '../oracle/rank-history.js';
import {
  anyRankScenario,
  expectedRows,
  oracleOf,
  playersOf,
  rankReadingsConformance,
  stylesOf,
  type RankScenario,
  type StoredScenario,
} from './rank-readings-conformance.js';
import type { OracleValues, SortedArrayOracle } from '../oracle/sorted-array-oracle.js';

export interface RankProjectionConformanceOptions {
  /** The projection under test; asked for in each test. */
  projection: () => RankProjection;
  /** How many random histories each property tries. */
  runs: number;
  /** Above the `windowUid` of every list that other tests of the same store use. */
  firstWindowUid?: number;
}

/** The shard that holds an entry. */
const holderOf = ({ boundaries, shards }: RankList, key: SortKey, playerId: string): number =>
  boundaries === null ? shardOf(playerId, shards) : rangeShardOf(boundaries, key.score);

/**
 * Declares the tests that every {@link RankProjection} must pass: random histories, each read compared with an oracle.
 * A failure prints fast-check's seed and path; `SEED=…` repeats.
 */
export function rankProjectionConformance({
  projection,
  runs,
  firstWindowUid = 1,
}: RankProjectionConformanceOptions): void {
  const seed = seedOfRun();
  let windowUid = firstWindowUid;
  const listOf = (ordering: BoardOrdering, shards: number, scope = GLOBAL_SCOPE): RankList => ({
    boardUid: 1,
    windowUid: windowUid++,
    scope,
    ordering,
    shards,
    ...FIRST_GENERATION,
  });
  /** Applies the history to a fresh list, checks it, and removes it. */
  const withScenario = async (given: RankScenario, check: (stored: StoredScenario) => Promise<void>): Promise<void> => {
    const list: RankList = { ...given.list, windowUid: windowUid++ };
    await applyAll(projection(), list, given.history);
    await check({ readings: projection(), list, oracle: oracleOf({ ...given, list }) });
    await projection().drop(list);
  };

  describe('applying', () => {
    it('gives the same entries in the same order however often and in whatever order changes arrive', () =>
      fc.assert(
        fc.asyncProperty(
          anyRankScenario(60).chain((scenario) =>
            fc.record({
              scenario: fc.constant(scenario),
              shuffled: fc.shuffledSubarray([...scenario.history, ...scenario.history], {
                minLength: scenario.history.length * 2,
              }),
            }),
          ),
          async ({ scenario, shuffled }) => {
            await withScenario({ ...scenario, history: shuffled }, async ({ list, oracle }) => {
              await expectSameList(projection(), list, oracle);
              const { listVersion } = await projection().total(list);
              expect(await applyAll(projection(), list, shuffled)).toBe(0);
              expect((await projection().total(list)).listVersion).toBe(listVersion);
              await expectSameList(projection(), list, oracle);
            });
          },
        ),
        { numRuns: runs, seed },
      ));

    it('keeps the version of an entry and of its removal', () =>
      fc.assert(
        fc.asyncProperty(anyRankScenario(40), (scenario) =>
          withScenario(scenario, async ({ list, oracle }) => {
            for (const playerId of playersOf(scenario)) {
              expect(await projection().entryVersion(list, playerId)).toBe(oracle.versionOf(playerId));
            }
          }),
        ),
        { numRuns: runs, seed },
      ));
  });

  describe('reading', () => {
    rankReadingsConformance({ withScenario, runs });

    it('reads marks that say of every key where it stands, as near as they claim', () =>
      fc.assert(
        fc.asyncProperty(anyRankScenario(60), fc.integer({ min: 1, max: 70 }), (scenario, marksMax) =>
          withScenario(scenario, async ({ list, oracle }) => {
            const { entries } = oracle;
            const { shards, ...reading } = await projection().readMarks(list, marksMax);
            expect(reading).toEqual(await projection().total(list));
            const step = Math.max(1, Math.floor(entries.length / marksMax));
            for (const [shard, marks] of shards.entries()) {
              const keys = entries
                .map((entry) => ({ key: sortKeyOf(list.ordering, entry), playerId: entry.playerId }))
                .filter(({ key, playerId }) => shard === holderOf(list, key, playerId))
                .map(({ key }) => key);
              const isMark = (index: number): boolean => index % step === 0 || index === keys.length - 1;
              expect(marks).toEqual({ total: keys.length, step, keys: keys.filter((_, index) => isMark(index)) });
            }
            const sketch = new RankSketch(shards);
            for (const [index, entry] of entries.entries()) {
              const estimate = sketch.estimate(sortKeyOf(list.ordering, entry));
              expect(Math.abs(estimate.likely - index)).toBeLessThanOrEqual(errorBoundOf(estimate));
            }
          }),
        ),
        { numRuns: runs, seed },
      ));

    it('gives the sort key of each player in the order asked, null where there is no entry', () =>
      fc.assert(
        fc.asyncProperty(anyRankScenario(60), (scenario) =>
          withScenario(scenario, async ({ list, oracle }) => {
            const asked = ['nobody', ...scenario.history.map(({ playerId }) => playerId)];
            const entryOf = new Map(oracle.entries.map((entry) => [entry.playerId, entry]));
            const { keys, listVersion } = await projection().sortKeys(list, asked);
            expect(listVersion).toBe(list.shards === 1 ? (await projection().total(list)).listVersion : null);
            expect(keys).toEqual(
              asked.map((playerId) => {
                const entry = entryOf.get(playerId);
                return entry ? sortKeyOf(list.ordering, entry) : null;
              }),
            );
          }),
        ),
        { numRuns: runs, seed },
      ));

    it('gives the state of each player with the rank of that very state', () =>
      fc.assert(
        fc.asyncProperty(anyRankScenario(60), (scenario) =>
          withScenario(scenario, async ({ list, oracle }) => {
            const asked = ['nobody', ...scenario.history.map(({ playerId }) => playerId)];
            const { states, total, accuracy } = await projection().lookupStates(list, asked);
            expect({ total, accuracy }).toEqual({ total: oracle.entries.length, accuracy: undefined });
            expect(states).toEqual(
              asked.map((playerId) => {
                const index = oracle.indexOf(playerId);
                return index < 0 ? null : { rank: index + 1, version: oracle.versionOf(playerId) };
              }),
            );
          }),
        ),
        { numRuns: runs, seed },
      ));

    it('says where a player would stand after and before a change', () =>
      fc.assert(
        fc.asyncProperty(
          anyRankScenario(60).chain((scenario) => {
            const anyKey = fc.record({ values: anyValues(scenario.list.ordering), playerId: anyPlayerId() });
            return fc.record({
              scenario: fc.constant(scenario),
              values: anyKey.map(({ values, playerId }): OracleValues => ({ ...values, playerId })),
              before: fc.option(anyValues(scenario.list.ordering)),
            });
          }),
          ({ scenario, values, before }) =>
            withScenario(scenario, async ({ list, oracle }) => {
              const total = oracle.entries.length;
              for (const playerId of [values.playerId, scenario.history[0]!.playerId]) {
                const after = { ...values, playerId };
                const earlier = before === null ? null : { ...before, playerId };
                const earlierKey = earlier === null ? null : sortKeyOf(list.ordering, earlier);
                expect(
                  await projection().placement(list, playerId, sortKeyOf(list.ordering, after), earlierKey),
                ).toMatchObject({
                  after: oracle.countBefore(after, playerId) + 1,
                  before: earlier === null ? null : oracle.countBefore(earlier, playerId) + 1,
                  version: oracle.versionOf(playerId),
                  total: total + (oracle.indexOf(playerId) < 0 ? 1 : 0),
                });
              }
            }),
        ),
        { numRuns: runs, seed },
      ));
  });

  describe('the whole list', () => {
    it('counts every change that moved something in listVersion, which never falls once there is something again', async () => {
      const ordering: BoardOrdering = { order: 'desc', operator: 'best', tiebreak: 'earliest', columns: [] };
      const list = listOf(ordering, 1);
      const values = { score: 1, columns: [], achievedAtMs: 5 };
      const versionAfter = async (change: RankChange): Promise<number> => {
        await applyAll(projection(), list, [change]);
        return (await projection().total(list)).listVersion;
      };
      const first = await versionAfter({ playerId: 'ada', version: 1, values });
      expect(await versionAfter({ playerId: 'bob', version: 2, values })).toBe(first + 1);
      expect(await versionAfter({ playerId: 'ada', version: 3, values: null })).toBe(first + 2);
      expect(await versionAfter({ playerId: 'nobody', version: 4, values: null })).toBe(first + 2);
      expect((await projection().total(list)).total).toBe(1);
      // What is brought back may stand for more changes than it shows.
      await sleep(5);
      const lost = projectedChange(ordering, { playerId: 'cy', version: 9, values });
      await projection().apply(list, 0, [lost], null, new RecoveryRun());
      const broughtBack = (await projection().total(list)).listVersion;
      expect(broughtBack).toBeGreaterThan(first + 3);
      // The log may have been faster, and what it brought may be all that there is of many changes that were lost.
      await sleep(5);
      await projection().apply(list, 0, [lost], null, new RecoveryRun());
      expect((await projection().total(list)).listVersion).toBeGreaterThan(broughtBack);
      await projection().drop(list);
      expect(await projection().total(list)).toEqual({ total: 0, listVersion: 0 });
      expect(await projection().entryVersion(list, 'ada')).toBeNull();
      expect(await versionAfter({ playerId: 'ada', version: 1, values })).toBeGreaterThan(first + 2);
    });

    it('has nothing to do with the other lists of its window', async () => {
      const ordering: BoardOrdering = { order: 'desc', operator: 'best', tiebreak: 'earliest', columns: [] };
      const everybody = listOf(ordering, 2);
      const lists = [everybody, ...[GUILDS_SCOPE, 16, 17].map((scope) => ({ ...everybody, scope, shards: 1 }))];
      for (const [at, list] of lists.entries()) {
        const values = { score: at, columns: [], achievedAtMs: 5 };
        await applyAll(projection(), list, [{ playerId: 'ada', version: at + 1, values }]);
      }
      for (const [at, list] of lists.entries()) {
        const { entries } = await projection().page(list, 0, 10, 'ordinal');
        expect(entries.map(({ score }) => score)).toEqual([at]);
        expect(await projection().entryVersion(list, 'ada')).toBe(at + 1);
      }
      await projection().drop(lists[2]!);
      expect((await projection().total(lists[2]!)).total).toBe(0);
      for (const list of [lists[0]!, lists[1]!, lists[3]!]) expect((await projection().total(list)).total).toBe(1);
    });

    it('lives as long as it was last asked to be kept, and never shorter than before', async () => {
      const ordering: BoardOrdering = { order: 'desc', operator: 'best', tiebreak: 'earliest', columns: [] };
      const [short, long, endless] = [listOf(ordering, 1, 16), listOf(ordering, 2), listOf(ordering, 1)];
      const change: RankChange = { playerId: 'ada', version: 1, values: { score: 1, columns: [], achievedAtMs: 5 } };
      const inMs = (ms: number): number => Date.now() + ms;
      for (const list of [short, long]) {
        const shard = shardOf('ada', list.shards);
        await projection().apply(list, shard, [projectedChange(ordering, change)], inMs(400));
      }
      await applyAll(projection(), endless, [change]);
      await projection().keep(long, inMs(60_000));
      await projection().keep(long, inMs(100));
      await projection().keep(endless, inMs(100));
      await sleep(700);
      expect((await projection().total(short)).total).toBe(0);
      for (const list of [long, endless]) {
        expect((await projection().total(list)).total).toBe(1);
        expect(await projection().entryVersion(list, 'ada')).toBe(1);
      }
      // What it never had it is not given either.
      await projection().keep(short, inMs(60_000));
      expect(await projection().total(short)).toEqual({ total: 0, listVersion: 0 });
    });

    it('drops late changes of a window past its end, and never makes its keys again', async () => {
      const ordering: BoardOrdering = { order: 'asc', operator: 'best', tiebreak: 'none', columns: [] };
      const list = listOf(ordering, 1);
      const change = { playerId: 'ada', version: 1, values: { score: 1, columns: [], achievedAtMs: 0 } };
      await projection().apply(list, 0, [projectedChange(ordering, change)], 1000);
      expect(await projection().total(list)).toEqual({ total: 0, listVersion: 0 });
      expect(await projection().entryVersion(list, 'ada')).toBeNull();
    });
  });
}

/** Sends the changes, each to its shard, in the order given. */
export async function applyAll(
  projection: RankProjection,
  list: RankList,
  history: readonly RankChange[],
  recovery?: RecoveryRun,
): Promise<number> {
  let newer = 0;
  for (let shard = 0; shard < list.shards; shard += 1) {
    const mine = history.filter(({ playerId }) => shardOf(playerId, list.shards) === shard);
    const changes = mine.map((change) => projectedChange(list.ordering, change));
    newer += await projection.apply(list, shard, changes, null, recovery);
  }
  return newer;
}

async function expectSameList(projection: RankProjection, list: RankList, oracle: SortedArrayOracle): Promise<void> {
  for (const style of stylesOf(list)) {
    const { entries } = await projection.page(list, 0, oracle.entries.length + 1, style);
    expect(entries).toEqual(expectedRows(list, oracle, 0, oracle.entries.length, style));
  }
}
