/**
 * FIDE Rating Regulations, table 8.1.2: the greatest difference of ratings at which the higher rated player is expected to
 * score 50, 51, 52 … 99 of 100. Beyond the last one it is all of them.
 */
const DIFFERENCES_MAX = [
  3, 10, 17, 25, 32, 39, 46, 53, 61, 68, 76, 83, 91, 98, 106, 113, 121, 129, 137, 145, 153, 162, 170, 179, 188, 197,
  206, 215, 225, 235, 245, 256, 267, 278, 290, 302, 315, 328, 344, 357, 374, 391, 411, 432, 456, 484, 517, 559, 619,
  735,
];

/**
 * The score that is expected of a player, in whole percent: `difference` is its rating less the opponent's, a whole number.
 * FIDE Rating Regulations, 8.1.2.
 */
export function fidePercent(difference: number): number {
  const found = DIFFERENCES_MAX.findIndex((max) => Math.abs(difference) <= max);
  const ofHigher = 50 + (found === -1 ? DIFFERENCES_MAX.length : found);
  return difference < 0 ? 100 - ofHigher : ofHigher;
}
