import { LadderError } from '../errors.js';
import type { SortOrder } from './board.js';

/** How a board taxes runs of older patches. Source: contracts/patches.md, section 1. */
export interface Decay {
  /** The id of the family of patches. */
  family: string;
  /** What each patch takes, as a decimal with at most four places, above 0 and at most 1. */
  perPatch: number;
}

/** A tax for each patch, as a fraction in lowest terms. */
export interface TaxRate {
  numerator: number;
  denominator: number;
}

const PLACES = 10_000;
/** The largest raw score: taxed 256 times by the whole of it, it is still a double. */
export const RAW_SCORE_MAX = 1e300;

/** What is wrong with `perPatch`, or null when it is fine. */
export function faultOfPerPatch(perPatch: number): string | null {
  if (!(perPatch > 0 && perPatch <= 1)) return 'must be above 0 and at most 1';
  return Math.round(perPatch * PLACES) / PLACES === perPatch ? null : 'must have at most four decimal places';
}

/** @throws SCORE_OUT_OF_BOUNDS */
export function assertRawScoreInBounds(score: number): void {
  if (score <= RAW_SCORE_MAX) return;
  const detail = `The score ${score} is above ${RAW_SCORE_MAX}: its tax could leave the doubles.`;
  throw new LadderError('SCORE_OUT_OF_BOUNDS', detail, { scoreMax: RAW_SCORE_MAX });
}

/** 0.10 → 1/10: the decimal that was written, not the double nearest to it. */
export function taxRateOf(perPatch: number): TaxRate {
  const numerator = Math.round(perPatch * PLACES);
  const divisor = greatestCommonDivisor(numerator, PLACES);
  return { numerator: numerator / divisor, denominator: PLACES / divisor };
}

const greatestCommonDivisor = (a: number, b: number): number => (b === 0 ? a : greatestCommonDivisor(b, a % b));

/**
 * A raw score so many patches behind: one product and one quotient of doubles, and nothing rounded. Never
 * `raw × 1.2`: 109 × 1.2 is 130.79999999999998, 109 × 12 ÷ 10 is 130.8. Where nothing is behind, the very double comes back.
 * `taxedScoreSql` in the ledger does the same.
 */
export function taxedScore(order: SortOrder, { numerator, denominator }: TaxRate, raw: number, behind: number): number {
  if (behind === 0) return raw;
  const factor = order === 'asc' ? denominator + numerator * behind : Math.max(0, denominator - numerator * behind);
  return (raw * factor) / denominator;
}

/** After so many patches a score falls to 0 on a `desc` board; Infinity on others, where a tax only adds. */
export const patchesToZero = (order: SortOrder, { numerator, denominator }: TaxRate): number =>
  order === 'desc' ? Math.ceil(denominator / numerator) : Infinity;
