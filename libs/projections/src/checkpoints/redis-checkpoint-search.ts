import { compareSortKeys, type SortKey } from '@laddercast/domain';
import type { CheckpointName } from './checkpoints.js';
import type { RankList } from '../ranks/rank-projection.js';
import { countCheckpoint, readCheckpointRows } from './redis-checkpoint-calls.js';
import type { CheckpointReads } from './redis-checkpoint-reads.js';

type ReadsOfShards = Pick<CheckpointReads, 'some' | 'limits'>;

/** As of a checkpoint nothing moves: every second round leaves at most three quarters of what is left to search. */
const ROUNDS_MAX = 256;

/** How many entries of each shard stand before the wanted one: at least, and at most. */
interface Bounds {
  low: number[];
  high: number[];
}

/**
 * The sort key at a 0-based index of a list with several shards as of a checkpoint; null beyond its end. It is found as
 * deep pages of running lists are: in some rounds, however long the list is.
 */
export async function keyAtIndex(
  reads: ReadsOfShards,
  list: RankList,
  name: CheckpointName,
  totals: readonly number[],
  index: number,
): Promise<SortKey | null> {
  if (index >= sum(totals)) return null;
  const bounds: Bounds = { low: totals.map(() => 0), high: [...totals] };
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const skipped = index - sum(bounds.low);
    if (skipped <= reads.limits.skippedRowsMax) {
      const key = await readBehind(reads, list, name, bounds.low, skipped);
      if (key) return key;
    }
    // By turns where the index would lie in evenly filled shards, and the middle, which halves whatever they hold.
    const fraction = round % 2 === 0 ? skipped / (sum(bounds.high) - sum(bounds.low)) : 0.5;
    const pivot = await readPivot(reads, list, name, bounds, fraction);
    const counted = await reads.some(shardsOf(totals), (shard) => countCheckpoint(list, shard, name, [pivot.key]));
    const before = counted.map((answer) => answer.before[0]!);
    if (sum(before) === index) return pivot.key;
    if (sum(before) > index) {
      bounds.high = before;
    } else {
      bounds.low = before;
      bounds.low[pivot.shard]! += 1;
    }
  }
  throw new Error(`No entry was found at index ${index} of ${sum(totals)}.`);
}

/** The key so many entries behind a cut; null where too much has changed behind it to be read at once. */
async function readBehind(
  reads: ReadsOfShards,
  list: RankList,
  name: CheckpointName,
  cut: readonly number[],
  skipped: number,
): Promise<SortKey | null> {
  const found = await reads.some(shardsOf(cut), (shard) =>
    readCheckpointRows(list, shard, name, { index: cut[shard]! }, 'after', skipped + 1, reads.limits.lookedAtMax),
  );
  if (found.some(({ stoppedAt }) => stoppedAt !== null)) return null;
  return found.flatMap(({ rows }) => rows).sort(compareSortKeys)[skipped]!;
}

/** A key that has at least a quarter of what is between the bounds on each side (for a fraction of one half). */
async function readPivot(
  reads: ReadsOfShards,
  list: RankList,
  name: CheckpointName,
  { low, high }: Bounds,
  fraction: number,
): Promise<{ key: SortKey; shard: number }> {
  const weights = low.map((from, shard) => high[shard]! - from);
  const filled = shardsOf(weights).filter((shard) => weights[shard]! > 0);
  const found = await reads.some(filled, (shard) => {
    const index = low[shard]! + Math.min(weights[shard]! - 1, Math.floor(fraction * weights[shard]!));
    return readCheckpointRows(list, shard, name, { index }, 'after', 1, reads.limits.lookedAtMax);
  });
  const candidates = found
    .map(({ rows }, at) => ({ key: rows.sort(compareSortKeys)[0]!, shard: filled[at]! }))
    .sort((a, b) => compareSortKeys(a.key, b.key));
  let half = sum(weights) / 2;
  return candidates.find(({ shard }) => (half -= weights[shard]!) <= 0)!;
}

const shardsOf = (values: readonly number[]): number[] => values.map((_, shard) => shard);

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
