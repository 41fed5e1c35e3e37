/** An entry among those of its list: a player's only one, or that of one run where each run is an entry. */
export interface EntryId {
  playerId: string;
  /** The id of the submission; absent: the entry is its player's only one. */
  entryId?: string | undefined;
}

/** Where the id of a run ends in a key: no id holds it, and every character of an id is greater. */
const END_OF_ID = '\u0001';

/**
 * What names an entry in its list, in the ledger as in the projection: the player's id, or, where each run is an entry, the
 * run's id and the player's. The bytes of such keys are in the order of the runs' ids.
 */
export const keyOfEntry = ({ playerId, entryId }: EntryId): string =>
  entryId === undefined ? playerId : `${entryId}${END_OF_ID}${playerId}`;

/** The entry that a key names. */
export function entryOfKey(key: string): EntryId {
  const end = key.indexOf(END_OF_ID);
  return end < 0 ? { playerId: key } : { playerId: key.slice(end + 1), entryId: key.slice(0, end) };
}

/** The run whose entry a key names, as a field of what names the player itself; empty where the entry is the player's only one. */
export function runOfKey(key: string): { entryId?: string } {
  const { entryId } = entryOfKey(key);
  return entryId === undefined ? {} : { entryId };
}

/** Whose entry a key names. */
export const playerOfKey = (key: string): string => key.slice(key.indexOf(END_OF_ID) + 1);
