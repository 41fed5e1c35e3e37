import { LadderError } from '../errors.js';
import { isPatchScope } from './scope.js';
import { toRankScore } from './sort-key.js';
import type { BoardDefinition, SortOrder } from './board.js';

/** How the global list is spread over shards: by player, or by score. All other lists have one shard. */
export type Sharding =
  | { by: 'hash'; count: number }
  /** Scores, ascending: one shard more than there are boundaries. */
  | { by: 'range'; boundaries: number[] };

/**
 * How one generation of a board's lists is kept in the projection. A generation never changes: to keep a board in
 * another way, a new generation is filled beside it.
 */
export interface Layout {
  /** Counts from 1; it stands in every key. */
  generation: number;
  sharding: Sharding;
  /** Whether distinct values are kept, which dense ranks need. */
  dense: boolean;
  /** How many hashes the index of each shard of the global list is split into: see {@link indexBucketsFor}. */
  indexBuckets: number;
  /** Makes the versions of lists grow from one generation to the next. */
  versions: ListVersions;
  /** When entries began to be written to it, Unix ms by the ledger's clock; absent: with the board's first. */
  openedAtMs?: number;
  /**
   * For each lane, the log position by which it held every entry from before it was opened. Absent while it is being
   * filled, and for a board's first generation, which had nothing to be filled with.
   */
  filledAt?: number[];
  /** The number of the order of patches that its scores are taxed by; absent: they are not. */
  taxOrder?: number;
  /** Since when lists taxed by that order serve, Unix ms. */
  taxedSinceMs?: number;
  /** The filling that its lists of patches are of, where it goes on with those of an earlier generation: they are not taxed. */
  patchLists?: ListFilling;
}

/** What tells one filling of a list from the next. */
export type ListFilling = Pick<Layout, 'generation' | 'versions' | 'openedAtMs'>;

export interface ListVersions {
  /** Added to the sum of the shards' counters. */
  base: number;
  /** Counters count from here: only what is above it is summed. */
  floor: number;
}

/** The generations of a board: entries are written to all of them, and read from one. */
export interface Layouts {
  serving: Layout;
  /** Being filled; it serves next. */
  opening: Layout | null;
  /** Served until a moment ago; readers that do not know yet still read it. */
  retiring: Layout | null;
}

/** The newest first. Written in this order, an entry is never in an older generation and missing in a newer one. */
export const everyLayout = ({ serving, opening, retiring }: Layouts): Layout[] =>
  [opening, serving, retiring].filter((layout) => layout !== null);

/** The filling that a list of a generation is of. */
export const fillingOf = (layout: Layout, scope: number): ListFilling =>
  (isPatchScope(scope) && layout.patchLists) || layout;

/** The lists of patches of a generation, for the next one to go on with where only the tax is another. */
export const patchListsOf = (layout: Layout): ListFilling => {
  const { generation, versions, openedAtMs } = layout.patchLists ?? layout;
  return { generation, versions, openedAtMs };
};

const INDEX_BUCKETS_MIN = 256;
const INDEX_BUCKETS_MAX = 524_288;
/**
 * Redis scans a whole small hash for one field. With twice as many players a bucket, bringing a board back takes a
 * fifth longer; with half as many, the hashes cost one more byte an entry.
 */
const PLAYERS_PER_BUCKET_MAX = 200;
/** By how much the number of buckets grows when a board has outgrown its own. Growing reads the whole board. */
const BUCKETS_GROWTH = 2;

/** How many index buckets a shard of so many entries is given. */
export function indexBucketsFor(entriesPerShard: number): number {
  let buckets = INDEX_BUCKETS_MIN;
  while (buckets < INDEX_BUCKETS_MAX && entriesPerShard > buckets * PLAYERS_PER_BUCKET_MAX) buckets *= BUCKETS_GROWTH;
  return buckets;
}

/** How many index buckets each shard gets when the entries of a layout are spread over other shards. */
export const indexBucketsOfShards = ({ sharding, indexBuckets }: Layout, next: Sharding): number =>
  indexBucketsFor((indexBuckets * PLAYERS_PER_BUCKET_MAX * shardCountOf(sharding)) / shardCountOf(next));

/** Whether a board's definition asks for dense ranks. */
export const wantsDense = ({ dense, rankStyle }: Pick<BoardDefinition, 'dense' | 'rankStyle'>): boolean =>
  dense || rankStyle === 'dense';

/** Whether lists with this sharding can keep distinct values: all entries of a value must lie in one shard. */
export const canKeepDense = (sharding: Sharding): boolean => sharding.by === 'range' || sharding.count === 1;

/** The error for a request for dense ranks on a board that does not keep them. */
export const denseNotKept = (): LadderError =>
  new LadderError(
    'RANK_STYLE_NOT_KEPT',
    'This board keeps no dense ranks: put "dense": true into its definition, with one hash shard or sharding by range.',
  );

/** The layouts of an empty board. Its `versions` continue from those of the board that had the id before. */
export const firstLayouts = (
  definition: Pick<BoardDefinition, 'sharding' | 'dense' | 'rankStyle'>,
  versions: ListVersions = { base: 0, floor: 0 },
  tax: Pick<Layout, 'taxOrder' | 'taxedSinceMs'> = {},
): Layouts => ({
  serving: {
    generation: 1,
    sharding: definition.sharding,
    dense: wantsDense(definition),
    indexBuckets: INDEX_BUCKETS_MIN,
    versions,
    ...tax,
  },
  opening: null,
  retiring: null,
});

/** How many shards the global list has. */
export const shardCountOf = (sharding: Sharding): number =>
  sharding.by === 'hash' ? sharding.count : sharding.boundaries.length + 1;

/** The boundaries in the order of ranks: shard n holds the sort keys whose score is at or after the n-th (1-based). */
export function rankBoundariesOf(sharding: Sharding, order: SortOrder): number[] | null {
  if (sharding.by === 'hash') return null;
  return sharding.boundaries.map((score) => toRankScore(order, score)).sort((a, b) => a - b);
}

/** The shard (0-based) for this score: the first one whose upper boundary is above it. */
export function rangeShardOf(boundaries: readonly number[], rankScore: number): number {
  let [low, high] = [0, boundaries.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (boundaries[middle]! <= rankScore) low = middle + 1;
    else high = middle;
  }
  return low;
}
