import type { RankedEntry } from './ranking.js';

/** The most names in one change's `passed`. */
export const PASSED_MAX = 10;

/** A row of players who are ranked among themselves, as `rank` says. */
export interface CircleRow extends RankedEntry {
  /** The rank among everybody in the list, 1-based. */
  globalRank: number;
}

/** A row that is new, or whose values (or global rank) changed: complete, with its old place and score. */
export interface EntryRowChange extends RankedEntry, Partial<Pick<CircleRow, 'globalRank'>> {
  previousRank: number | null;
  previousScore: number | null;
  passed: string[];
}

/** A row that only moved because others did. */
export interface ShiftedRowChange {
  playerId: string;
  rank: number;
  previousRank: number;
}

/** A row that left the list. */
export interface LeftRowChange {
  playerId: string;
  rank: null;
  previousRank: number;
}

export type RowChange = EntryRowChange | ShiftedRowChange | LeftRowChange;

/**
 * The changes that turn one list into another, ordered by new rank, the leavers last. They hold every row whose rank or
 * values changed, in a circle also every row whose global rank did. A list without changes gives none.
 */
export function diffRows(previous: readonly RankedEntry[], next: readonly RankedEntry[]): RowChange[] {
  const before = new Map(previous.map((row) => [row.playerId, row]));
  const after = new Set(next.map((row) => row.playerId));
  const changes: RowChange[] = [];
  for (const row of next) {
    const old = before.get(row.playerId);
    if (old !== undefined && sameValues(old, row)) {
      if (old.rank !== row.rank) changes.push({ playerId: row.playerId, rank: row.rank, previousRank: old.rank });
      continue;
    }
    changes.push({
      ...row,
      previousRank: old?.rank ?? null,
      previousScore: old?.score ?? null,
      passed: passedBy(row, old, before, next),
    });
  }
  for (const row of previous) {
    if (!after.has(row.playerId)) changes.push({ playerId: row.playerId, rank: null, previousRank: row.rank });
  }
  return changes;
}

/** The players that the row passed, nearest first. */
function passedBy(
  row: RankedEntry,
  old: RankedEntry | undefined,
  before: ReadonlyMap<string, RankedEntry>,
  next: readonly RankedEntry[],
): string[] {
  const from = old?.rank ?? Infinity;
  const passed: string[] = [];
  for (const other of next) {
    if (passed.length === PASSED_MAX) break;
    if (other.rank <= row.rank) continue;
    const otherBefore = before.get(other.playerId);
    if (otherBefore !== undefined && otherBefore.rank < from) passed.push(other.playerId);
  }
  return passed;
}

function sameValues(a: RankedEntry, b: RankedEntry): boolean {
  return (
    a.score === b.score &&
    (a as Partial<CircleRow>).globalRank === (b as Partial<CircleRow>).globalRank &&
    a.achievedAt === b.achievedAt &&
    a.displayName === b.displayName &&
    a.verified === b.verified &&
    a.proof === b.proof &&
    JSON.stringify(a.columns) === JSON.stringify(b.columns) &&
    JSON.stringify(a.metadata) === JSON.stringify(b.metadata)
  );
}

/**
 * The list after the changes. A client that follows the contract does the same.
 * @param rows ordered by rank; equal ranks (competition style) keep the order of the list
 */
export function applyChanges(rows: readonly RankedEntry[], changes: readonly RowChange[]): RankedEntry[] {
  const byPlayer = new Map(rows.map((row) => [row.playerId, row]));
  for (const change of changes) {
    if (change.rank === null) {
      byPlayer.delete(change.playerId);
    } else if ('score' in change) {
      const { previousRank: _rank, previousScore: _score, passed: _passed, ...row } = change;
      byPlayer.set(change.playerId, row);
    } else {
      const row = byPlayer.get(change.playerId);
      if (row) byPlayer.set(change.playerId, { ...row, rank: change.rank });
    }
  }
  return [...byPlayer.values()].sort((a, b) => a.rank - b.rank);
}

/** The listed rows of the first `limit` places. Places without a row are those of players who are not listed. */
export const firstPlaces = <Row extends { rank: number }>(rows: readonly Row[], limit: number): Row[] =>
  rows.filter(({ rank }) => rank <= limit);

/**
 * The changes for a reader of the first `limit` places, out of those of the whole list since its last frame: of one
 * tick, or of several when a client resumes.
 * @param history the whole list's changes, oldest tick first
 * @param rows the whole list after these changes; ordinal ranks, with gaps where players are not listed
 */
export function mergeChanges(
  history: readonly (readonly RowChange[])[],
  rows: readonly RankedEntry[],
  limit: number,
): RowChange[] {
  const touched = new Map<string, { previousRank: number | null; changed: EntryRowChange | null; passed: string[] }>();
  for (const change of history.flat()) {
    const known = touched.get(change.playerId);
    const whole = 'score' in change ? change : null;
    if (known === undefined) {
      touched.set(change.playerId, { previousRank: change.previousRank, changed: whole, passed: whole?.passed ?? [] });
    } else if (whole) {
      known.changed ??= whole;
      known.passed = [...whole.passed, ...known.passed];
    }
  }
  const visible = new Map(firstPlaces(rows, limit).map((row) => [row.playerId, row]));
  const changes: RowChange[] = [];
  const left: LeftRowChange[] = [];
  for (const [playerId, { previousRank, changed, passed }] of touched) {
    const row = visible.get(playerId);
    const from = previousRank !== null && previousRank <= limit ? previousRank : null;
    if (row === undefined) {
      if (from !== null) left.push({ playerId, rank: null, previousRank: from });
    } else if (changed || from === null) {
      const behind = (other: string): boolean => (visible.get(other)?.rank ?? 0) > row.rank;
      const previousScore = changed ? changed.previousScore : row.score;
      const names = [...new Set(passed)].filter(behind).slice(0, PASSED_MAX);
      changes.push({ ...row, previousRank: from, previousScore, passed: names });
    } else if (from !== row.rank) {
      changes.push({ playerId, rank: row.rank, previousRank: from });
    }
  }
  return [...changes.sort((a, b) => a.rank! - b.rank!), ...left];
}
