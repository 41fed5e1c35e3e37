import { GLOBAL_SCOPE, GUILDS_SCOPE, type RankStyle, type SortKey } from '@laddercast/domain';
import { FIRST_GENERATION } from '@laddercast/projections';
import type { ProjectedEntry, RankList, RankReadings } from '@laddercast/projections';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { seedOfRun } from '../oracle/dice.js';
import {
  anyBoundaries,
  anyHistory,
  anyOrdering,
  anyPlayerId,
  anyValues,
  sortKeyOf,
  type RankChange,
} from '../oracle/rank-history.js';
import { SortedArrayOracle, type OracleEntry, type OracleValues } from '../oracle/sorted-array-oracle.js';

/** What came to pass in a list; its `windowUid` is the store's to choose. */
export interface RankScenario {
  list: RankList;
  history: RankChange[];
}

/** A list as it is stored, and as it should read. */
export interface StoredScenario {
  readings: RankReadings;
  list: RankList;
  oracle: SortedArrayOracle;
}

export interface RankReadingsConformanceOptions {
  /** Stores a fresh list with this history, has it checked, and removes it. */
  withScenario: (scenario: RankScenario, check: (stored: StoredScenario) => Promise<void>) => Promise<void>;
  /** How many random histories each property tries. */
  runs: number;
  /** The version that a player's entry is read with; by default that of its last change. */
  versionOf?: (oracle: SortedArrayOracle, playerId: string) => unknown;
}

/** Kinds of lists by player: that of everybody over several numbers of shards, that of guilds, that of a region. */
const KINDS = [
  { shards: 1, scope: GLOBAL_SCOPE },
  { shards: 1, scope: GLOBAL_SCOPE, dense: true },
  { shards: 2, scope: GLOBAL_SCOPE },
  { shards: 3, scope: GLOBAL_SCOPE },
  { shards: 7, scope: GLOBAL_SCOPE },
  { shards: 1, scope: GUILDS_SCOPE },
  { shards: 1, scope: GUILDS_SCOPE, dense: true },
  { shards: 1, scope: 2_000_000_017 },
  { shards: 1, scope: 2_000_000_018, dense: true },
];
const STYLES: RankStyle[] = ['ordinal', 'competition', 'dense'];

/** Every style that ranks of the list are kept in: standings keep all. */
export const stylesOf = ({ dense, edition }: RankList): RankStyle[] =>
  dense || edition !== undefined ? STYLES : STYLES.filter((style) => style !== 'dense');

/** One of the kinds, or the list of everybody by ranges of scores: many entries stand exactly at a boundary. */
const anyKind = (): fc.Arbitrary<
  Pick<RankList, 'shards' | 'scope'> & Partial<Pick<RankList, 'boundaries' | 'dense'>>
> =>
  fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...KINDS) },
    {
      weight: 2,
      arbitrary: fc.tuple(anyBoundaries(), fc.boolean()).map(([boundaries, dense]) => ({
        scope: GLOBAL_SCOPE,
        shards: boundaries.length + 1,
        boundaries,
        dense,
      })),
    },
  );

/**
 * Declares the tests that all {@link RankReadings} must pass: random histories, each read compared with an oracle.
 * A failure prints fast-check's seed and path; `SEED=…` repeats.
 */
export function rankReadingsConformance(options: RankReadingsConformanceOptions): void {
  const seed = seedOfRun();
  const { withScenario, runs, versionOf = (oracle, playerId) => oracle.versionOf(playerId) } = options;
  it('gives every page at every offset in every style', () =>
    fc.assert(
      fc.asyncProperty(anyRankScenario(60), fc.integer({ min: 1, max: 6 }), (scenario, limit) =>
        withScenario(scenario, async ({ readings, list, oracle }) => {
          for (let offset = 0; offset <= oracle.entries.length + 1; offset += 1) {
            for (const style of stylesOf(list)) {
              const page = await readings.page(list, offset, limit, style);
              expect(page.entries).toEqual(expectedRows(list, oracle, offset, offset + limit, style));
              expect(page.total).toBe(oracle.entries.length);
              expect(page.accuracy).toBeUndefined();
            }
          }
        }),
      ),
      { numRuns: runs, seed },
    ));

  it('gives every player with rank and neighbours, and null without an entry', () =>
    fc.assert(
      fc.asyncProperty(
        anyRankScenario(60),
        fc.nat({ max: 4 }),
        fc.nat({ max: 4 }),
        fc.nat(),
        (scenario, above, below, pick) =>
          withScenario(scenario, async ({ readings, list, oracle }) => {
            const style = styleFrom(list, pick);
            const compare = async (playerId: string, before: number, after: number): Promise<void> => {
              const index = oracle.indexOf(playerId);
              const reading = await readings.player(list, playerId, before, after, style);
              expect(reading.total).toBe(oracle.entries.length);
              expect(reading.accuracy).toBeUndefined();
              const around = index < 0 ? [0, 0] : [Math.max(0, index - before), index + after + 1];
              expect(reading.neighbours).toEqual(expectedRows(list, oracle, around[0]!, around[1]!, style));
              const own = expectedRows(list, oracle, index, index + 1, style)[0];
              expect(reading.entry).toEqual(index < 0 ? null : { ...own, version: versionOf(oracle, playerId) });
            };
            const players = [...playersOf(scenario), 'nobody'];
            for (const playerId of players) await compare(playerId, above, below);
            // Readings that come together, of any number of neighbours.
            await Promise.all(players.map((playerId, at) => compare(playerId, (above + at) % 3, (below * at) % 3)));
          }),
      ),
      { numRuns: runs, seed },
    ));

  it('looks players up in the order asked, with exact ranks', () =>
    fc.assert(
      fc.asyncProperty(anyRankScenario(60), fc.nat(), (scenario, pick) =>
        withScenario(scenario, async ({ readings, list, oracle }) => {
          const style = styleFrom(list, pick);
          const asked = ['nobody', ...scenario.history.map(({ playerId }) => playerId)];
          const { entries, total, accuracy } = await readings.lookup(list, asked, style);
          expect(accuracy).toBeUndefined();
          expect(total).toBe(oracle.entries.length);
          expect(entries).toEqual(
            asked.map((playerId) => {
              const index = oracle.indexOf(playerId);
              return index < 0 ? null : expectedRows(list, oracle, index, index + 1, style)[0];
            }),
          );
        }),
      ),
      { numRuns: runs, seed },
    ));

  it('says in every style where a key would stand, and what stands strictly before a score', () =>
    fc.assert(
      fc.asyncProperty(
        anyRankScenario(60).chain((scenario) => {
          const anyKey = fc.record({ values: anyValues(scenario.list.ordering), playerId: anyPlayerId() });
          return fc.record({
            scenario: fc.constant(scenario),
            values: anyKey.map(({ values, playerId }): OracleValues => ({ ...values, playerId })),
          });
        }),
        ({ scenario, values }) =>
          withScenario(scenario, async ({ readings, list, oracle }) => {
            const total = oracle.entries.length;
            for (const asked of [values, ...oracle.entries.slice(0, 5)]) {
              const key = sortKeyOf(list.ordering, asked);
              for (const style of stylesOf(list)) {
                const rank = oracle.rankOf(asked, style);
                expect(await readings.rankOfKey(list, key, style)).toMatchObject({ rank, total });
              }
            }
            const beforeEqual: SortKey = { ...sortKeyOf(list.ordering, values), member: Buffer.alloc(0) };
            const better = oracle.entries.filter(({ score }) =>
              list.ordering.order === 'asc' ? score < values.score : score > values.score,
            );
            expect(await readings.rankOfKey(list, beforeEqual, 'ordinal')).toMatchObject({
              rank: better.length + 1,
              total,
            });
            expect(await readings.total(list)).toMatchObject({ total });
          }),
      ),
      { numRuns: runs, seed },
    ));
}

/** One of the styles that the list is kept in. */
function styleFrom(list: RankList, pick: number): RankStyle {
  const styles = stylesOf(list);
  return styles[pick % styles.length]!;
}

/** A list of any kind and order, with a history. */
export const anyRankScenario = (changesMax: number): fc.Arbitrary<RankScenario> =>
  fc.tuple(anyOrdering(), anyKind()).chain(([ordering, kind]) =>
    anyHistory(ordering, changesMax).map((history) => ({
      history,
      list: { boardUid: 1, windowUid: 0, ordering, ...FIRST_GENERATION, ...kind },
    })),
  );

/** The list as it should be after its history. */
export function oracleOf({ list, history }: RankScenario): SortedArrayOracle {
  const oracle = new SortedArrayOracle(list.ordering);
  for (const { playerId, version, values } of history) oracle.apply(playerId, version, values);
  return oracle;
}

export const playersOf = ({ history }: RankScenario): string[] => [...new Set(history.map(({ playerId }) => playerId))];

/** The rows from one 0-based index to before another, as readings answer them. */
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
