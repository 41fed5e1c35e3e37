import type { RankedEntry, RowChange } from '@laddercast/domain';

/** Names one ranked list in channels and keys. */
export interface ListRef {
  boardUid: number;
  windowUid: number;
  /** 0: everybody. */
  scope: number;
}

/** One text for each list. */
export const nameOfRef = ({ boardUid, windowUid, scope }: ListRef): string => `${boardUid}.${windowUid}.${scope}`;

/**
 * The top of a list at one moment, with everything that clients see. Rows are in ordinal order; players who are not
 * listed have none, so that ranks may show gaps: a part of it is cut out by rank, not by index.
 */
export interface RankSnapshot {
  /** Grows with every published change, with gaps, and never repeats. */
  seq: number;
  /** Unix ms. */
  asOfMs: number;
  total: number;
  /** The list's version (the sum of its shards' apply counters) as it was read. */
  listVersion: number;
  /** How many places of the list it covers: every listed row whose rank is at most this. */
  depth: number;
  /** The standings that it was read from; absent: the projection. */
  edition?: number;
  entries: RankedEntry[];
}

/** What changed between two snapshots of a list. */
export interface RankDelta {
  seq: number;
  previousSeq: number;
  asOfMs: number;
  total: number;
  listVersion: number;
  depth: number;
  edition?: number;
  changes: RowChange[];
}

/** The most deltas kept for `resume`. */
export const DELTAS_KEPT_MAX = 200;

/**
 * Where the ticking owner of a list publishes its snapshots, and every other process finds them.
 * Publishing is compare-and-set on `seq`: of two owners only one can write, so there is one history.
 */
export abstract class SnapshotStore {
  /** Says that somebody looks at the list: it is ticked until `untilMs` (Unix ms). Cheap, and may be repeated. */
  abstract markInUse(lists: readonly ListRef[], untilMs: number): Promise<void>;

  /** Lists whose use has not run out at `nowMs`, at most `limit`; those that have are forgotten. */
  abstract listsInUse(nowMs: number, limit: number): Promise<ListRef[]>;

  abstract read(list: ListRef): Promise<RankSnapshot | null>;

  /**
   * Publishes a snapshot, its delta and one hint, when the stored `seq` is still `expectedSeq` (null: none stored).
   * @param delta null for the first snapshot of a history
   * @returns whether it was written
   */
  abstract publish(
    list: ListRef,
    expectedSeq: number | null,
    snapshot: RankSnapshot,
    delta: RankDelta | null,
  ): Promise<boolean>;

  /** The deltas after `seq`, oldest first, the first of them following `seq`; null when they do not reach back to it, or when `seq` is
   * not one of this history. */
  abstract deltasSince(list: ListRef, seq: number): Promise<RankDelta[] | null>;

  /** Calls the listener once for each hint; hints can be lost (a reconnect), so a listener also looks by itself now and then. */
  abstract onPublished(listener: (list: ListRef, seq: number) => void): Promise<() => Promise<void>>;
}
