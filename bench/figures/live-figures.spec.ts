import { describe, expect, it } from 'vitest';
import { fromHistogram, quantile, slope, spread, table } from './live-figures.js';

describe('figures', () => {
  it('are quantiles by rank, whatever the order', () => {
    const values = [5, 1, 4, 2, 3];
    expect([0, 0.5, 0.99, 1].map((part) => quantile(values, part))).toEqual([1, 3, 5, 5]);
    expect(quantile([], 0.5)).toBeNaN();
    expect(spread([3, 1, 2], String)).toBe('1 / 2 / 3');
    expect(fromHistogram([0, 98, 0, 2], 0.5)).toBe(2);
    expect(fromHistogram([0, 98, 0, 2], 0.99)).toBe(4);
  });

  it('are sloped as the least squares say', () => {
    expect(slope([[0, 1], [1, 3], [2, 5]])).toBeCloseTo(2); // prettier-ignore
    expect(slope([[0, 4], [1, 4], [5, 4]])).toBe(0); // prettier-ignore
  });

  it('stand in tables', () => {
    expect(table(['a', 'long'], [['value', 1]])).toBe('| a     | long |\n| ----- | ---- |\n| value | 1    |');
  });
});
