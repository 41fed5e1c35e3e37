/** 1 where the first place is better, ½ where they are equal, else 0. */
export const scoreOf = (place: number, other: number): number => (place < other ? 1 : place === other ? 0.5 : 0);

/**
 * Chances of being the first of several, out of the chance of the first of each pair to beat the second, asked by index:
 * the mean over the pairs, with all of them adding up to 1. A step for the pairs of each index.
 */
export function* chancesByPairs(
  count: number,
  chanceOf: (index: number, other: number) => number,
): Generator<void, number[]> {
  const wins = Array.from({ length: count }, () => 0);
  for (let index = 0; index < count; index++) {
    for (let other = index + 1; other < count; other++) {
      const chance = chanceOf(index, other);
      wins[index]! += chance;
      wins[other]! += 1 - chance;
    }
    yield;
  }
  const pairs = (count * (count - 1)) / 2;
  return wins.map((won) => won / pairs);
}
