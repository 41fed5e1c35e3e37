import {
  entryOfKey,
  firstRollingHour,
  isPerRun,
  keyOfEntry,
  rollingHours,
  standsEqual,
  type EntryState,
  type KeptPatchRun,
  type StandingRun,
  type WindowKind,
  type WindowState,
} from '@laddercast/domain';
import type { SqlRunner } from '../database/postgres-database.js';
import { leftScopesOf, type EntryRow } from '../entries/entry-rows.js';
import { standingRows } from '../entries/run-entries.js';
import { withPatchScopes } from '../entries/taxed-entries.js';
import type { BoardOfRuns } from './board-of-runs.js';
import { ENTRIES_OF_KEYS, REFOLDED_WINDOWS } from './entry-refold-sql.js';
import { foldedRunEntries } from './run-entry-folds.js';
import { foldedEntries } from './run-folds.js';
import { hasPositionsOf, haveSameRuns, shownEntry } from './taxed-refold.js';

/** A window of a refold with one entry as it is stored: that of the player, or of a run of it. */
export interface WindowRow extends StoredRow {
  /** Where each run is an entry, the scopes that the player had while a run of it was held; absent: it had none. */
  heldScopes?: number[] | null;
}

interface StoredRow {
  windowUid: number;
  windowId: string;
  kind: WindowKind;
  state: WindowState;
  endsAtMs: number | null;
  freezeAtMs: number | null;
  version: number | null;
  removed: boolean | null;
  score: number | null;
  columns: number[] | null;
  achievedAtMs: number | null;
  metadata: string | null;
  scopes: number[] | null;
  leftScopes: number[] | null;
  /** By the sanction in force, also where there is no entry yet. */
  unranked: boolean;
  runPosition: number | null;
  /** On boards with decay, where the other values are those under the tax that serves. */
  patchRuns: readonly KeptPatchRun[] | null;
}

/** An entry in a window as it is stored, and as it is to be. */
export interface RefoldedRow {
  row: WindowRow;
  /** The player's id, or the key of a run's entry. */
  key: string;
  after: EntryState | null;
}

/** One that changes, with the row that is to be stored. */
export interface ChangedRow extends RefoldedRow {
  entry: EntryRow;
}

/** What is read for a refold. */
export interface RowsAsked {
  board: BoardOfRuns;
  playerId: string;
  windowUids: readonly number[];
  /** The ledger's time, Unix ms. */
  nowMs: number;
}

/**
 * The player's entries in these windows, stored and folded. Where each run is an entry those that stand, and those that are to;
 * a window without any is there with an empty one of the player.
 */
export async function refoldedRows(transaction: SqlRunner, asked: RowsAsked): Promise<RefoldedRow[]> {
  const { board, playerId, windowUids, nowMs } = asked;
  const rows: WindowRow[] = await transaction.query<StoredRow>(REFOLDED_WINDOWS, [windowUids, playerId]);
  const windows = rows.map((row) => ({ uid: row.windowUid, firstHour: firstHourOf(row, nowMs) }));
  if (!isPerRun(board.definition)) {
    const folded = await foldedEntries(transaction, { board, playerId, windows });
    return rows.map((row) => ({
      row: { ...row, ...shownEntry(board, row, stateOf(row)) },
      key: playerId,
      after: shownEntry(board, row, folded.get(row.windowUid)!),
    }));
  }
  const folded = await foldedRunEntries(transaction, { board, playerId, windows });
  const places = windowUids.map((windowUid) => ({ boardUid: board.uid, windowUid, playerId }));
  const standing = await standingRows(transaction, places);
  const keysOf = ({ windowUid }: WindowRow): string[] => [
    ...new Set([
      ...(standing.get(`${windowUid}/${playerId}`) ?? []).map((row) => row.playerId),
      ...keysOfRuns(playerId, folded.get(windowUid) ?? []),
    ]),
  ];
  const withScopes = rows.map((row) => ({ ...row, heldScopes: row.scopes }));
  const entries = await rowsOfKeys(transaction, withScopes, keysOf);
  const refolded = entries.map(({ row, key }) => {
    const run = (folded.get(row.windowUid) ?? []).find(({ entryId }) => entryId === entryOfKey(key).entryId);
    return { row, key, after: run?.state ?? null };
  });
  const empty = rows.filter((row) => !refolded.some((one) => one.row.windowUid === row.windowUid));
  return [...refolded, ...empty.map((row) => ({ row, key: playerId, after: null }))];
}

export const keysOfRuns = (playerId: string, runs: readonly StandingRun[]): string[] =>
  runs.map(({ entryId }) => keyOfEntry({ playerId, entryId }));

type StoredColumns = Pick<
  WindowRow,
  | 'version'
  | 'removed'
  | 'score'
  | 'columns'
  | 'achievedAtMs'
  | 'metadata'
  | 'scopes'
  | 'leftScopes'
  | 'runPosition'
  | 'patchRuns'
>;

const NO_ENTRY: StoredColumns = {
  ...{ version: null, removed: null, score: null, columns: null, achievedAtMs: null, metadata: null },
  ...{ scopes: null, leftScopes: null, runPosition: null, patchRuns: null },
};

/** The rows of windows with the entries of some keys in each, stored or not. */
export async function rowsOfKeys(
  transaction: SqlRunner,
  windows: readonly WindowRow[],
  keysOf: (row: WindowRow) => readonly string[],
): Promise<{ row: WindowRow; key: string }[]> {
  const places = windows.flatMap((row) => keysOf(row).map((key) => ({ row, key })));
  const stored = new Map<number, StoredColumns>();
  const parameters = [places.map(({ row }) => row.windowUid), places.map(({ key }) => key)];
  for (const { n, ...columns } of await transaction.query<StoredColumns & { n: number }>(ENTRIES_OF_KEYS, parameters)) {
    stored.set(n - 1, columns);
  }
  return places.map(({ row, key }, at) => ({ row: { ...row, ...(stored.get(at) ?? NO_ENTRY) }, key }));
}

/** An ended window keeps the scopes that the entry had, also once it is back; a tombstone goes to those of the entry. */
export function entryOf(
  board: BoardOfRuns,
  key: string,
  row: WindowRow,
  { after, current, nowMs }: { after: EntryState | null; current: number[]; nowMs: number },
): EntryRow {
  const known = knownOf(board, key, row);
  const hasEnded = row.endsAtMs !== null && nowMs >= row.endsAtMs;
  const last = known?.scopes ?? row.heldScopes ?? null;
  const circles = last !== null && (after === null || hasEnded) ? last : current;
  const isTaxed = board.definition.decay !== null;
  const scopes = isTaxed && after !== null ? withPatchScopes(circles, after) : circles;
  const { everLeft } = leftScopesOf(known, scopes);
  const restsOn = restsOnOf(board, after);
  return {
    boardUid: board.uid,
    windowUid: row.windowUid,
    playerId: key,
    state: after ?? { ...known!.state, ...(isTaxed && { patchRuns: [] }) },
    removed: after === null,
    unranked: row.unranked,
    scopes,
    leftScopes: everLeft,
    ...(restsOn > 0 && { runPosition: restsOn }),
  };
}

export function knownOf({ uid }: BoardOfRuns, key: string, row: WindowRow): EntryRow | null {
  if (row.version === null) return null;
  return {
    boardUid: uid,
    windowUid: row.windowUid,
    playerId: key,
    state: anyStateOf(row),
    removed: row.removed!,
    unranked: row.unranked,
    scopes: row.scopes!,
    leftScopes: row.leftScopes!,
  };
}

/** The position of the run that a folded entry rests on; 0: on none that is kept, or on which one is for the tax to say. */
export const restsOnOf = ({ definition }: BoardOfRuns, folded: EntryState | null): number =>
  definition.operator === 'sum' || definition.decay !== null ? 0 : (folded?.version ?? 0);

/** Whether the entry rests on the run that it is stored with: of two equal runs one may have been taken out. */
export function restsOnSame(
  board: BoardOfRuns,
  { runPosition, patchRuns }: WindowRow,
  after: EntryState | null,
): boolean {
  if (after?.patchRuns) return hasPositionsOf(patchRuns ?? [], after);
  const stored = runPosition !== null && runPosition >= board.runsFrom ? runPosition : 0;
  return after === null || stored === restsOnOf(board, after);
}

const anyStateOf = (row: WindowRow): EntryState => ({
  score: row.score!,
  columns: row.columns!,
  achievedAtMs: row.achievedAtMs!,
  metadata: row.metadata,
  version: row.version!,
  ...(row.patchRuns && { patchRuns: row.patchRuns }),
});

export const stateOf = (row: WindowRow): EntryState | null =>
  row.version === null || row.removed ? null : anyStateOf(row);

export const isFrozen = ({ freezeAtMs, endsAtMs }: WindowRow, nowMs: number): boolean =>
  freezeAtMs !== null && nowMs >= freezeAtMs && nowMs < endsAtMs!;

export const firstHourOf = ({ kind, windowId }: WindowRow, nowMs: number): number | null =>
  kind === 'rolling' ? firstRollingHour(rollingHours(windowId), nowMs) : null;

/** Whether they show the same; versions apart. */
export const isSame = (a: EntryState | null, b: EntryState | null): boolean =>
  standsEqual(a, b) && a?.metadata === b?.metadata && haveSameRuns(a, b);
