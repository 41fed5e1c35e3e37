import { withoutNegativeZero, type EntryState, type StoredWindow } from '@laddercast/domain';
import type { OverrideWrite, SubmitWrite } from '../entries/ledger-writes.js';
import type { PlacedWrite } from './window-placement.js';
import type { NewRun } from '../runs/run-rows.js';

/** A submission as the run that is kept of it. */
export function runOfSubmission(
  { write, atMs }: PlacedWrite<SubmitWrite>,
  windows: readonly StoredWindow[],
  position: number,
  held: boolean,
): NewRun {
  return {
    boardUid: write.board.uid,
    playerId: write.playerId,
    position,
    submissionId: write.submissionId,
    owner: ownerOf(write),
    kind: write.operator === 'set' ? 'set' : 'run',
    held,
    verified: write.verified ?? false,
    score: withoutNegativeZero(write.score),
    columns: write.columns.map(withoutNegativeZero),
    patch: write.patch === undefined ? null : write.patch.countsAs,
    achievedAtMs: atMs,
    windowUids: windows.map(({ uid }) => uid),
    metadata: write.metadata,
    proof: write.proof ?? null,
    sourceId: write.sourceId ?? null,
    reason: null,
    examined: write.board.definition.integrity !== null,
  };
}

/** What an operator did to an entry, as the run that is kept of it. */
export function runOfOverride(
  { write, atMs }: PlacedWrite<OverrideWrite>,
  windows: readonly StoredWindow[],
  position: number,
): NewRun {
  const { board, playerId, entry, run } = write;
  return {
    boardUid: board.uid,
    playerId,
    position,
    submissionId: run?.submissionId ?? '',
    owner: ownerOf(write),
    kind: entry === null ? 'removal' : 'override',
    held: false,
    verified: false,
    score: entry && withoutNegativeZero(entry.score),
    columns: entry === null ? [] : entry.columns.map(withoutNegativeZero),
    patch: null,
    achievedAtMs: atMs,
    windowUids: windows.map(({ uid }) => uid),
    metadata: null,
    proof: null,
    sourceId: null,
    reason: run?.reason ?? null,
    examined: false,
  };
}

/** What an operator has an entry be, be it worse than the one before. */
export const overriddenEntry = (
  entry: { score: number; columns: number[] },
  atMs: number,
  position: number,
): EntryState => ({
  score: withoutNegativeZero(entry.score),
  columns: entry.columns.map(withoutNegativeZero),
  achievedAtMs: atMs,
  metadata: null,
  version: position,
});

/** Submission ids are per board; where players submit for themselves, per player too. */
export const ownerOf = (write: SubmitWrite | OverrideWrite): string =>
  write.board.definition.submitters === 'players' ? write.playerId : '';
