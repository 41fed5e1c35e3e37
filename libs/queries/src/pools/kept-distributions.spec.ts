import { RATING_ALGORITHMS, ratingPoolOf } from '@laddercast/domain';
import { describe, expect, it } from 'vitest';
import { widthFor } from './kept-distributions.js';

describe('the buckets of a distribution', () => {
  it.each([
    ['elo', {}, 25],
    ['elo', { initial: 25 }, 25],
    ['glicko2', {}, 25],
    ['glicko2', { deviation: 50 }, 25],
    ['weng-lin', {}, 0.5],
    ['weng-lin', { initial: 1500, deviation: 500 }, 25],
    ['weng-lin', { deviation: 49 }, 2.5],
    ['weng-lin', { deviation: 1 }, 0.1],
  ])('are of 25 points, or less where ratings are closer together: %s %o', (algorithm, parameters, width) => {
    expect(widthFor(ratingPoolOf({ algorithm, parameters }, RATING_ALGORITHMS))).toBe(width);
  });
});
