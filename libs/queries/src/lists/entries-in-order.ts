import {
  compareSortKeys,
  encodeSortKey,
  keyOfEntry,
  type BoardOrdering,
  type SortKey,
  type SortValues,
} from '@laddercast/domain';

/** What of an entry decides its place in a list. */
interface PlacedEntry extends Omit<SortValues, 'achievedAtMs'> {
  /** Or the key of a run's entry. */
  playerId: string;
  /** Where `playerId` is the player's: the run. */
  entryId?: string | undefined;
  /** null where the tie-break keeps no time. */
  achievedAtMs: number | null;
}

/** The place of an entry in a list, whether the list has it or not. */
export const sortKeyOf = (ordering: BoardOrdering, entry: PlacedEntry): SortKey =>
  encodeSortKey(ordering, { ...entry, achievedAtMs: entry.achievedAtMs ?? 0 }, keyOfEntry(entry));

/** Entries with their places in a list, the best first. */
export const inOrder = <Entry extends PlacedEntry>(
  ordering: BoardOrdering,
  entries: readonly Entry[],
): (Entry & { key: SortKey })[] =>
  entries.map((entry) => ({ ...entry, key: sortKeyOf(ordering, entry) })).sort((a, b) => compareSortKeys(a.key, b.key));
