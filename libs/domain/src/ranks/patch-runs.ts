import type { BoardDefinition, BoardOrdering } from '../boards/board.js';
import { patchesToZero, taxedScore, taxRateOf } from '../boards/decay.js';
import { PATCHES_MAX, patchesBehind, type PatchOrder } from '../boards/patch-order.js';
import { isPatchScope, patchOfScope } from '../boards/scope.js';
import { comparePlaces, type SortValues, type TaxedFrom } from '../boards/sort-key.js';
import type { PatchRun } from '../events.js';

/** The most patches of which runs of a player are kept in a window; of a further one the oldest leaves. */
export const PATCHES_OF_PLAYER_MAX = 64;

/** As events and lists carry it, without what only the ledger keeps. */
export const rankedRun = ({ patch, score, columns, achievedAtMs }: PatchRun): PatchRun => ({
  patch,
  score,
  columns,
  achievedAtMs,
});

/** A run under a tax. */
export interface TaxedRun<Run extends PatchRun = PatchRun> {
  run: Run;
  /** As the taxed list ranks it. */
  values: SortValues & { taxedFrom: TaxedFrom };
}

/** What of a board decides the tax and the order of runs. */
export type TaxedBoard = BoardOrdering & Pick<BoardDefinition, 'decay'>;

/**
 * A player's runs with one more. Of each patch the best raw run is kept, and, where the tax can come to 0, also the one that
 * stands first when all scores are 0: by columns and time alone. Of equal ones the first to arrive stays. At most
 * {@link PATCHES_OF_PLAYER_MAX} patches have runs: the oldest leave.
 * @returns the runs, by patch, the best of each first; whether the new one is among them
 */
export function withRun<Run extends PatchRun>(
  board: TaxedBoard,
  runs: readonly Run[],
  run: Run,
  order: PatchOrder,
): { runs: Run[]; kept: boolean; dropped: number } {
  const ofPatch = [...runs.filter(({ patch }) => patch === run.patch), run];
  const best = firstOf(ofPatch, (a, b) => comparePlaces(board, a, b));
  const atZero = firstOf(ofPatch, (a, b) => comparePlaces(board, { ...a, score: 0 }, { ...b, score: 0 }));
  const isKeptAtZero =
    canReachZero(board) && comparePlaces(board, { ...best, score: 0 }, { ...atZero, score: 0 }) !== 0;
  const others = runs.filter(({ patch }) => patch !== run.patch);
  const all = [...others, best, ...(isKeptAtZero ? [atZero] : [])];
  const kept = withoutOldest(all, order);
  return { runs: kept, kept: kept.includes(run), dropped: all.length - kept.length };
}

/** The best raw run of a patch: what the patch's own list ranks. */
export const bestOfPatch = <Run extends PatchRun>(
  ordering: BoardOrdering,
  runs: readonly Run[],
  patch: number,
): Run | undefined => runs.filter((run) => run.patch === patch).sort((a, b) => comparePlaces(ordering, a, b))[0];

/**
 * A player's entry under a tax: of its runs the one that stands highest by taxed score, columns and time; of equal ones that
 * of the newer patch, and of one patch the better raw one, so that it is always the same.
 * @param runs at least one
 */
export function standingRun<Run extends PatchRun>(
  board: TaxedBoard,
  runs: readonly Run[],
  order: PatchOrder,
): TaxedRun<Run> {
  return firstOf(
    runs.map((run) => taxed(board, run, order)),
    (a, b) => compareTaxed(board, order, a, b),
  );
}

/** A run under a tax. */
export function taxed<Run extends PatchRun>(board: TaxedBoard, run: Run, order: PatchOrder): TaxedRun<Run> {
  const { score: rawScore, columns, achievedAtMs, patch } = run;
  const rate = taxRateOf(board.decay!.perPatch);
  const score = taxedScore(board.order, rate, rawScore, patchesBehind(order, patch));
  return { run, values: { score, columns, achievedAtMs, taxedFrom: { rawScore, patch } } };
}

/**
 * The runs that stand, or can stand again under a later tax, the standing one first. A run can not for which a newer patch
 * holds one that is as good: since both are taxed alike from then on.
 */
export function runsThatCanStand<Run extends PatchRun>(
  board: TaxedBoard,
  runs: readonly Run[],
  order: PatchOrder,
): TaxedRun<Run>[] {
  const all = runs.map((run) => taxed(board, run, order)).sort((a, b) => compareTaxed(board, order, a, b));
  const [standing, ...others] = all;
  if (standing === undefined) return [];
  return [standing, ...others.filter(({ run }) => !runs.some((other) => isAlwaysBefore(board, order, other, run)))];
}

/** What of a list decides where a player stands in it. */
interface TaxedList {
  scope: number;
  ordering: BoardOrdering;
  /** Absent: its scores are not taxed. */
  tax?: PatchOrder;
}

/**
 * What a list ranks of an entry: its values, or, of a board with decay, those of a run. In the list of a patch runs are
 * untaxed, and only the best of that patch counts; else they are under the list's tax. null: it ranks none.
 */
export function valuesIn(
  board: TaxedBoard,
  { scope, ordering, tax }: TaxedList,
  values: SortValues,
  runs: readonly PatchRun[] | null | undefined,
): SortValues | null {
  if (runs == null) return values;
  if (isPatchScope(scope)) return bestOfPatch(ordering, runs, patchOfScope(scope)) ?? null;
  return standingRun(board, runs, tax!).values;
}

/** Whether a run of a newer patch, or of the same, stands before another one whatever patches come. */
function isAlwaysBefore(board: TaxedBoard, order: PatchOrder, a: PatchRun, b: PatchRun): boolean {
  const [behindA, behindB] = [patchesBehind(order, a.patch), patchesBehind(order, b.patch)];
  if (a === b || behindA > behindB || scoreBefore(board, b, a)) return false;
  const isFirstAtEqual = comparePlaces(board, { ...a, score: 0 }, { ...b, score: 0 }) <= 0;
  // An older patch is taxed more for good, unless there is nothing to tax or nothing is left.
  const staysBefore = board.order === 'asc' ? b.score > 0 && behindA < behindB : !canReachZero(board);
  return isFirstAtEqual || staysBefore;
}

const scoreBefore = ({ order }: BoardOrdering, a: PatchRun, b: PatchRun): boolean =>
  order === 'asc' ? a.score < b.score : a.score > b.score;

function compareTaxed(board: TaxedBoard, order: PatchOrder, a: TaxedRun, b: TaxedRun): number {
  return (
    comparePlaces(board, a.values, b.values) ||
    patchesBehind(order, a.run.patch) - patchesBehind(order, b.run.patch) ||
    (board.order === 'asc' ? a.run.score - b.run.score : b.run.score - a.run.score)
  );
}

const canReachZero = (board: TaxedBoard): boolean =>
  patchesToZero(board.order, taxRateOf(board.decay!.perPatch)) < PATCHES_MAX;

function withoutOldest<Run extends PatchRun>(runs: Run[], order: PatchOrder): Run[] {
  const patches = [...new Set(runs.map(({ patch }) => patch))];
  if (patches.length <= PATCHES_OF_PLAYER_MAX) return runs;
  const newest = patches.sort((a, b) => patchesBehind(order, a) - patchesBehind(order, b));
  const kept = new Set(newest.slice(0, PATCHES_OF_PLAYER_MAX));
  return runs.filter(({ patch }) => kept.has(patch));
}

/** The first in an order; of equal ones the first that is given. */
const firstOf = <Item>(items: readonly Item[], compare: (a: Item, b: Item) => number): Item =>
  items.reduce((first, item) => (compare(item, first) < 0 ? item : first));
