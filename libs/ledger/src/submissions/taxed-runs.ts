import {
  comparePlaces,
  isPatchScope,
  newestOrder,
  patchesBehind,
  patchIdOf,
  patchScopeOf,
  standingRun,
  taxOrderOf,
  withoutNegativeZero,
  withRun,
  type Board,
  type EntryOutcome,
  type EntryState,
  type KeptPatchRun,
  type PatchOrder,
  type StoredWindow,
  type TaxedFrom,
} from '@laddercast/domain';
import type { SubmissionAnswer, SubmitWrite } from '../entries/ledger-writes.js';
import type { PlacedWrite } from './window-placement.js';

/** What a run did to the runs of its player in a window of a board with decay. */
export interface TaxedSubmission {
  window: StoredWindow;
  outcome: EntryOutcome;
  /** Whether the run is kept, be it that another one stands. */
  kept: boolean;
  /** How many runs left, of patches that are too many. */
  dropped: number;
  /** Both under the tax by which the board serves. */
  before: EntryState | null;
  entry: EntryState;
}

/** The order of patches by which the lists of a window are taxed that serve now. */
const servedOrder = (board: Board, window: StoredWindow): PatchOrder =>
  taxOrderOf(board, board.layouts.serving, window);

/** An entry under the tax that serves; null: there is none. */
export function taxedEntry(board: Board, window: StoredWindow, stored: EntryState | null): EntryState | null {
  const runs = stored?.patchRuns ?? [];
  return runs.length === 0 ? null : entryOf(board, runs, servedOrder(board, window), stored!.version);
}

/** Adds a run to those of its player. @param before the entry as it is stored; null: none */
export function submitTaxed(
  { write, atMs }: PlacedWrite<SubmitWrite>,
  window: StoredWindow,
  stored: EntryState | null,
  position: number,
): TaxedSubmission {
  const { board } = write;
  const run: KeptPatchRun = {
    patch: write.patch!.countsAs,
    score: withoutNegativeZero(write.score),
    columns: write.columns.map(withoutNegativeZero),
    achievedAtMs: atMs,
    metadata: write.metadata,
  };
  const before = taxedEntry(board, window, stored);
  const { runs, kept, dropped } = withRun(board.definition, before?.patchRuns ?? [], run, newestOrder(board.patches!));
  const entry = kept ? entryOf(board, runs, servedOrder(board, window), position) : before!;
  return { window, outcome: outcomeOf(board, before, entry), kept, dropped, before, entry };
}

/** What an answer says of a taxed entry beside its score. */
export function taxedAnswer(
  board: Board,
  { window, entry, kept }: TaxedSubmission,
): NonNullable<SubmissionAnswer['taxed']> {
  const { rawScore, patch } = entry.taxedFrom!;
  const behind = patchesBehind(servedOrder(board, window), patch);
  return { rawScore, patch: patchIdOf(board.patches!, patch)!, patchesBehind: behind, kept };
}

/** The lists that rank an entry: those of its player's circles, and of each patch that it has a run of. */
export const withPatchScopes = (scopes: readonly number[], entry: EntryState | null): number[] => {
  const patches = new Set((entry?.patchRuns ?? []).map(({ patch }) => patchScopeOf(patch)));
  return [...scopes.filter((scope) => !isPatchScope(scope)), ...patches];
};

function entryOf(board: Board, runs: readonly KeptPatchRun[], order: PatchOrder, version: number): EntryState {
  const { run, values } = standingRun(board.definition, runs, order);
  return { ...values, metadata: run.metadata, version, patchRuns: runs };
}

function outcomeOf(board: Board, before: EntryState | null, after: EntryState): EntryOutcome {
  if (before === null) return 'created';
  const place = comparePlaces(board.definition, after, before);
  if (place !== 0) return place < 0 ? 'improved' : 'changed';
  return isSameRun(before.taxedFrom!, after.taxedFrom!) ? 'unchanged' : 'changed';
}

const isSameRun = (a: TaxedFrom, b: TaxedFrom): boolean => a.rawScore === b.rawScore && a.patch === b.patch;
