import { isPerRun, keyOfEntry, type EntryState } from '@laddercast/domain';
import type { SqlRunner } from '../database/postgres-database.js';
import type { EntryRow } from '../entries/entry-rows.js';
import { frozenParameters } from '../entries/lane-parameters.js';
import { SAVE_FROZEN_ENTRIES } from '../entries/lane-sql.js';
import { FROZEN_RUNS, REWRITE_FROZEN } from './entry-refold-sql.js';
import {
  isFrozen,
  knownOf,
  restsOnOf,
  rowsOfKeys,
  stateOf,
  type ChangedRow,
  type RefoldedRow,
  type RowsAsked,
  type WindowRow,
} from './refolded-rows.js';
import { foldedRunEntries } from './run-entry-folds.js';
import { foldedEntries } from './run-folds.js';
import type { EntryPlace } from './run-rows.js';
import { shownEntry } from './taxed-refold.js';

/** An act on runs, as frozen standings follow it. */
export interface RefreezeAsked extends RowsAsked {
  /** See `RefoldAsked`. */
  sinceMs: number;
  /** The scopes of the player. */
  current: readonly number[];
}

/**
 * Has the frozen windows of a refold show the fold of what was accepted before their freeze, also where what stands now stays
 * as it is. To be called before the entries are written: what stood is saved.
 * @returns the rows of standings that may differ, and rows of entries that are not there, which frozen standings are joined to
 */
export async function refreeze(
  transaction: SqlRunner,
  asked: RefreezeAsked,
  rows: readonly RefoldedRow[],
  changed: readonly ChangedRow[],
): Promise<{ touched: EntryPlace[]; missing: EntryRow[] }> {
  const { board, nowMs, sinceMs } = asked;
  const inFrozen = changed.filter(({ row }) => isFrozen(row, nowMs));
  await save(
    transaction,
    inFrozen.map(({ row, key }) => ({ windowUid: row.windowUid, key, known: knownOf(board, key, row) })),
  );
  const windows = new Map(rows.filter(({ row }) => isFrozen(row, nowMs)).map(({ row }) => [row.windowUid, row]));
  const touched: EntryPlace[] = [];
  const missing: EntryRow[] = [];
  for (const [windowUid, window] of windows) {
    if (sinceMs >= window.freezeAtMs!) continue;
    const states = await statesAtFreeze(transaction, asked, window);
    const standing = rows.filter(({ row }) => row.windowUid === windowUid && stateOf(row) !== null);
    const keys = [
      ...new Set([
        ...states.keys(),
        ...standing.map(({ key }) => key),
        ...(await savedKeys(transaction, asked, windowUid)),
      ]),
    ];
    const found = await rowsOfKeys(transaction, [window], () => keys);
    const stored = found.filter(({ row, key }) => row.version !== null || states.has(key));
    const saved = stored.map(({ row, key }) => {
      const known = knownOf(board, key, row) ?? absentRow(asked, row, key, states.get(key));
      return { windowUid, key, known };
    });
    await save(transaction, saved);
    for (const { key } of stored) await rewrite(transaction, asked, windowUid, key, states.get(key) ?? null);
    touched.push(...stored.map(({ key }) => ({ windowUid, playerId: key })));
    const isWritten = (key: string): boolean =>
      changed.some((one) => one.key === key && one.row.windowUid === windowUid);
    const absent = stored.filter(({ row, key }) => row.version === null && !isWritten(key));
    missing.push(...absent.map(({ row, key }) => absentRow(asked, row, key, states.get(key))));
  }
  return { touched, missing };
}

async function statesAtFreeze(
  transaction: SqlRunner,
  { board, playerId }: RefreezeAsked,
  { windowUid, freezeAtMs, endsAtMs }: WindowRow,
): Promise<Map<string, EntryState>> {
  const windows = [{ uid: windowUid, firstHour: null }];
  const folded = { board, playerId, windows, acceptedBeforeMs: freezeAtMs! };
  if (isPerRun(board.definition)) {
    const runs = (await foldedRunEntries(transaction, folded)).get(windowUid) ?? [];
    return new Map(runs.map(({ entryId, state }) => [keyOfEntry({ playerId, entryId }), state]));
  }
  const state = shownEntry(board, { endsAtMs }, (await foldedEntries(transaction, folded)).get(windowUid)!);
  return state ? new Map([[playerId, state]]) : new Map();
}

async function savedKeys(
  transaction: SqlRunner,
  { board, playerId }: RefreezeAsked,
  windowUid: number,
): Promise<string[]> {
  if (!isPerRun(board.definition)) return [playerId];
  const saved = await transaction.query<{ key: string }>(FROZEN_RUNS, [windowUid, playerId]);
  return saved.map(({ key }) => key);
}

/** A row of an entry that is not there now: removed, in the scopes of its player. */
const absentRow = (
  { board, current }: RefreezeAsked,
  { windowUid, unranked }: WindowRow,
  key: string,
  state: EntryState = { score: 0, columns: [], achievedAtMs: 0, metadata: null, version: 0 },
): EntryRow => ({
  boardUid: board.uid,
  windowUid,
  playerId: key,
  state: { ...state, ...(board.definition.decay && { patchRuns: [] }) },
  removed: true,
  unranked,
  scopes: [...current],
  leftScopes: [],
});

async function save(
  transaction: SqlRunner,
  saved: readonly { windowUid: number; key: string; known: EntryRow | null }[],
): Promise<void> {
  if (saved.length === 0) return;
  const frozen = saved.map(({ windowUid, key, known }) => ({ windowUid, playerId: key, row: known }));
  await transaction.query(SAVE_FROZEN_ENTRIES, frozenParameters(frozen));
}

async function rewrite(
  transaction: SqlRunner,
  { board }: RefreezeAsked,
  windowUid: number,
  key: string,
  state: EntryState | null,
): Promise<void> {
  await transaction.query(REWRITE_FROZEN, [
    ...[windowUid, key, state !== null, state?.score ?? 0, state?.columns ?? [], state?.achievedAtMs ?? 0],
    ...[state?.metadata ?? null, restsOnOf(board, state)],
    state?.patchRuns ? JSON.stringify(state.patchRuns) : null,
  ]);
}
