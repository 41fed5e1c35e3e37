import type { ClusterRule } from './integrity-options.js';

/** One of several runs with the same bits. */
export interface EqualRun {
  playerId: string;
  /** Unix ms. */
  acceptedAtMs: number;
}

/**
 * The runs that stand with a run in a stretch of `minutes` that has runs of at least `players` different players; none
 * where there is no such stretch. Two runs exactly so far apart are in one stretch.
 * @param runs all with the same score and columns that were accepted within `minutes` before or after it, and itself;
 * in the order of their times
 */
export function clusterAround<Run extends EqualRun>(
  { players, minutes }: ClusterRule,
  run: EqualRun,
  runs: readonly Run[],
): Run[] {
  const stretchMs = minutes * 60_000;
  const counts = new Map<string, number>();
  let [first, last, end] = [-1, -1, 0];
  for (const [start, { playerId, acceptedAtMs }] of runs.entries()) {
    // Of the stretches with the run in them it is enough to look at those that begin with one.
    if (acceptedAtMs > run.acceptedAtMs) break;
    for (; end < runs.length && runs[end]!.acceptedAtMs <= acceptedAtMs + stretchMs; end += 1) {
      counts.set(runs[end]!.playerId, (counts.get(runs[end]!.playerId) ?? 0) + 1);
    }
    if (acceptedAtMs >= run.acceptedAtMs - stretchMs && counts.size >= players) {
      if (first < 0) first = start;
      last = end;
    }
    const left = counts.get(playerId)! - 1;
    if (left === 0) counts.delete(playerId);
    else counts.set(playerId, left);
  }
  return first < 0 ? [] : runs.slice(first, last);
}
