import type { JumpRule } from './integrity-options.js';

/** How many of a player's runs before a run are looked at: the last ones. */
export const JUMP_RUNS_MAX = 50;

/** A run that stands out, and from what. */
export interface Jump {
  /** Of the runs before. */
  median: number;
  /** What the distance is measured in. */
  unit: number;
  runs: number;
}

/** Makes the median of the distances that of a normal spread its standard deviation. Source: Rousseeuw and Croux, 1993. */
const DEVIATION_PER_MEDIAN = 1.4826;
/** The least unit, as a share of the median: equal runs have no spread. */
const UNIT_SHARE_MIN = 0.05;

/**
 * Whether a score is better than the median of those before it by more than `factor` units. The unit is
 * max(1.4826 × the median distance from the median, 0.05 × |median|). Source: contracts/integrity.md, section 2.
 * @param earlier the scores of the player's last {@link JUMP_RUNS_MAX} counted runs before it, in any order
 */
export function jumpOf(
  { factor, runsMin }: JumpRule,
  order: 'asc' | 'desc',
  score: number,
  earlier: readonly number[],
): Jump | null {
  if (earlier.length < runsMin) return null;
  const median = medianOf(earlier);
  const distance = medianOf(earlier.map((one) => Math.abs(one - median)));
  const unit = Math.max(DEVIATION_PER_MEDIAN * distance, UNIT_SHARE_MIN * Math.abs(median));
  const better = order === 'desc' ? score - median : median - score;
  return better > factor * unit ? { median, unit, runs: earlier.length } : null;
}

function medianOf(values: readonly number[]): number {
  const sorted = Float64Array.from(values).sort();
  const middle = sorted.length >> 1;
  const upper = sorted[middle]!;
  if (sorted.length % 2 === 1) return upper;
  const lower = sorted[middle - 1]!;
  const sum = lower + upper;
  return Number.isFinite(sum) ? sum / 2 : lower / 2 + upper / 2;
}
