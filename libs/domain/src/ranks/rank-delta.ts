import { entryOfKey, keyOfEntry, type EntryId } from '../boards/entry-key.js';
import { isSameFace } from '../player-face.js';
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
export interface ShiftedRowChange extends EntryId {
  rank: number;
  previousRank: number;
}

/** A row that left the list. */
export interface LeftRowChange extends EntryId {
  rank: null;
  previousRank: number;
}

export type RowChange = EntryRowChange | ShiftedRowChange | LeftRowChange;

/**
 * The changes that turn one list into another, ordered by new rank, the leavers last. They hold every row whose rank or
 * values changed, in a circle also every row whose global rank did. A list without changes gives none.
 */
export function diffRows(previous: readonly RankedEntry[], next: readonly RankedEntry[]): RowChange[] {
  const before = new Map(previous.map((row) => [keyOfEntry(row), row]));
  const after = new Set(next.map(keyOfEntry));
  const changes: RowChange[] = [];
  for (const row of next) {
    const old = before.get(keyOfEntry(row));
    if (old !== undefined && sameValues(old, row)) {
      if (old.rank !== row.rank) changes.push({ ...namesOf(row), rank: row.rank, previousRank: old.rank });
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
    if (!after.has(keyOfEntry(row))) changes.push({ ...namesOf(row), rank: null, previousRank: row.rank });
  }
  return changes;
}

const namesOf = (row: EntryId): EntryId => entryOfKey(keyOfEntry(row));

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
    const otherBefore = before.get(keyOfEntry(other));
    if (otherBefore === undefined || otherBefore.rank >= from) continue;
    // Where each run is an entry, one player may be passed several times, and by itself.
    if (other.playerId !== row.playerId && !passed.includes(other.playerId)) passed.push(other.playerId);
  }
  return passed;
}

function sameValues(a: RankedEntry, b: RankedEntry): boolean {
  return (
    a.score === b.score &&
    (a as Partial<CircleRow>).globalRank === (b as Partial<CircleRow>).globalRank &&
    a.achievedAt === b.achievedAt &&
    a.displayName === b.displayName &&
    isSameFace(a.player, b.player) &&
    a.verified === b.verified &&
    a.proof === b.proof &&
    a.rawScore === b.rawScore &&
    a.patch === b.patch &&
    a.patchesBehind === b.patchesBehind &&
    JSON.stringify(a.columns) === JSON.stringify(b.columns) &&
    JSON.stringify(a.metadata) === JSON.stringify(b.metadata)
  );
}

/**
 * The list after the changes. A client that follows the contract does the same.
 * @param rows ordered by rank; equal ranks (competition style) keep the order of the list
 */
export function applyChanges(rows: readonly RankedEntry[], changes: readonly RowChange[]): RankedEntry[] {
  const byKey = new Map(rows.map((row) => [keyOfEntry(row), row]));
  for (const change of changes) {
    if (change.rank === null) {
      byKey.delete(keyOfEntry(change));
    } else if ('score' in change) {
      const { previousRank: _rank, previousScore: _score, passed: _passed, ...row } = change;
      byKey.set(keyOfEntry(change), row);
    } else {
      const row = byKey.get(keyOfEntry(change));
      if (row) byKey.set(keyOfEntry(change), { ...row, rank: change.rank });
    }
  }
  return [...byKey.values()].sort((a, b) => a.rank - b.rank);
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
    const key = keyOfEntry(change);
    const known = touched.get(key);
    const whole = 'score' in change ? change : null;
    if (known === undefined) {
      touched.set(key, { previousRank: change.previousRank, changed: whole, passed: whole?.passed ?? [] });
    } else if (whole) {
      known.changed ??= whole;
      known.passed = [...whole.passed, ...known.passed];
    }
  }
  const visible = new Map(firstPlaces(rows, limit).map((row) => [keyOfEntry(row), row]));
  const changes: RowChange[] = [];
  const left: LeftRowChange[] = [];
  // The worst row that each player has among them.
  const lastRanks = new Map([...visible.values()].map((row) => [row.playerId, row.rank]));
  for (const [key, { previousRank, changed, passed }] of touched) {
    const row = visible.get(key);
    const from = previousRank !== null && previousRank <= limit ? previousRank : null;
    if (row === undefined) {
      if (from !== null) left.push({ ...entryOfKey(key), rank: null, previousRank: from });
    } else if (changed || from === null) {
      const behind = (other: string): boolean => (lastRanks.get(other) ?? 0) > row.rank;
      const previousScore = changed ? changed.previousScore : row.score;
      const names = [...new Set(passed)].filter(behind).slice(0, PASSED_MAX);
      changes.push({ ...row, previousRank: from, previousScore, passed: names });
    } else if (from !== row.rank) {
      changes.push({ ...entryOfKey(key), rank: row.rank, previousRank: from });
    }
  }
  return [...changes.sort((a, b) => a.rank! - b.rank!), ...left];
}
