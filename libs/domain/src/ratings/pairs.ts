import type { RatingState } from './rating-algorithm.js';

/** 1 where the first place is better, ½ where they are equal, else 0. */
export const scoreOf = (place: number, other: number): number => (place < other ? 1 : place === other ? 0.5 : 0);

type Side = readonly RatingState[];

/**
 * Chances of being the first of several sides, out of the expected score of each pair: its mean over a side's pairs, with
 * all of them adding up to 1. Of two sides it is the expected score.
 */
export function chancesByPairs(sides: readonly Side[], expectedScore: (side: Side, other: Side) => number): number[] {
  const wins = sides.map(() => 0);
  for (const [at, side] of sides.entries()) {
    for (const [other, opponent] of sides.entries()) {
      if (other <= at) continue;
      const expected = expectedScore(side, opponent);
      wins[at]! += expected;
      wins[other]! += 1 - expected;
    }
  }
  const games = (sides.length * (sides.length - 1)) / 2;
  return wins.map((won) => won / games);
}
