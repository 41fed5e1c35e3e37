import { patchOrderAt, standsEqual, type EntryState, type KeptPatchRun } from '@laddercast/domain';
import { isDeepStrictEqual } from 'node:util';
import { entryOfRuns, servedOrder, taxedEntry, type TaxedWindow } from '../entries/taxed-entries.js';
import type { BoardOfRuns } from './board-of-runs.js';

/** A stored or folded entry, on a board with decay as it is under the tax that serves. */
export function shownEntry(board: BoardOfRuns, window: TaxedWindow, entry: EntryState | null): EntryState | null {
  const { definition, patches, layouts } = board;
  return patches && layouts ? taxedEntry({ definition, patches, layouts }, window, entry) : entry;
}

/**
 * Whether standings of a window may show another run: under the tax that serves now, or under that of the window's end. Runs
 * that cannot be seen in standings may differ.
 */
export function standsElse(
  board: BoardOfRuns,
  window: TaxedWindow,
  before: EntryState | null,
  after: EntryState | null,
): boolean {
  const { patches, layouts } = board;
  if (before === null || after === null || !patches || !layouts) return true;
  const orders = [servedOrder({ patches, layouts }, window), patchOrderAt(patches, window.endsAtMs ?? Infinity)];
  return orders.some((order) => {
    const [stood, stands] = [before, after].map((entry) => entryOfRuns(board, entry.patchRuns!, order, 0));
    return !isSameRun(stood!, stands!);
  });
}

const isSameRun = (a: EntryState, b: EntryState): boolean =>
  standsEqual(a, b) && a.metadata === b.metadata && isDeepStrictEqual(a.taxedFrom, b.taxedFrom);

/** Whether entries have the same runs of patches, in whatever order; which ones they are in the log apart. */
export function haveSameRuns(a: EntryState | null, b: EntryState | null): boolean {
  const [own, others] = [a?.patchRuns ?? [], b?.patchRuns ?? []];
  return own.length === others.length && own.every((run) => others.some((other) => isEqual(run, other)));
}

const isEqual = (a: KeptPatchRun, b: KeptPatchRun): boolean =>
  a.patch === b.patch &&
  a.score === b.score &&
  a.achievedAtMs === b.achievedAtMs &&
  a.metadata === b.metadata &&
  a.columns.every((column, at) => column === b.columns[at]);

/** Whether each run of an entry that is kept by itself is among those that it is stored with. */
export const hasPositionsOf = (stored: readonly KeptPatchRun[], after: EntryState): boolean =>
  (after.patchRuns ?? []).every(
    ({ position }) => position === undefined || stored.some((run) => run.position === position),
  );
