/** What people see of a player beside the id. */
export interface PlayerDecoration {
  displayName: string | null;
}

/**
 * Supplies the names that lists and channels show. Default: none, and `displayName` is null.
 * Called with up to 500 ids at once, never once per row; answers are cached by each process for a second.
 * Ids without a decoration are left out of the answer. A failure shows rows without names, it never fails a read.
 */
export abstract class EntryEnricher {
  abstract decorate(playerIds: readonly string[]): Promise<ReadonlyMap<string, PlayerDecoration>>;
}
