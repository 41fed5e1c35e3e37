import { isPerRun, type Board } from '@laddercast/domain';
import { growingCache } from '@laddercast/platform';
import type { EntryRow } from '../entries/entry-rows.js';
import type { SubmitWrite } from '../entries/ledger-writes.js';
import { entryKeyOf, submissionKeyOf } from './stored-batch.js';

/** The most ids, and sanctioned players, of which a lane's writer remembers that it has seen them. */
const SEEN_MAX = 10_000;

/** What a commit left behind: the lane's head, and the entries that it read or wrote. */
export interface LeftBehind {
  head: string | null;
  nowMs: number;
  entries: Iterable<EntryRow>;
  /** By {@link entryKeyOf}: those that were looked for and are not there. */
  absent: Iterable<string>;
  /** By {@link entryKeyOf}: those that may have changed, and are not to be remembered. */
  unknown?: Iterable<string>;
}

/**
 * What a lane's writer remembers of entries. It is the truth for as long as the lane's head in PostgreSQL is the one that it
 * left: every other commit that writes entries of the lane moves that. What was seen of ids and sanctions is a hint alone.
 */
export class LaneMemory {
  /** The head that this writer left; null: nothing is remembered. */
  head: string | null = null;
  /** The ledger's time of the last commit, Unix ms. */
  lastMs = 0;
  private readonly entries;
  private readonly seen = growingCache<string, true>(SEEN_MAX);

  /** @param entriesMax the most entries; the least recently used makes room */
  constructor(entriesMax: number) {
    this.entries = growingCache<string, { row: EntryRow | null }>(entriesMax);
  }

  /** @param key by {@link entryKeyOf} @returns null: it is not there; undefined: not known */
  entry(key: string): EntryRow | null | undefined {
    return this.entries.get(key)?.row;
  }

  /** After a commit of this writer: what it read and wrote adds to what is remembered. */
  leave({ head, nowMs, entries, absent, unknown = [] }: LeftBehind): void {
    this.head = head;
    this.lastMs = nowMs;
    for (const key of unknown) this.entries.delete(key);
    for (const key of absent) this.entries.set(key, { row: null });
    for (const row of entries) this.entries.set(entryKeyOf(row.windowUid, row.playerId), { row });
  }

  forget(): void {
    this.head = null;
    this.entries.clear();
  }

  /** Has retries of these look themselves up. */
  seeIds(writes: readonly SubmitWrite[]): void {
    for (const write of writes) if (write.idFromClient) this.seen.set(submissionKeyOf(write), true);
  }

  seeSanctioned(playerIds: Iterable<string>): void {
    for (const playerId of playerIds) this.seen.set(playerId, true);
  }

  /** Whether the write may be a retry, or of a sanctioned player: it is not committed by memory alone. */
  hasSeen(write: SubmitWrite): boolean {
    return this.seen.has(submissionKeyOf(write)) || this.seen.has(write.playerId);
  }
}

/** Whether a board's entries are remembered: where runs are kept, are entries, or are taxed, more than an entry is read. */
export const isRemembered = (board: Board): boolean =>
  !isPerRun(board.definition) && !board.definition.decay && board.runsFrom === undefined;
