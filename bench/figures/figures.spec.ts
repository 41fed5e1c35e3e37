import { describe, expect, it } from 'vitest';
import { cellOf, quantile, spread, tableOf } from './figures.js';

describe('figures of the benchmark', () => {
  it('are the least, the middle and the most of the rounds', () => {
    expect(spread([10, 9, 100])).toEqual({ min: 9, median: 10, max: 100 });
    expect(spread([4, 2])).toEqual({ min: 2, median: 3, max: 4 });
    expect(cellOf([1234.6, 900, 12_000])).toBe('900 / 1,235 / 12,000');
    expect(cellOf([0.5], 2)).toBe('0.50 / 0.50 / 0.50');
    expect(cellOf([])).toBe('–');
  });

  it('take quantiles of sorted values', () => {
    const hundred = Array.from({ length: 100 }, (_, index) => index + 1);
    expect(quantile(hundred, 0.99)).toBe(100);
    expect(quantile(hundred, 0.5)).toBe(51);
    expect(quantile([7], 1)).toBe(7);
  });

  it('stand in tables whose columns are as wide as what is in them', () => {
    expect(tableOf(['path', 'n'], [['submit', '8,000']])).toBe(
      '| path   | n     |\n| ------ | ----- |\n| submit | 8,000 |',
    );
  });
});
