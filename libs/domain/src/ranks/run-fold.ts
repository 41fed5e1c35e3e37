import type { BoardDefinition } from '../boards/board.js';
import type { PatchOrder } from '../boards/patch-order.js';
import { addToTotal, applyRun, type EntryState } from './entry.js';
import { withRun } from './patch-runs.js';

/** Whether a run counts, waits for a moderator, or was taken out by one. */
export const RUN_STATES = ['counted', 'held', 'voided'] as const;
export type RunState = (typeof RUN_STATES)[number];

/**
 * What a kept run is: a submission (`set`: of a `sum` board, in place of the total), an operator's entry (`override`) or
 * removal, or what a limit removed (`trim`). All but `run` are walls: what was accepted before them no longer matters.
 */
export type RunKind = 'run' | 'set' | 'override' | 'removal' | 'trim';

/** One run of a player on a board, as it was accepted. Source: contracts/integrity.md, section 0. */
export interface KeptRun {
  kind: RunKind;
  state: RunState;
  /**
   * The entry that it makes alone, under the log position of the run as `version`; null: of a removal or trim. On boards with
   * decay it has itself as the one run of its patch.
   */
  entry: EntryState | null;
}

/**
 * A player's entry in one window, out of the runs that count. Nothing is ever subtracted: taking a run out is folding
 * without it. The board's limits are not looked at; a total beyond the doubles is the greatest (or least) of them.
 * Folding a prefix into a base gives the same as folding all.
 * @param base what is no longer kept as runs; null: nothing
 * @param runs in the order of acceptance
 * @param newest on boards with decay: the newest order of their patches, which says whose runs leave where there are too many
 * @returns null: no entry. Of `best` and `latest` its `version` names the run that it rests on. On boards with decay what
 * counts of it are its `patchRuns`: which of them stands is for the tax to say
 */
export function foldRuns(
  definition: BoardDefinition,
  base: EntryState | null,
  runs: Iterable<KeptRun>,
  newest?: PatchOrder,
): EntryState | null {
  let entry = base;
  for (const run of runs) entry = foldRun(definition, entry, run, newest);
  return entry;
}

/** One step of {@link foldRuns}: the entry with the next run. */
export function foldRun(
  definition: BoardDefinition,
  before: EntryState | null,
  { kind, state, entry }: KeptRun,
  newest?: PatchOrder,
): EntryState | null {
  if (state !== 'counted') return before;
  if (kind !== 'run' || entry === null) return entry;
  if (entry.patchRuns) {
    const { runs, kept } = withRun(definition, before?.patchRuns ?? [], entry.patchRuns[0]!, newest!);
    return kept ? { ...entry, patchRuns: runs } : before;
  }
  if (definition.operator === 'sum') return withinDoubles(addToTotal(before, entry).entry);
  return applyRun(definition, before, { ...entry, submissionId: '', playerId: '' }, entry.version).entry;
}

const withinDoubles = (entry: EntryState): EntryState => ({
  ...entry,
  score: Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, entry.score)),
});

/** Why a run is held by its board; null: it is not. A verified run counts at once. Source: contracts/integrity.md, section 2. */
export function reasonToHold(definition: BoardDefinition, score: number, verified: boolean): string | null {
  if (verified) return null;
  const { counts, order, integrity } = definition;
  if (counts === 'verified') return 'A run counts on this board once it is verified.';
  const bound = integrity?.holdAbove ?? null;
  const isBeyond = bound !== null && (order === 'desc' ? score > bound : score < bound);
  return isBeyond ? `The score ${score} is better than ${bound} (integrity.holdAbove).` : null;
}
