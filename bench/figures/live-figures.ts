import { tableOf } from './figures.js';

/** The value below which such a part of the values lies; NaN of none. */
export function quantile(values: Iterable<number>, part: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? NaN;
}

/** Of a histogram in whole milliseconds: the upper edge of the bucket that the quantile lies in. */
export function fromHistogram(histogram: readonly number[], part: number): number {
  const total = histogram.reduce((sum, count) => sum + count, 0);
  let seen = 0;
  for (const [at, count] of histogram.entries()) {
    seen += count;
    if (seen > part * total || seen === total) return at + 1;
  }
  return NaN;
}

/** Minimum, median and maximum, as `a / b / c`. */
export function spread(
  values: readonly number[],
  show: (value: number) => string = (value) => value.toFixed(1),
): string {
  return [Math.min(...values), quantile(values, 0.5), Math.max(...values)].map((value) => show(value)).join(' / ');
}

export const whole = (value: number): string => Math.round(value).toLocaleString('en');

/** A table as Markdown has it, its columns as wide as they need to be. */
export function table(heads: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  return tableOf(
    heads,
    rows.map((row) => row.map(String)),
  );
}

/** How much a value grows by step, as the least squares of (x, y) say. */
export function slope(points: readonly (readonly [x: number, y: number])[]): number {
  const mean = (of: (point: readonly [number, number]) => number): number =>
    points.reduce((sum, point) => sum + of(point), 0) / points.length;
  const [x0, y0] = [mean(([x]) => x), mean(([, y]) => y)];
  const over = points.reduce((sum, [x, y]) => sum + (x - x0) * (y - y0), 0);
  return over / points.reduce((sum, [x]) => sum + (x - x0) ** 2, 0);
}
