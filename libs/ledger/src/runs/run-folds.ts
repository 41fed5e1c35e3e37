import {
  foldRun,
  HOUR_MS,
  newestOrder,
  type BoardDefinition,
  type EntryState,
  type KeptPatchRun,
  type KeptRun,
  type PatchFamily,
  type PlainEntryState,
  type RunKind,
} from '@laddercast/domain';
import type { SqlRunner } from '../database/postgres-database.js';
import { prepared } from '../database/postgres-statements.js';

/** How many runs one reading brings; between two the folds are held, so a player may have any number. */
const RUNS_AT_ONCE = 1000;

/** A window whose entry is folded. */
export interface FoldedWindow {
  uid: number;
  /** Of a rolling window: the first hour (since 1970) that is in it; null: every run of the window is. */
  firstHour: number | null;
}

/** What of a board decides what runs come to. */
export interface FoldedBoard {
  definition: BoardDefinition;
  /** On boards with decay. */
  patches?: PatchFamily;
}

/** Whose runs are folded, on a board that keeps them. */
export interface FoldedRuns {
  board: FoldedBoard & { uid: number; runsFrom: number };
  playerId: string;
  windows: readonly FoldedWindow[];
  /** Only runs that were accepted before, Unix ms; absent: all. */
  acceptedBeforeMs?: number;
  /** Only runs up to this position; absent: all. */
  upTo?: number;
}

/** What of a row of `runs` decides what it adds. */
export interface FoldedRow {
  position: number;
  kind: RunKind;
  held: boolean;
  voided: boolean;
  score: number | null;
  columns: number[];
  achievedAtMs: number;
  metadata: string | null;
  /** On boards with decay: the patch as which it counts. */
  patch: number | null;
}

/** A run of a player, as a fold reads it. */
export interface RunRow extends FoldedRow {
  submissionId: string;
  windowUids: number[];
}

/** What of a row of a base, or of an entry from before runs were kept, a fold begins with. */
export interface BaseState {
  score: number;
  columns: number[];
  achievedAtMs: number;
  metadata: string | null;
  /** On boards with decay; null on others. */
  patchRuns: KeptPatchRun[] | null;
}

interface BaseRow extends BaseState {
  windowUid: number;
  position: number;
}

/** What runs do not tell: the base, or the entry that stands from before runs were kept. */
const READ_BASES = prepared(`
  SELECT k.window_uid AS "windowUid", b.position, b.score, b.columns, b.achieved_at_ms AS "achievedAtMs", b.metadata,
    b.patch_runs AS "patchRuns"
  FROM unnest($1::int[]) AS k (window_uid)
  CROSS JOIN LATERAL (
    SELECT * FROM run_bases WHERE window_uid = k.window_uid AND player_id = $2 AND position >= $3 LIMIT 1) AS b
  UNION ALL
  SELECT k.window_uid, $3::bigint, e.score, e.columns, e.achieved_at_ms, e.metadata, e.patch_runs
  FROM unnest($1::int[]) AS k (window_uid)
  CROSS JOIN LATERAL (
    SELECT * FROM entries WHERE window_uid = k.window_uid AND player_id = $2 AND NOT removed AND version < $3 LIMIT 1) AS e`);

/** The next runs of player `$2` on board `$1` behind position `$3`, in any of the windows `$4`. */
const READ_RUNS = prepared(`
  SELECT position, kind, held, voided, score, columns, achieved_at_ms AS "achievedAtMs", metadata,
    window_uids AS "windowUids", submission_id AS "submissionId", patch_uid AS patch
  FROM runs
  WHERE board_uid = $1 AND player_id = $2 AND position > $3 AND position <= $5 AND window_uids && $4::int[]
    AND accepted_at < to_timestamp($6::float8 / 1000)
  ORDER BY position LIMIT ${RUNS_AT_ONCE}`);

/** Later than any time of the ledger. */
const EVER_MS = 8_640_000_000_000;

/**
 * The player's entries in these windows, folded from the runs that count; to be read under the player's lane.
 * @returns by window; null: no entry. The `version` of an entry of `best` and `latest` is the position of the run that it
 * rests on, 0 where that is no run that is kept. On boards with decay what counts are its `patchRuns`, untaxed
 */
export async function foldedEntries(
  transaction: SqlRunner,
  folded: FoldedRuns,
): Promise<Map<number, EntryState | null>> {
  const { board, playerId, windows } = folded;
  const uids = windows.map(({ uid }) => uid);
  const entries = new Map<number, EntryState | null>(uids.map((uid) => [uid, null]));
  const basedOn = new Map<number, number>();
  for (const base of await transaction.query<BaseRow>(READ_BASES, [uids, playerId, board.runsFrom])) {
    if (base.position < (basedOn.get(base.windowUid) ?? 0)) continue;
    basedOn.set(base.windowUid, base.position);
    entries.set(base.windowUid, stateOfBase(base));
  }
  await eachRun(transaction, folded, basedOn, (run, { uid, firstHour }) => {
    entries.set(uid, stepOf(board, entries.get(uid)!, run, firstHour));
  });
  return entries;
}

/**
 * Reads the runs behind the bases in the order of acceptance, a page at a time.
 * @param basedOn by window: up to which position its base goes; absent: it has none
 * @param step called for each window that a run is in
 */
export async function eachRun(
  transaction: SqlRunner,
  { board, playerId, windows, upTo = Number.MAX_SAFE_INTEGER, acceptedBeforeMs = EVER_MS }: FoldedRuns,
  basedOn: ReadonlyMap<number, number>,
  step: (run: RunRow, window: FoldedWindow) => void,
): Promise<void> {
  const uids = windows.map(({ uid }) => uid);
  let position = Math.min(...uids.map((uid) => basedOn.get(uid) ?? board.runsFrom));
  for (;;) {
    const parameters = [board.uid, playerId, position, uids, upTo, acceptedBeforeMs];
    const page = await transaction.query<RunRow>(READ_RUNS, parameters);
    for (const run of page) {
      for (const window of windows) {
        const isIn = run.windowUids.includes(window.uid) && run.position > (basedOn.get(window.uid) ?? 0);
        if (isIn) step(run, window);
      }
    }
    if (page.length < RUNS_AT_ONCE) return;
    position = page.at(-1)!.position;
  }
}

/** What has left a rolling window counts no more; a wall that has left it still has what came before it behind it. */
function stepOf(
  board: FoldedBoard,
  before: EntryState | null,
  run: RunRow,
  firstHour: number | null,
): EntryState | null {
  const kept = keptRunOf(run);
  if (firstHour === null || Math.floor(run.achievedAtMs / HOUR_MS) >= firstHour) return foldedWith(board, before, kept);
  return kept.kind === 'run' ? before : foldedWith(board, before, { ...kept, entry: null });
}

/** An entry with the next run of its player. */
export const foldedWith = (
  { definition, patches }: FoldedBoard,
  before: EntryState | null,
  run: KeptRun,
): EntryState | null => foldRun(definition, before, run, patches && newestOrder(patches));

/** A row of `runs`, as it is folded. */
export const keptRunOf = (run: FoldedRow): KeptRun => ({
  kind: run.kind,
  state: stateOfRun(run),
  entry: run.score === null ? null : entryOfRun(run, run.score),
});

function entryOfRun({ patch, position, ...run }: FoldedRow, score: number): EntryState {
  const state = stateOf({ ...run, score }, position);
  if (patch === null) return state;
  const { columns, achievedAtMs, metadata } = run;
  return { ...state, patchRuns: [{ patch, score, columns, achievedAtMs, metadata, position }] };
}

/** Whether a run counts, waits for a moderator, or was taken out by one. */
export const stateOfRun = ({ held, voided }: Pick<RunRow, 'held' | 'voided'>): KeptRun['state'] =>
  voided ? 'voided' : held ? 'held' : 'counted';

/** What was before the runs that are kept: none of its own is. */
export function stateOfBase(base: BaseState): EntryState {
  const state = stateOf(base, 0);
  if (base.patchRuns === null) return state;
  return { ...state, patchRuns: base.patchRuns.map(({ position: _position, ...run }) => run) };
}

/** What a base, an entry or a run alone makes of an entry. */
export const stateOf = (
  { score, columns, achievedAtMs, metadata }: Omit<PlainEntryState, 'version'>,
  version: number,
): EntryState => ({ score, columns, achievedAtMs, metadata, version });
