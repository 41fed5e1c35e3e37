import { sleep } from '@laddercast/platform';
import { shardOf, type BoardOrdering, type RankStyle } from '@laddercast/domain';
import type { ProjectedEntry, RankList, RankProjection } from '@laddercast/projections';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  anyHistory,
  anyOrdering,
  anyPlayerId,
  anyValues,
  projectedChange,
  sortKeyOf,
  type RankChange,
} from './rank-history.js';
import { SortedArrayOracle, type OracleEntry, type OracleValues } from './sorted-array-oracle.js';

export interface RankProjectionConformanceOptions {
  /** The projection under test; asked for in each test. */
  projection: () => RankProjection;
  /** How many random histories each property tries. */
  runs: number;
  /** Above the `windowUid` of every list that other tests of the same store use. */
  firstWindowUid?: number;
}

interface Scenario {
  list: RankList;
  history: RankChange[];
}

const SHARD_COUNTS = [1, 2, 3, 7];
const STYLES: RankStyle[] = ['ordinal', 'competition'];

/**
 * Declares the tests that every {@link RankProjection} must pass: random histories, each read compared with an oracle.
 * A failure prints fast-check's seed and path.
 */
export function rankProjectionConformance({
  projection,
  runs,
  firstWindowUid = 1,
}: RankProjectionConformanceOptions): void {
  let windowUid = firstWindowUid;
  const listOf = (ordering: BoardOrdering, shards: number): RankList => ({
    boardUid: 1,
    windowUid: windowUid++,
    ordering,
    shards,
  });
  const anyScenario = (changesMax: number): fc.Arbitrary<Scenario> =>
    fc.tuple(anyOrdering(), fc.constantFrom(...SHARD_COUNTS)).chain(([ordering, shards]) =>
      anyHistory(ordering, changesMax).map((history) => ({
        history,
        list: { boardUid: 1, windowUid: 0, ordering, shards },
      })),
    );
  /** Applies the history to a fresh list, checks it, and removes it. */
  const withScenario = async (
    given: Scenario,
    check: (list: RankList, oracle: SortedArrayOracle) => Promise<void>,
  ): Promise<void> => {
    const list = listOf(given.list.ordering, given.list.shards);
    await applyAll(projection(), list, given.history);
    await check(list, oracleOf(list, given.history));
    await projection().drop(list);
  };

  describe('applying', () => {
    it('gives the same entries in the same order however often and in whatever order changes arrive', () =>
      fc.assert(
        fc.asyncProperty(
          anyScenario(60).chain((scenario) =>
            fc.record({
              scenario: fc.constant(scenario),
              shuffled: fc.shuffledSubarray([...scenario.history, ...scenario.history], {
                minLength: scenario.history.length * 2,
              }),
            }),
          ),
          async ({ scenario, shuffled }) => {
            await withScenario({ ...scenario, history: shuffled }, async (list, oracle) => {
              await expectSameList(projection(), list, oracle);
              const { listVersion } = await projection().total(list);
              expect(await applyAll(projection(), list, shuffled)).toBe(0);
              expect((await projection().total(list)).listVersion).toBe(listVersion);
              await expectSameList(projection(), list, oracle);
            });
          },
        ),
        { numRuns: runs },
      ));

    it('keeps the version of an entry and of its removal', () =>
      fc.assert(
        fc.asyncProperty(anyScenario(40), (scenario) =>
          withScenario(scenario, async (list, oracle) => {
            for (const playerId of playersOf(scenario)) {
              expect(await projection().entryVersion(list, playerId)).toBe(oracle.versionOf(playerId));
            }
          }),
        ),
        { numRuns: runs },
      ));
  });

  describe('reading', () => {
    it('gives every page at every offset in both styles', () =>
      fc.assert(
        fc.asyncProperty(anyScenario(60), fc.integer({ min: 1, max: 6 }), (scenario, limit) =>
          withScenario(scenario, async (list, oracle) => {
            for (let offset = 0; offset <= oracle.entries.length + 1; offset += 1) {
              for (const style of STYLES) {
                const page = await projection().page(list, offset, limit, style);
                expect(page.entries).toEqual(expectedRows(list, oracle, offset, offset + limit, style));
                expect(page.total).toBe(oracle.entries.length);
              }
            }
          }),
        ),
        { numRuns: runs },
      ));

    it('gives every player with rank and neighbours, and null without an entry', () =>
      fc.assert(
        fc.asyncProperty(
          anyScenario(60),
          fc.nat({ max: 4 }),
          fc.nat({ max: 4 }),
          fc.constantFrom(...STYLES),
          (scenario, above, below, style) =>
            withScenario(scenario, async (list, oracle) => {
              for (const playerId of [...playersOf(scenario), 'nobody']) {
                const index = oracle.indexOf(playerId);
                const reading = await projection().player(list, playerId, above, below, style);
                expect(reading.total).toBe(oracle.entries.length);
                const around = index < 0 ? [0, 0] : [Math.max(0, index - above), index + below + 1];
                expect(reading.neighbours).toEqual(expectedRows(list, oracle, around[0]!, around[1]!, style));
                const own = expectedRows(list, oracle, index, index + 1, style)[0];
                const version = oracle.versionOf(playerId);
                expect(reading.entry).toEqual(index < 0 ? null : { ...own, version });
              }
            }),
        ),
        { numRuns: runs },
      ));

    it('looks players up in the order asked, with exact ranks', () =>
      fc.assert(
        fc.asyncProperty(anyScenario(60), fc.constantFrom(...STYLES), (scenario, style) =>
          withScenario(scenario, async (list, oracle) => {
            const asked = ['nobody', ...scenario.history.map(({ playerId }) => playerId)];
            const { entries, total } = await projection().lookup(list, asked, style);
            expect(total).toBe(oracle.entries.length);
            expect(entries).toEqual(
              asked.map((playerId) => {
                const index = oracle.indexOf(playerId);
                return index < 0 ? null : expectedRows(list, oracle, index, index + 1, style)[0];
              }),
            );
          }),
        ),
        { numRuns: runs },
      ));

    it('says where a key would stand, and where a player would stand after and before a change', () =>
      fc.assert(
        fc.asyncProperty(
          anyScenario(60).chain((scenario) => {
            const anyKey = fc.record({ values: anyValues(scenario.list.ordering), playerId: anyPlayerId() });
            return fc.record({
              scenario: fc.constant(scenario),
              values: anyKey.map(({ values, playerId }): OracleValues => ({ ...values, playerId })),
              before: fc.option(anyValues(scenario.list.ordering)),
            });
          }),
          ({ scenario, values, before }) =>
            withScenario(scenario, async (list, oracle) => {
              const key = sortKeyOf(list.ordering, values);
              const total = oracle.entries.length;
              expect(await projection().rankOfKey(list, key)).toMatchObject({
                rank: oracle.countBefore(values) + 1,
                total,
              });
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
        { numRuns: runs },
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
      await projection().apply(list, 0, [lost], null, true);
      expect((await projection().total(list)).listVersion).toBeGreaterThan(first + 3);
      await projection().drop(list);
      expect(await projection().total(list)).toEqual({ total: 0, listVersion: 0 });
      expect(await projection().entryVersion(list, 'ada')).toBeNull();
      expect(await versionAfter({ playerId: 'ada', version: 1, values })).toBeGreaterThan(first + 2);
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

function oracleOf(list: RankList, history: readonly RankChange[]): SortedArrayOracle {
  const oracle = new SortedArrayOracle(list.ordering);
  for (const { playerId, version, values } of history) oracle.apply(playerId, version, values);
  return oracle;
}

const playersOf = ({ history }: Scenario): string[] => [...new Set(history.map(({ playerId }) => playerId))];

/** Sends the changes, each to its shard, in the order given. */
export async function applyAll(
  projection: RankProjection,
  list: RankList,
  history: readonly RankChange[],
): Promise<number> {
  let newer = 0;
  for (let shard = 0; shard < list.shards; shard += 1) {
    const mine = history.filter(({ playerId }) => shardOf(playerId, list.shards) === shard);
    const changes = mine.map((change) => projectedChange(list.ordering, change));
    newer += await projection.apply(list, shard, changes, null);
  }
  return newer;
}

/** The rows from one 0-based index to before another, as a projection answers them. */
export function expectedRows(
  list: RankList,
  oracle: SortedArrayOracle,
  from: number,
  to: number,
  style: RankStyle,
): ProjectedEntry[] {
  if (from < 0) return [];
  return oracle.entries.slice(from, to).map((entry: OracleEntry, at) => ({
    rank: oracle.rankAt(from + at, style),
    playerId: entry.playerId,
    score: entry.score === 0 ? 0 : entry.score,
    columns: entry.columns.map((column) => (column === 0 ? 0 : column)),
    achievedAtMs: list.ordering.tiebreak === 'none' ? null : entry.achievedAtMs,
  }));
}

async function expectSameList(projection: RankProjection, list: RankList, oracle: SortedArrayOracle): Promise<void> {
  const { entries } = await projection.page(list, 0, oracle.entries.length + 1, 'ordinal');
  expect(entries).toEqual(expectedRows(list, oracle, 0, oracle.entries.length, 'ordinal'));
}
