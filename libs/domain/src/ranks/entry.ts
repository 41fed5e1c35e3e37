import type { BoardDefinition, SubmissionOperator } from '../boards/board.js';
import { LadderError } from '../errors.js';
import { comparePlaces, withoutNegativeZero, type TaxedFrom } from '../boards/sort-key.js';
import type { PatchRun } from '../events.js';

/** One run as it was submitted, with its time settled. `metadata` is JSON text. */
export interface Run {
  submissionId: string;
  playerId: string;
  score: number;
  columns: number[];
  achievedAtMs: number;
  metadata: string | null;
  /** On sum boards; absent: sum. */
  operator?: SubmissionOperator;
}

/** What an entry shows: score, columns, metadata and time of one run (`best`, `latest`), or the running total (`sum`). */
export interface PlainEntryState {
  score: number;
  columns: number[];
  achievedAtMs: number;
  metadata: string | null;
  /** The log position of the event that last changed the entry; it never restarts, removals included. */
  version: number;
}

/** An entry, and what it rests on where its board taxes runs. */
export interface EntryState extends PlainEntryState {
  /** On boards with decay: what the score is made of. */
  taxedFrom?: TaxedFrom;
  /** On boards with decay: the runs that are kept, of which the standing one is shown. */
  patchRuns?: readonly KeptPatchRun[];
}

/** A run of a patch as the ledger keeps it. `metadata` is JSON text. */
export interface KeptPatchRun extends PatchRun {
  metadata: string | null;
  /** On boards that keep runs: the log position of the run; absent: it is not kept by itself. */
  position?: number;
}

export type EntryOutcome = 'created' | 'improved' | 'changed' | 'unchanged';
/** What becomes of a submission: `held` runs wait for a moderator, and change no entry. */
export type SubmissionOutcome = EntryOutcome | 'held';

/**
 * What a run does to a player's entry in one window. Pure: the same run on the same entry always gives the same.
 * @param current the entry before, null when there is none (or it was removed)
 * @param version the log position that a change would carry
 * @throws SCORE_OUT_OF_BOUNDS when a `sum` leaves the board's limits or the finite doubles
 */
export function applyRun(
  definition: BoardDefinition,
  current: EntryState | null,
  run: Run,
  version: number,
): { outcome: EntryOutcome; entry: EntryState } {
  const entryOfRun: EntryState = {
    score: withoutNegativeZero(run.score),
    columns: run.columns.map(withoutNegativeZero),
    achievedAtMs: run.achievedAtMs,
    metadata: run.metadata,
    version,
  };
  if (run.operator === 'set') return { outcome: current === null ? 'created' : 'changed', entry: entryOfRun };
  if (definition.operator === 'sum') {
    const added = addToTotal(current, entryOfRun);
    if (added.outcome !== 'unchanged') assertScoreInBounds(definition, added.entry.score, 'the total');
    return added;
  }
  if (current === null) return { outcome: 'created', entry: entryOfRun };
  if (definition.operator === 'latest') {
    return run.achievedAtMs >= current.achievedAtMs
      ? { outcome: 'changed', entry: entryOfRun }
      : { outcome: 'unchanged', entry: current };
  }
  // Equal in the board's order: the first to arrive stays.
  return standsBefore(definition, entryOfRun, current)
    ? { outcome: 'improved', entry: entryOfRun }
    : { outcome: 'unchanged', entry: current };
}

function standsBefore(definition: BoardDefinition, a: EntryState, b: EntryState): boolean {
  return comparePlaces(definition, a, b) < 0;
}

/** A running total with one more increment; it may leave the finite doubles. */
export function addToTotal(
  current: EntryState | null,
  increment: EntryState,
): { outcome: EntryOutcome; entry: EntryState } {
  if (current === null) return { outcome: 'created', entry: increment };
  if (increment.score === 0) return { outcome: 'unchanged', entry: current };
  return {
    outcome: 'changed',
    entry: {
      ...increment,
      score: withoutNegativeZero(current.score + increment.score),
      achievedAtMs: Math.max(current.achievedAtMs, increment.achievedAtMs),
      metadata: increment.metadata ?? current.metadata,
    },
  };
}

/**
 * @param columns their values, in the board's order
 * @throws COLUMN_OUT_OF_BOUNDS
 */
export function assertColumnsInBounds({ columns: sorted, limits }: BoardDefinition, columns: readonly number[]): void {
  for (const [index, { name }] of sorted.entries()) {
    if (!Object.hasOwn(limits.columns, name)) continue;
    const { min, max } = limits.columns[name]!;
    const value = columns[index]!;
    if ((min === null || value >= min) && (max === null || value <= max)) continue;
    const detail = `The column ${name} is ${value}, outside this board's limits (${min ?? 'any'} … ${max ?? 'any'}).`;
    throw new LadderError('COLUMN_OUT_OF_BOUNDS', detail, { column: name, min, max });
  }
}

/**
 * @throws SCORE_OUT_OF_BOUNDS when a score (or a `sum` board's total) is outside the board's limits or not finite
 */
export function assertScoreInBounds(definition: BoardDefinition, score: number, what: string): void {
  const { scoreMin, scoreMax } = definition.limits;
  if (!Number.isFinite(score)) {
    throw new LadderError('SCORE_OUT_OF_BOUNDS', `With this increment ${what} would leave the finite doubles.`);
  }
  if ((scoreMin !== null && score < scoreMin) || (scoreMax !== null && score > scoreMax)) {
    const range = `${scoreMin ?? 'any'} … ${scoreMax ?? 'any'}`;
    throw new LadderError('SCORE_OUT_OF_BOUNDS', `${what} ${score} is outside this board's limits (${range}).`, {
      scoreMin,
      scoreMax,
    });
  }
}
