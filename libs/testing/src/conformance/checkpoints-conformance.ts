import { memberColumnBytes, type RankStyle, type SortKey } from '@laddercast/domain';
import type {
  Checkpoint,
  CheckpointPage,
  CheckpointPlace,
  Checkpoints,
  RankList,
  RankProjection,
} from '@laddercast/projections';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { seedOfRun } from '../oracle/dice.js';
import { anyPlayerId, anyValues, sortKeyOf, type RankChange } from '../oracle/rank-history.js';
import { applyAll } from './rank-projection-conformance.js';
import { anyRankScenario, expectedRows, oracleOf, playersOf, type RankScenario } from './rank-readings-conformance.js';
import type { SortedArrayOracle } from '../oracle/sorted-array-oracle.js';

export interface CheckpointsConformanceOptions {
  /** The checkpoints under test, and the projection whose lists they are of; asked for in each test. */
  checkpoints: () => Checkpoints;
  projection: () => RankProjection;
  /** How many random histories each property tries. */
  runs: number;
  /** Above the `windowUid` of every list that other tests of the same store use. */
  firstWindowUid: number;
}

/** A list with a checkpoint, and how it should read. */
interface OpenedScenario {
  list: RankList;
  opened: Checkpoint;
  oracle: SortedArrayOracle;
}

/** A list, the rest of whose history comes to pass while it is being read. */
interface MovingScenario extends RankScenario {
  /** How much of the history was before the opening. */
  before: number;
}

/** Values of which many are equal. */
const fewValues = (list: RankList): fc.Arbitrary<RankChange['values']> =>
  fc.record({
    score: fc.integer({ min: -1, max: 1 }),
    columns: fc
      .tuple(...list.ordering.columns.map(() => fc.integer({ min: 0, max: 1 })))
      .map((columns) => [...columns]),
    achievedAtMs: fc.integer({ min: 1000, max: 1001 }),
  });

/** Histories that are long enough for checkpoints in their middle: removals, returns, and the same values again. */
const anyMoving = (): fc.Arbitrary<MovingScenario> =>
  anyRankScenario(1)
    .chain(({ list }) =>
      fc.record({
        list: fc.constant(list),
        ids: fc.uniqueArray(anyPlayerId(), { minLength: 3, maxLength: 20, size: 'max' }),
        changes: fc.array(
          fc.tuple(
            fc.nat(),
            fc.oneof(
              { weight: 2, arbitrary: fc.constant(null) },
              { weight: 3, arbitrary: anyValues(list.ordering) },
              { weight: 5, arbitrary: fewValues(list) },
              { weight: 3, arbitrary: fc.constant('again' as const) },
            ),
          ),
          { minLength: 1, maxLength: 70, size: 'max' },
        ),
        before: fc.nat({ max: 45 }),
      }),
    )
    .map(({ list, ids, changes, before }) => {
      const first = new Map<string, RankChange['values']>();
      const history = changes.map(([at, given], index): RankChange => {
        const playerId = ids[at % ids.length]!;
        const values = given === 'again' ? (first.get(playerId) ?? null) : given;
        if (values !== null && !first.has(playerId)) first.set(playerId, values);
        return { playerId, version: index + 1, values };
      });
      return { list, history, before: Math.min(before, history.length) };
    });

/**
 * Declares the tests that all {@link Checkpoints} must pass: random histories that go on while the list is read as of
 * some moment in them, each reading compared with an oracle of that moment. A failure prints fast-check's seed and path; `SEED=…` repeats.
 */
export function checkpointsConformance(options: CheckpointsConformanceOptions): void {
  const seed = seedOfRun();
  const { checkpoints, projection, runs } = options;
  let windowUid = options.firstWindowUid;

  /** Has the list read as it was at its opening, with all that came after it. */
  const withOpened = async (given: MovingScenario, check: (opened: OpenedScenario) => Promise<void>): Promise<void> => {
    const list = {
      ...given.list,
      windowUid: windowUid++,
      dense: given.list.shards === 1 || given.list.boundaries !== null,
    };
    const history = given.history.slice(0, given.before);
    await applyAll(projection(), list, history);
    const opened = await checkpoints().open(list, false);
    await applyAll(projection(), list, given.history.slice(given.before));
    await check({ list, opened, oracle: oracleOf({ list, history }) });
    await projection().drop(list);
  };

  it('shows every page after and before every row as it was, in every style', () =>
    fc.assert(
      fc.asyncProperty(anyMoving(), fc.integer({ min: 1, max: 6 }), (scenario, limit) =>
        withOpened(scenario, async ({ list, opened, oracle }) => {
          const total = oracle.entries.length;
          for (const style of stylesOf(list)) {
            for (let at = -1; at < total; at += 1) {
              for (const beside of at < 0 ? [null] : [keyAt(list, oracle, at), at]) {
                const place = { beside, denseRank: at < 0 ? null : denseRankAt(list, oracle, at) };
                const after = await checkpoints().page(list, opened, { ...place, direction: 'after' }, limit, style);
                expectPage(after, { list, opened, oracle }, at + 1, at + 1 + limit, style);
                if (at < 0) continue;
                const before = await checkpoints().page(list, opened, { ...place, direction: 'before' }, limit, style);
                expectPage(before, { list, opened, oracle }, Math.max(0, at - limit), at, style);
              }
            }
          }
          const beyond: CheckpointPlace = { beside: total + 3, direction: 'after', denseRank: 1 };
          expect((await checkpoints().page(list, opened, beyond, limit, 'ordinal')).entries).toEqual([]);
        }),
      ),
      { numRuns: runs, seed },
    ));

  it('shows every place in the middle of a page', () =>
    fc.assert(
      fc.asyncProperty(anyMoving(), fc.integer({ min: 1, max: 6 }), (scenario, limit) =>
        withOpened(scenario, async ({ list, opened, oracle }) => {
          const total = oracle.entries.length;
          const around = async (at: SortKey | number, index: number): Promise<void> => {
            const from = Math.max(0, Math.min(index - Math.floor((limit - 1) / 2), total - limit));
            for (const style of stylesOf(list)) {
              const page = await checkpoints().around(list, opened, at, limit, style);
              expectPage(page!, { list, opened, oracle }, from, from + limit, style);
            }
          };
          for (let index = 0; index < total; index += 1) await around(index, index);
          await around(total + 5, total - 1);
          for (const { values, playerId } of scenario.history) {
            if (values === null) continue;
            const index = oracle.countBefore({ ...values, playerId });
            await around(sortKeyOf(list.ordering, { ...values, playerId }), Math.min(index, total - 1));
          }
        }),
      ),
      { numRuns: runs, seed },
    ));

  it('finds the entry that each player had', () =>
    fc.assert(
      fc.asyncProperty(anyMoving(), (scenario) =>
        withOpened(scenario, async ({ list, opened, oracle }) => {
          for (const playerId of [...playersOf(scenario), 'nobody', '*', 'a?']) {
            const index = oracle.indexOf(playerId);
            const key = index < 0 ? null : keyAt(list, oracle, index);
            expect(await checkpoints().keyOf(list, opened, playerId)).toEqual(key);
          }
        }),
      ),
      { numRuns: runs, seed },
    ));

  it('shows several moments side by side, page by page, while the list goes on changing', () =>
    fc.assert(
      fc.asyncProperty(
        anyMoving(),
        // The fourth slot is for those who share.
        fc.array(fc.nat({ max: 60 }), { minLength: 1, maxLength: 3 }),
        fc.integer({ min: 1, max: 4 }),
        async (scenario, openings, limit) => {
          const list = {
            ...scenario.list,
            windowUid: windowUid++,
            dense: scenario.list.shards === 1 || scenario.list.boundaries !== null,
          };
          const walks: { opened: OpenedScenario; walk: Walk }[] = [];
          for (const [at, change] of scenario.history.entries()) {
            for (const opening of openings) {
              if (opening !== at) continue;
              const oracle = oracleOf({ list, history: scenario.history.slice(0, at) });
              const opened = { list, opened: await checkpoints().open(list, false), oracle };
              walks.push({ opened, walk: new Walk(checkpoints(), list, opened.opened, limit) });
            }
            await applyAll(projection(), list, [change]);
            for (const { walk } of walks) if (at % 3 === 0) await walk.step();
          }
          for (const { opened, walk } of walks) await expectWalk(opened, walk);
          await projection().drop(list);
        },
      ),
      { numRuns: runs, seed },
    ));
}

/** Reads a list from its first page to the last, and back. */
class Walk {
  private readonly style: RankStyle;
  private readonly pages: CheckpointPage[] = [];
  private place: CheckpointPlace | null = { beside: null, direction: 'after', denseRank: null };

  constructor(
    private readonly checkpoints: Checkpoints,
    private readonly list: RankList,
    private readonly opened: Checkpoint,
    private readonly limit: number,
  ) {
    this.style = list.dense ? 'dense' : 'competition';
  }

  async step(): Promise<void> {
    if (this.place === null) return;
    const page = await this.checkpoints.page(this.list, this.opened, this.place, this.limit, this.style);
    this.pages.push(page);
    const { direction } = this.place;
    const [edge, rank] =
      direction === 'after' ? [page.keys.at(-1), page.entries.at(-1)?.rank] : [page.keys[0], page.entries[0]?.rank];
    this.place = edge === undefined ? null : { beside: edge, direction, denseRank: rank! };
  }

  async finish(): Promise<CheckpointPage[]> {
    while (this.place !== null) await this.step();
    return this.pages.splice(0);
  }

  turnBack(page: CheckpointPage): void {
    const edge = page.keys.at(-1);
    const rank = page.entries.at(-1)?.rank ?? null;
    this.place = edge === undefined ? null : { beside: edge, direction: 'before', denseRank: rank };
  }
}

async function expectWalk({ list, opened, oracle }: OpenedScenario, walk: Walk): Promise<void> {
  const style = list.dense ? 'dense' : 'competition';
  const total = oracle.entries.length;
  const forth = await walk.finish();
  expect(forth.flatMap(({ entries }) => entries)).toEqual(rowsOfStyle(list, oracle, 0, total, style));
  for (const { checkpoint } of forth) expect(checkpoint).toEqual(opened);
  walk.turnBack(forth.findLast(({ keys }) => keys.length > 0) ?? forth.at(-1)!);
  const back = await walk.finish();
  const entries = back.reverse().flatMap((page) => page.entries);
  expect(entries).toEqual(rowsOfStyle(list, oracle, 0, Math.max(0, total - 1), style));
}

function expectPage(
  page: CheckpointPage,
  { list, opened, oracle }: OpenedScenario,
  from: number,
  to: number,
  style: RankStyle,
): void {
  expect(page.entries).toEqual(rowsOfStyle(list, oracle, from, to, style));
  expect(page.checkpoint).toEqual(opened);
  expect(page.index).toBe(from);
  expect(page.checkpoint.total).toBe(oracle.entries.length);
  expect(page.keys).toEqual(page.entries.map((_, at) => keyAt(list, oracle, from + at)));
}

const stylesOf = (list: RankList): RankStyle[] =>
  list.dense ? ['ordinal', 'competition', 'dense'] : ['ordinal', 'competition'];

const keyAt = (list: RankList, oracle: SortedArrayOracle, index: number): SortKey =>
  sortKeyOf(list.ordering, oracle.entries[index]!);

function rowsOfStyle(
  list: RankList,
  oracle: SortedArrayOracle,
  from: number,
  to: number,
  style: RankStyle,
): CheckpointPage['entries'] {
  if (style !== 'dense') return expectedRows(list, oracle, from, to, style);
  return expectedRows(list, oracle, from, to, 'ordinal').map((row, at) => ({
    ...row,
    rank: denseRankAt(list, oracle, from + at),
  }));
}

/** Distinct values of score and columns up to an index. */
function denseRankAt(list: RankList, oracle: SortedArrayOracle, index: number): number {
  const columnBytes = memberColumnBytes(list.ordering);
  const values = oracle.entries.slice(0, index + 1).map((_, at) => {
    const { score, member } = keyAt(list, oracle, at);
    return `${score} ${member.toString('latin1', 0, columnBytes)}`;
  });
  return new Set(values).size;
}
