import { isPerRun, type Board } from '@laddercast/domain';
import { growingCache } from '@laddercast/platform';
import type { LRUCache } from 'lru-cache';
import type { EntryRow } from '../entries/entry-rows.js';
import type { SubmitWrite } from '../entries/ledger-writes.js';
import { entryKeyOf, submissionKeyOf } from './stored-batch.js';

/** The most ids, and sanctioned players, of which a lane's writer remembers that it has seen them. */
const SEEN_MAX = 10_000;

/** Entries that the lanes of a process remember. */
export type MemoryRoom = LRUCache<string, { row: EntryRow | null; of: object }>;

/** @param entriesMax the most entries, over all lanes; the least recently used makes room */
export const memoryRoom = (entriesMax: number): MemoryRoom => growingCache(entriesMax);

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
  private readonly seen = growingCache<string, true>(SEEN_MAX);
  /** Stands at what is remembered since something was forgotten; all else in the room is not this lane's, or forgotten. */
  private since = {};

  /** @param room shared with the other lanes of the process */
  constructor(private readonly room: MemoryRoom) {}

  /** @param key by {@link entryKeyOf} @returns null: it is not there; undefined: not known */
  entry(key: string): EntryRow | null | undefined {
    const known = this.room.get(key);
    return known?.of === this.since ? known.row : undefined;
  }

  /** After a commit of this writer: what it read and wrote adds to what is remembered. */
  leave({ head, nowMs, entries, absent, unknown = [] }: LeftBehind): void {
    this.head = head;
    this.lastMs = nowMs;
    const { room, since } = this;
    for (const key of unknown) room.delete(key);
    for (const key of absent) room.set(key, { row: null, of: since });
    for (const row of entries) room.set(entryKeyOf(row.windowUid, row.playerId), { row, of: since });
  }

  forget(): void {
    this.head = null;
    this.since = {};
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
