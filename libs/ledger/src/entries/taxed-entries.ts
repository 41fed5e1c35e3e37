import {
  isPatchScope,
  patchScopeOf,
  standingRun,
  taxOrderOf,
  type Board,
  type EntryState,
  type KeptPatchRun,
  type PatchOrder,
} from '@laddercast/domain';

/** What of a board with decay decides what its entries come to now. */
export type TaxingBoard = Pick<Board, 'definition' | 'patches' | 'layouts'>;

/** Of a window what decides its tax: when it ends, Unix ms. */
export interface TaxedWindow {
  endsAtMs: number | null;
}

/** The order of patches by which the lists of a window are taxed that serve now. */
export const servedOrder = (board: Pick<Board, 'patches' | 'layouts'>, window: TaxedWindow): PatchOrder =>
  taxOrderOf(board, board.layouts.serving, window);

/** An entry under the tax that serves; null: there is none. */
export function taxedEntry(board: TaxingBoard, window: TaxedWindow, stored: EntryState | null): EntryState | null {
  const runs = stored?.patchRuns ?? [];
  return runs.length === 0 ? null : entryOfRuns(board, runs, servedOrder(board, window), stored!.version);
}

/** What runs come to under a tax. @param runs at least one */
export function entryOfRuns(
  { definition }: Pick<Board, 'definition'>,
  runs: readonly KeptPatchRun[],
  order: PatchOrder,
  version: number,
): EntryState {
  const { run, values } = standingRun(definition, runs, order);
  return { ...values, metadata: run.metadata, version, patchRuns: runs };
}

/** The lists that rank an entry: those of its player's circles, and of each patch that it has a run of. */
export const withPatchScopes = (scopes: readonly number[], entry: EntryState | null): number[] => {
  const patches = new Set((entry?.patchRuns ?? []).map(({ patch }) => patchScopeOf(patch)));
  return [...scopes.filter((scope) => !isPatchScope(scope)), ...patches];
};
