import type { Entry, Frames } from '../api.js';

/** What a subscription shows: at every `seq` what a snapshot of that `seq` would show. It is never changed in place. */
export interface LiveList {
  /**
   * By rank; rows of equal rank by the tie-break. Rows that did not change are the same objects as before. Ranks may
   * leave gaps: the places of players who are not listed.
   */
  readonly entries: readonly Entry[];
  /** How many entries the whole list has. */
  readonly total: number;
  readonly seq: number;
  readonly asOf: string;
  /** The window as it was asked for; null: the board's default. */
  readonly window: string | null;
  readonly accuracy: 'exact' | 'estimated';
  /** How far off estimated ranks and the total are at most. */
  readonly errorBound: number;
}

/** What is different from the list before. */
export interface Change {
  /** New rows, as they are. */
  readonly entered: readonly Entry[];
  /** Rows that are gone, as they were. */
  readonly left: readonly Entry[];
  /** Rows with another rank, as they are, and where they were. */
  readonly moved: readonly { readonly entry: Entry; readonly previousRank: number }[];
  /**
   * What the service said of it, in its words: it knows the previous rank and score also of rows that come from outside
   * of the list, and whom they passed. Empty where the list came whole.
   */
  readonly changes: Delta['changes'];
  /** The id of the window that ended: the list is of the next one, or with a full id the last of this one. */
  readonly window?: string;
}

export type Snapshot = Extract<Frames['snapshot'], { entries: unknown }>;
export type Tiebreak = NonNullable<Snapshot['tiebreak']>;
export type Delta = Frames['delta'];

/** What names a row, for lists on a screen: the player, and on boards where each run is an entry its run. */
export const keyOf = ({ playerId, entryId }: { playerId: string; entryId?: string }): string =>
  entryId === undefined ? playerId : `${entryId}\u0001${playerId}`;

/** The list that a snapshot states. Rows that are as in `before` stay the same objects. */
export function listOfSnapshot(
  frame: Snapshot,
  window: string | null,
  tiebreak: Tiebreak,
  before: LiveList | null,
): LiveList {
  const known = byKey(before?.entries ?? []);
  const entries = frame.entries.map((row) => {
    const old = known.get(keyOf(row));
    return old !== undefined && JSON.stringify(old) === JSON.stringify(row) ? old : row;
  });
  return { ...headOf(frame), window, entries: entries.sort(byPlace(tiebreak)) };
}

/**
 * The list after a delta; `old` where the delta is not newer, `gap` where something between is missing, `unseen` where a
 * row was shifted that the list does not have.
 */
export function listAfterDelta(list: LiveList, frame: Delta, tiebreak: Tiebreak): LiveList | 'old' | 'gap' | 'unseen' {
  if (frame.seq <= list.seq) return 'old';
  if (frame.previousSeq > list.seq) return 'gap';
  const rows = byKey(list.entries);
  for (const change of frame.changes) {
    const key = keyOf(change);
    if (change.rank === null) {
      rows.delete(key);
    } else if ('score' in change) {
      const { previousRank: _rank, previousScore: _score, passed: _passed, ...row } = change;
      rows.set(key, row);
    } else {
      const row = rows.get(key);
      if (row === undefined) return 'unseen';
      rows.set(key, { ...row, rank: change.rank });
    }
  }
  return { ...headOf(frame), window: list.window, entries: [...rows.values()].sort(byPlace(tiebreak)) };
}

/** What is different between two lists. @param changes of the delta that led from one to the other */
export function changeBetween(
  before: LiveList | null,
  after: LiveList,
  changes: Delta['changes'],
  window?: string,
): Change {
  const old = byKey(before?.entries ?? []);
  const entered: Entry[] = [];
  const moved: { entry: Entry; previousRank: number }[] = [];
  for (const entry of after.entries) {
    const key = keyOf(entry);
    const was = old.get(key);
    old.delete(key);
    if (was === undefined) entered.push(entry);
    else if (was.rank !== entry.rank) moved.push({ entry, previousRank: was.rank });
  }
  return { entered, left: [...old.values()], moved, changes, ...(window !== undefined && { window }) };
}

const byKey = (rows: readonly Entry[]): Map<string, Entry> => new Map(rows.map((row) => [keyOf(row), row]));

function headOf({ seq, asOf, total, accuracy, errorBound }: Snapshot | Delta): Omit<LiveList, 'window' | 'entries'> {
  return { seq, asOf, total, accuracy: accuracy ?? 'exact', errorBound: errorBound ?? 0 };
}

/** By rank; equal ranks by time as the tie-break says, then by the UTF-8 bytes of what names the row. */
export function byPlace(tiebreak: Tiebreak): (a: Entry, b: Entry) => number {
  const sign = tiebreak === 'none' ? 0 : tiebreak === 'latest' ? -1 : 1;
  return (a, b) => a.rank - b.rank || sign * (timeOf(a) - timeOf(b)) || compareUtf8(keyOf(a), keyOf(b));
}

const timeOf = ({ achievedAt }: Entry): number => Date.parse(achievedAt ?? '') || 0;

/** JavaScript compares units of UTF-16, of which surrogates are not the greatest, though what they stand for is. */
function compareUtf8(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at += 1) {
    const difference = asInUtf8(a.charCodeAt(at)) - asInUtf8(b.charCodeAt(at));
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

const asInUtf8 = (unit: number): number => (unit < 0xd800 ? unit : unit > 0xdfff ? unit - 0x800 : unit + 0x2000);
