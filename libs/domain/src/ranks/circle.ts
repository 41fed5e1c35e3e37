import type { BoardOrdering, RankStyle } from '../boards/board.js';
import { keyOfEntry } from '../boards/entry-key.js';
import { ranksFromTop } from './ranking.js';
import { compareSortKeys, encodeSortKey, type SortKey } from '../boards/sort-key.js';

/** The most friends of one player. */
export const FRIENDS_MAX = 500;
/** The most players that one player follows; followers are not counted. */
export const FOLLOWED_MAX = 500;
/** The most players in one stored circle. */
export const CIRCLE_MEMBERS_MAX = 500;
/** The most unanswered requests for friendship that one player has sent. */
export const ASKED_MAX = 500;
/** The most unanswered requests for friendship that wait for one player. */
export const ASKED_BY_MAX = 1000;
/** The most entries of a circle's board: a player's friends, and the player. */
export const CIRCLE_ENTRIES_MAX = 501;

/** What decides the place of an entry among others. */
export interface CircleEntry {
  /** 1-based, in the list that the circle is read from. */
  rank: number;
  playerId: string;
  entryId?: string;
  score: number;
  columns: number[];
  /** null where the board's tie-break keeps no time. */
  achievedAtMs: number | null;
}

/**
 * Entries of one list, the best first, with the 1-based rank among themselves as `rank` and the rank in the list as
 * `globalRank`. They are ordered by the board's order, not by the ranks they come with: those may have been read a
 * moment apart, and tied entries share one.
 */
export function rankAmongThemselves<Entry extends CircleEntry>(
  ordering: BoardOrdering,
  entries: readonly Entry[],
  style: RankStyle,
): (Entry & { globalRank: number })[] {
  const keyed = entries.map((entry) => ({ entry, key: sortKeyOf(ordering, entry) }));
  keyed.sort((a, b) => compareSortKeys(a.key, b.key));
  const ordered = keyed.map(({ entry }) => entry);
  const ranks = ranksFromTop(ordered, style);
  return ordered.map((entry, index) => ({ ...entry, rank: ranks[index]!, globalRank: entry.rank }));
}

const sortKeyOf = (ordering: BoardOrdering, { achievedAtMs, ...entry }: CircleEntry): SortKey =>
  encodeSortKey(ordering, { ...entry, achievedAtMs: achievedAtMs ?? 0 }, keyOfEntry(entry));
