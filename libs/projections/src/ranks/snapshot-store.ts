import {
  keyOfEntry,
  ranksFromTop,
  type EntryId,
  type RankedEntry,
  type RankedValues,
  type RankStyle,
  type RowChange,
} from '@laddercast/domain';

/** Names one ranked list in channels and keys. */
export interface ListRef {
  boardUid: number;
  windowUid: number;
  /** 0: everybody. */
  scope: number;
}

/** One text for each list. */
export const nameOfRef = ({ boardUid, windowUid, scope }: ListRef): string => `${boardUid}.${windowUid}.${scope}`;

/** Ranks of a snapshot's rows in the styles that share them, in the order of the rows. */
export interface SharedRanks {
  competition: number[];
  dense: number[];
}

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
  /** As of a {@link Reading}. */
  accuracy?: 'estimated';
  errorBound?: number;
  /** The generation of the board's lists that it was read from; absent: the first, or standings. */
  generation?: number;
  /** null: nobody shares a rank with anybody, in no style; absent: not known. */
  shared?: SharedRanks | null;
  /** The style of those who ask for none; absent: ordinal. */
  ownStyle?: RankStyle;
  /** The number of the order of patches that its scores are taxed by; absent: they are not. */
  taxOrder?: number;
  /** Their ranks are ordinal. */
  entries: RankedEntry[];
}

/**
 * The ranks that rows of a top share, from all of its entries: whom the rows leave out may share them, too.
 * @param entries from the first on, in order
 */
export function sharedRanksOf(
  entries: readonly (RankedValues & EntryId)[],
  rows: readonly EntryId[],
): SharedRanks | null {
  const dense = ranksFromTop(entries, 'dense');
  if (dense.at(-1) === entries.length || entries.length === 0) return null;
  const ofRows = (ranks: readonly number[]): number[] => {
    const rankOf = new Map(entries.map((entry, index) => [keyOfEntry(entry), ranks[index]!]));
    return rows.map((row) => rankOf.get(keyOfEntry(row))!);
  };
  return { competition: ofRows(ranksFromTop(entries, 'competition')), dense: ofRows(dense) };
}

/** The rows of a snapshot with their ranks in a style; null when they are not known. */
export function entriesInStyle({ entries, shared }: RankSnapshot, style: RankStyle): RankedEntry[] | null {
  if (style === 'ordinal' || shared === null) return entries;
  if (shared === undefined) return null;
  const ranks = shared[style];
  return entries.map((row, index) => ({ ...row, rank: ranks[index]! }));
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
  accuracy?: 'estimated';
  errorBound?: number;
  generation?: number;
  shared?: SharedRanks | null;
  ownStyle?: RankStyle;
  /** The number of the order of patches that its scores are taxed by; absent: they are not. */
  taxOrder?: number;
  /** Their ranks are ordinal. */
  changes: RowChange[];
  /** W3C trace contexts of changes that it shows, where they are traced. */
  traces?: string[];
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

  /**
   * A number for rows that were read of the list outside of its history: nobody else gets it, and it is greater than each that was
   * taken before.
   * @param least the least that it may be
   */
  abstract takeNumber(list: ListRef, least: number): Promise<number>;

  /** The deltas after `seq`, oldest first, the first of them following `seq`; null when they do not reach back to it, or when `seq` is
   * not one of this history. */
  abstract deltasSince(list: ListRef, seq: number): Promise<RankDelta[] | null>;

  /**
   * Calls the listener once for each hint until that is ended. Hints can be lost (a reconnect), so a listener also looks
   * by itself now and then. It never fails: a store that is away is tried again for ever.
   * @returns how to end it
   */
  abstract onPublished(listener: (list: ListRef, seq: number) => void): () => void;
}
