import { describe, expect, it } from 'vitest';
import { ranksFromTop, sharesRank, type RankedValues } from './ranking.js';

const entries = (...scores: [score: number, ...columns: number[]][]): RankedValues[] =>
  scores.map(([score, ...columns]) => ({ score, columns }));

describe('ranks from the first entry on', () => {
  const list = entries([9], [7], [7], [7], [5], [5], [1]);

  it.each([
    ['ordinal', [1, 2, 3, 4, 5, 6, 7]],
    ['competition', [1, 2, 2, 2, 5, 5, 7]],
    ['dense', [1, 2, 2, 2, 3, 3, 4]],
  ] as const)('in %s style', (style, ranks) => {
    expect(ranksFromTop(list, style)).toEqual(ranks);
    expect(ranksFromTop([], style)).toEqual([]);
  });

  it('are shared by those alone whose columns are equal, too', () => {
    const withColumns = entries([9, 1, 1], [9, 1, 1], [9, 1, 2], [9, 2, 2]);
    expect(ranksFromTop(withColumns, 'competition')).toEqual([1, 1, 3, 4]);
    expect(ranksFromTop(withColumns, 'dense')).toEqual([1, 1, 2, 3]);
  });

  it('know no difference of −0 and 0, and every difference beyond 2^53', () => {
    const [zero, negative, a, b] = entries([0], [-0], [2 ** 53], [2 ** 53 + 2]);
    expect(sharesRank(zero!, negative!)).toBe(true);
    expect(sharesRank(a!, b!)).toBe(false);
  });
});
