import type { EntryState } from '@laddercast/domain';
import { foldedWith, keptRunOf, stateOfBase, type BaseState, type FoldedBoard, type FoldedRow } from './run-folds.js';

/** A run of a prefix. */
export interface PrefixRow extends FoldedRow {
  playerId: string;
  submissionId: string;
  windowUids: number[];
}

/** The first runs of a player on a board, in the order of acceptance: those that become a base. */
export interface RunPrefix {
  playerId: string;
  runs: PrefixRow[];
}

/** What the runs of a player in a window come to, up to a position; null: no entry. */
export interface FoldedBase {
  windowUid: number;
  playerId: string;
  position: number;
  state: EntryState | null;
}

/** A base that is there. */
export interface BaseRow extends BaseState {
  windowUid: number;
  playerId: string;
  position: number;
}

/**
 * The first runs of each player, up to the first that is held: whether that one counts is not decided yet, and no run
 * after it may be folded before it is.
 * @param rows by player, in the order of acceptance
 */
export function prefixesOf(rows: readonly PrefixRow[]): RunPrefix[] {
  const prefixes = new Map<string, RunPrefix & { isCut: boolean }>();
  for (const row of rows) {
    const prefix = prefixes.get(row.playerId) ?? { playerId: row.playerId, runs: [], isCut: false };
    prefixes.set(row.playerId, prefix);
    prefix.isCut ||= row.held && !row.voided;
    if (!prefix.isCut) prefix.runs.push(row);
  }
  return [...prefixes.values()].filter(({ runs }) => runs.length > 0);
}

/**
 * Prefixes, folded on top of the bases that there are: one for each window and player with runs in them. What rolls has
 * none, since all that is in a prefix has left the window: walls, too, and all that was before them.
 * @param rolling the windows that roll
 */
export function foldPrefixes(
  board: FoldedBoard,
  prefixes: readonly RunPrefix[],
  bases: readonly BaseRow[],
  rolling: ReadonlySet<number>,
): FoldedBase[] {
  const before = new Map<string, BaseRow>();
  for (const base of bases) {
    const key = entryKeyOf(base.windowUid, base.playerId);
    if (base.position >= (before.get(key)?.position ?? 0)) before.set(key, base);
  }
  const folded = new Map<string, FoldedBase>();
  for (const { playerId, runs } of prefixes) {
    const position = runs.at(-1)!.position;
    for (const run of runs) {
      for (const windowUid of run.windowUids) {
        if (rolling.has(windowUid)) continue;
        const key = entryKeyOf(windowUid, playerId);
        const base = before.get(key);
        const known = folded.get(key) ?? { windowUid, playerId, position, state: base ? stateOfBase(base) : null };
        folded.set(key, { ...known, state: foldedWith(board, known.state, keptRunOf(run)) });
      }
    }
  }
  return [...folded.values()];
}

const entryKeyOf = (windowUid: number, playerId: string): string => `${windowUid}/${playerId}`;
