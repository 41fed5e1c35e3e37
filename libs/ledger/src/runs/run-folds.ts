import {
  foldRun,
  HOUR_MS,
  type BoardDefinition,
  type EntryState,
  type KeptRun,
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

/** Whose runs are folded, on a board that keeps them. */
export interface FoldedRuns {
  board: { uid: number; definition: BoardDefinition; runsFrom: number };
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
}

/** A run of a player, as a fold reads it. */
export interface RunRow extends FoldedRow {
  submissionId: string;
  windowUids: number[];
}

interface BaseRow {
  windowUid: number;
  position: number;
  score: number;
  columns: number[];
  achievedAtMs: number;
  metadata: string | null;
}

/** What runs do not tell: the base, or the entry that stands from before runs were kept. */
const READ_BASES = prepared(`
  SELECT k.window_uid AS "windowUid", b.position, b.score, b.columns, b.achieved_at_ms AS "achievedAtMs", b.metadata
  FROM unnest($1::int[]) AS k (window_uid)
  CROSS JOIN LATERAL (
    SELECT * FROM run_bases WHERE window_uid = k.window_uid AND player_id = $2 AND position >= $3 LIMIT 1) AS b
  UNION ALL
  SELECT k.window_uid, $3::bigint, e.score, e.columns, e.achieved_at_ms, e.metadata
  FROM unnest($1::int[]) AS k (window_uid)
  CROSS JOIN LATERAL (
    SELECT * FROM entries WHERE window_uid = k.window_uid AND player_id = $2 AND NOT removed AND version < $3 LIMIT 1) AS e`);

/** The next runs of player `$2` on board `$1` behind position `$3`, in any of the windows `$4`. */
const READ_RUNS = prepared(`
  SELECT position, kind, held, voided, score, columns, achieved_at_ms AS "achievedAtMs", metadata,
    window_uids AS "windowUids", submission_id AS "submissionId"
  FROM runs
  WHERE board_uid = $1 AND player_id = $2 AND position > $3 AND position <= $5 AND window_uids && $4::int[]
    AND accepted_at < to_timestamp($6::float8 / 1000)
  ORDER BY position LIMIT ${RUNS_AT_ONCE}`);

/** Later than any time of the ledger. */
const EVER_MS = 8_640_000_000_000;

/**
 * The player's entries in these windows, folded from the runs that count; to be read under the player's lane.
 * @returns by window; null: no entry. The `version` of an entry of `best` and `latest` is the position of the run that it
 * rests on, 0 where that is no run that is kept
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
    entries.set(base.windowUid, stateOf(base, 0));
  }
  await eachRun(transaction, folded, basedOn, (run, { uid, firstHour }) => {
    entries.set(uid, stepOf(board.definition, entries.get(uid)!, run, firstHour));
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
  definition: BoardDefinition,
  before: EntryState | null,
  run: RunRow,
  firstHour: number | null,
): EntryState | null {
  const kept = keptRunOf(run);
  if (firstHour === null || Math.floor(run.achievedAtMs / HOUR_MS) >= firstHour)
    return foldRun(definition, before, kept);
  return kept.kind === 'run' ? before : foldRun(definition, before, { ...kept, entry: null });
}

/** A row of `runs`, as it is folded. */
export const keptRunOf = (run: FoldedRow): KeptRun => ({
  kind: run.kind,
  state: stateOfRun(run),
  entry: run.score === null ? null : stateOf({ ...run, score: run.score }, run.position),
});

/** Whether a run counts, waits for a moderator, or was taken out by one. */
export const stateOfRun = ({ held, voided }: Pick<RunRow, 'held' | 'voided'>): KeptRun['state'] =>
  voided ? 'voided' : held ? 'held' : 'counted';

/** What a base, an entry or a run alone makes of an entry. */
export const stateOf = (
  { score, columns, achievedAtMs, metadata }: Omit<EntryState, 'version'>,
  version: number,
): EntryState => ({ score, columns, achievedAtMs, metadata, version });
