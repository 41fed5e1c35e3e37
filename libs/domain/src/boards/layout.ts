import { LadderError } from '../errors.js';
import { toRankScore } from './sort-key.js';
import type { BoardDefinition, SortOrder } from './board.js';

/** How the list of everybody is spread: by the player, or by the score. All other lists have one shard. */
export type Sharding =
  | { by: 'hash'; count: number }
  /** Scores, ascending: one shard more than there are boundaries. */
  | { by: 'range'; boundaries: number[] };

/**
 * How one generation of a board's lists is kept in the projection. A generation never changes: a board that is to be
 * kept otherwise gets another, beside it.
 */
export interface Layout {
  /** Counts from 1; it stands in every key. */
  generation: number;
  sharding: Sharding;
  /** Whether distinct values are kept, which dense ranks need. */
  dense: boolean;
  /** How many hashes the index of each shard of the list of everybody is cut into: see {@link indexBucketsFor}. */
  indexBuckets: number;
  /** What makes versions of lists grow from one generation to the next. */
  versions: ListVersions;
  /** When entries began to be written to it, Unix ms by the ledger's clock; absent: with the board's first. */
  openedAtMs?: number;
  /**
   * The log position, for each lane, by which it held every entry of before it was opened; absent: it is being filled,
   * or it is the board's first and had nothing to be filled with.
   */
  filledAt?: number[];
}

export interface ListVersions {
  /** Added to what the shards' counters count. */
  base: number;
  /** Where the counting begins: what a counter is above it counts. */
  floor: number;
}

/** The generations of a board: entries are written to all of them, and read from one. */
export interface Layouts {
  serving: Layout;
  /** Being filled, to serve next. */
  opening: Layout | null;
  /** Served until a moment ago: readers that have not heard yet still read it. */
  retiring: Layout | null;
}

/** The newest first: what is written in that order is never missing in a generation and there in the one before it. */
export const everyLayout = ({ serving, opening, retiring }: Layouts): Layout[] =>
  [opening, serving, retiring].filter((layout) => layout !== null);

const INDEX_BUCKETS_MIN = 256;
const INDEX_BUCKETS_MAX = 524_288;
/**
 * Redis looks through all of a small hash for a field: with twice as many, to bring a board back takes it a fifth longer. With
 * half as many, the hashes themselves take a byte of each entry more.
 */
const PLAYERS_PER_BUCKET_MAX = 200;
/** How many times more buckets a board gets that has outgrown its own: it is read whole for that. */
const BUCKETS_GROWTH = 2;

/** How many index buckets a shard of so many entries is given. */
export function indexBucketsFor(entriesPerShard: number): number {
  let buckets = INDEX_BUCKETS_MIN;
  while (buckets < INDEX_BUCKETS_MAX && entriesPerShard > buckets * PLAYERS_PER_BUCKET_MAX) buckets *= BUCKETS_GROWTH;
  return buckets;
}

/** How many each shard is given when the entries of the shards of a layout are spread over others. */
export const indexBucketsOfShards = ({ sharding, indexBuckets }: Layout, next: Sharding): number =>
  indexBucketsFor((indexBuckets * PLAYERS_PER_BUCKET_MAX * shardCountOf(sharding)) / shardCountOf(next));

/** Whether a board's definition asks for dense ranks. */
export const wantsDense = ({ dense, rankStyle }: Pick<BoardDefinition, 'dense' | 'rankStyle'>): boolean =>
  dense || rankStyle === 'dense';

/** Whether lists that are spread so can keep distinct values: each value must lie in one shard. */
export const canKeepDense = (sharding: Sharding): boolean => sharding.by === 'range' || sharding.count === 1;

/** Answers a question for dense ranks of a board that does not want them. */
export const denseNotKept = (): LadderError =>
  new LadderError(
    'RANK_STYLE_NOT_KEPT',
    'This board keeps no dense ranks: put "dense": true into its definition, with one hash shard or sharding by range.',
  );

/** The layouts of a board that is empty; `versions` go on from those that were read under its id before. */
export const firstLayouts = (
  definition: Pick<BoardDefinition, 'sharding' | 'dense' | 'rankStyle'>,
  versions: ListVersions = { base: 0, floor: 0 },
): Layouts => ({
  serving: {
    generation: 1,
    sharding: definition.sharding,
    dense: wantsDense(definition),
    indexBuckets: INDEX_BUCKETS_MIN,
    versions,
  },
  opening: null,
  retiring: null,
});

/** How many shards the list of everybody has. */
export const shardCountOf = (sharding: Sharding): number =>
  sharding.by === 'hash' ? sharding.count : sharding.boundaries.length + 1;

/** The boundaries in the order of ranks: shard n holds the sort keys whose score is at or after the n-th (1-based). */
export function rankBoundariesOf(sharding: Sharding, order: SortOrder): number[] | null {
  if (sharding.by === 'hash') return null;
  return sharding.boundaries.map((score) => toRankScore(order, score)).sort((a, b) => a - b);
}

/** The shard (0-based) that holds sort keys of this score: the first whose upper boundary is beyond it. */
export function rangeShardOf(boundaries: readonly number[], rankScore: number): number {
  let [low, high] = [0, boundaries.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (boundaries[middle]! <= rankScore) low = middle + 1;
    else high = middle;
  }
  return low;
}
