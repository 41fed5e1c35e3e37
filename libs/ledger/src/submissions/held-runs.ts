import { isUnranked, reasonToHold, type EntryState, type StoredWindow } from '@laddercast/domain';
import type { EntryRow } from '../entries/entry-rows.js';
import type { SubmissionAnswer, SubmitWrite } from '../entries/ledger-writes.js';
import type { NewRun } from '../runs/run-rows.js';
import { scopesKeyOf, type StoredBatch } from './stored-batch.js';
import { taxOfHeld } from './taxed-runs.js';
import type { PlacedWrite } from './window-placement.js';

/** Who holds a run, and why. */
export interface Hold {
  /** The name of the check; `held`: the board. */
  rule: string;
  why: string;
}

/** A run that waits for a moderator. */
export type HeldRun = NewRun & Hold;

/** Why a submission is held; null: it counts. */
export function holdOf({ board, score, verified = false, hold }: SubmitWrite): Hold | null {
  if (board.runsFrom === undefined) return null;
  if (hold !== undefined) return { rule: hold.check, why: hold.reason };
  const why = reasonToHold(board.definition, score, verified);
  return why === null ? null : { rule: 'held', why };
}

/** What is answered of a run that waits. @param before the player's entry in the first of its windows */
export const answerOfHeld = (
  placed: PlacedWrite<SubmitWrite>,
  windows: readonly StoredWindow[],
  { score, position }: NewRun,
  before: EntryState | null,
): SubmissionAnswer => ({
  outcome: 'held',
  score: score!,
  previousScore: before?.score ?? null,
  version: position,
  windows: windows.map((window) => window.id),
  ...(placed.write.patch !== undefined && taxOfHeld(placed, windows[0]!)),
});

/**
 * The place of a player without entry in a window that a held run would count in: a removed entry, of which nobody is told. It
 * goes with the player from scope to scope, so that the run counts in those of the window's end, whenever it is accepted.
 */
export function placeOfHeld(
  run: NewRun,
  boardId: string,
  windowUid: number,
  { scopes, sanctions }: Pick<StoredBatch, 'scopes' | 'sanctions'>,
): EntryRow {
  const { boardUid, playerId, position, columns, achievedAtMs, metadata, patch } = run;
  return {
    ...{ boardUid, windowUid, playerId, removed: true, leftScopes: [] },
    state: {
      ...{ score: run.score!, columns, achievedAtMs, metadata, version: position },
      ...(patch !== null && { patchRuns: [] }),
    },
    unranked: isUnranked(sanctions.get(playerId), boardId),
    scopes: scopes.get(scopesKeyOf(boardUid, playerId)) ?? [],
  };
}
