import type { BoardDefinition } from '../boards/board.js';
import { compareSortKeys, encodeSortKey, type SortKey } from '../boards/sort-key.js';
import type { EntryState } from './entry.js';
import type { KeptRun } from './run-fold.js';

/** A run that stands as an entry of its own. */
export interface StandingRun {
  /** The id of its submission. */
  entryId: string;
  state: EntryState;
}

/** Whether each run is an entry of its own. */
export const isPerRun = ({ entriesPer }: Pick<BoardDefinition, 'entriesPer'>): boolean => entriesPer === 'run';

/**
 * A player's entries with one more run: of all the best `entriesPerPlayerMax`, in the board's order and last by the bytes of
 * their ids. So the same runs leave the same entries, in whatever order they come.
 * @param standing the entries so far, the best first
 * @returns the entries, the best first; whether the run is among them, and which one it pushed out
 */
export function standRun(
  definition: BoardDefinition,
  standing: readonly StandingRun[],
  run: StandingRun,
): { standing: StandingRun[]; stands: boolean; displaced: StandingRun | null } {
  // An id names one entry: that an operator's act had it before is no reason to have two.
  if (standing.some(({ entryId }) => entryId === run.entryId))
    return { standing: [...standing], stands: false, displaced: null };
  const at = standing.findIndex((one) => standsBefore(definition, run, one));
  const place = at < 0 ? standing.length : at;
  const all = [...standing.slice(0, place), run, ...standing.slice(place)];
  const most = definition.entriesPerPlayerMax!;
  const stands = place < most;
  return { standing: all.slice(0, most), stands, displaced: (stands && all[most]) || null };
}

/** One step of folding runs in the order of acceptance: what `foldRun` is to boards with one entry for each player. */
export function foldRunEntries(
  definition: BoardDefinition,
  standing: readonly StandingRun[],
  { kind, state, entry }: KeptRun,
  entryId: string,
): readonly StandingRun[] {
  if (state !== 'counted') return standing;
  const before = kind === 'run' ? standing : [];
  return entry === null ? before : standRun(definition, before, { entryId, state: entry }).standing;
}

/** Entries of a player in one window, the best first. */
export const sortedStanding = (definition: BoardDefinition, runs: readonly StandingRun[]): StandingRun[] =>
  [...runs].sort((a, b) => compareSortKeys(keyOf(definition, a), keyOf(definition, b)));

const standsBefore = (definition: BoardDefinition, a: StandingRun, b: StandingRun): boolean =>
  compareSortKeys(keyOf(definition, a), keyOf(definition, b)) < 0;

/** The player's id is in all of them, and so decides nothing. */
const keyOf = (definition: BoardDefinition, { state, entryId }: StandingRun): SortKey =>
  encodeSortKey(definition, state, entryId);
