import {
  comparePlaces,
  newestOrder,
  patchesBehind,
  patchIdOf,
  taxed,
  withoutNegativeZero,
  withRun,
  type Board,
  type EntryOutcome,
  type EntryState,
  type KeptPatchRun,
  type StoredWindow,
  type TaxedFrom,
} from '@laddercast/domain';
import type { SubmissionAnswer, SubmitWrite } from '../entries/ledger-writes.js';
import { entryOfRuns, servedOrder, taxedEntry } from '../entries/taxed-entries.js';
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

/** Adds a run to those of its player. @param before the entry as it is stored; null: none */
export function submitTaxed(
  placed: PlacedWrite<SubmitWrite>,
  window: StoredWindow,
  stored: EntryState | null,
  position: number,
): TaxedSubmission {
  const { board } = placed.write;
  const run = runOfPatch(placed);
  if (board.runsFrom !== undefined) run.position = position;
  const before = taxedEntry(board, window, stored);
  const { runs, kept, dropped } = withRun(board.definition, before?.patchRuns ?? [], run, newestOrder(board.patches!));
  const entry = kept ? entryOfRuns(board, runs, servedOrder(board, window), position) : before!;
  return { window, outcome: outcomeOf(board, before, entry), kept, dropped, before, entry };
}

const runOfPatch = ({ write, atMs }: PlacedWrite<SubmitWrite>): KeptPatchRun => ({
  patch: write.patch!.countsAs,
  score: withoutNegativeZero(write.score),
  columns: write.columns.map(withoutNegativeZero),
  achievedAtMs: atMs,
  metadata: write.metadata,
});

type TaxedAnswer = NonNullable<SubmissionAnswer['taxed']>;

/** What an answer says of a taxed entry beside its score. */
export function taxedAnswer(board: Board, { window, entry, kept }: TaxedSubmission): TaxedAnswer {
  return { ...shownTax(board, window, entry.taxedFrom!), kept };
}

/** The score of a run that waits for a moderator under the tax that serves, and what it is made of; it is not kept. */
export function taxOfHeld(
  placed: PlacedWrite<SubmitWrite>,
  window: StoredWindow,
): { score: number; taxed: TaxedAnswer } {
  const { board } = placed.write;
  const { values } = taxed(board.definition, runOfPatch(placed), servedOrder(board, window));
  return { score: values.score, taxed: { ...shownTax(board, window, values.taxedFrom), kept: false } };
}

function shownTax(board: Board, window: StoredWindow, { rawScore, patch }: TaxedFrom): Omit<TaxedAnswer, 'kept'> {
  const behind = patchesBehind(servedOrder(board, window), patch);
  return { rawScore, patch: patchIdOf(board.patches!, patch)!, patchesBehind: behind };
}

function outcomeOf(board: Board, before: EntryState | null, after: EntryState): EntryOutcome {
  if (before === null) return 'created';
  const place = comparePlaces(board.definition, after, before);
  if (place !== 0) return place < 0 ? 'improved' : 'changed';
  return isSameRun(before.taxedFrom!, after.taxedFrom!) ? 'unchanged' : 'changed';
}

const isSameRun = (a: TaxedFrom, b: TaxedFrom): boolean => a.rawScore === b.rawScore && a.patch === b.patch;
