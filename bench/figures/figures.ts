/** The least, the middle and the most of what the rounds measured. */
export interface Spread {
  min: number;
  median: number;
  max: number;
}

/** The least, the middle and the most of what the rounds measured: of at least one value. */
export function spread(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  return { min: sorted[0]!, median: middle(sorted), max: sorted.at(-1)! };
}

/** The value that so many of a hundred are not above; of sorted values, of which there is at least one. */
export function quantile(sorted: readonly number[], part: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))]!;
}

function middle(sorted: readonly number[]): number {
  const half = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2;
}

/** `minimum / median / maximum` of the rounds, as it stands in a table; `–` where nothing was measured. */
export function cellOf(values: readonly number[], digits = 0): string {
  if (values.length === 0) return '–';
  const { min, median, max } = spread(values);
  return [min, median, max].map((value) => numberOf(value, digits)).join(' / ');
}

export const numberOf = (value: number, digits = 0): string =>
  value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });

/** A table of markdown, as prettier would write it. */
export function tableOf(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = heads.map((head, at) => Math.max(3, head.length, ...rows.map((row) => row[at]!.length)));
  const line = (row: readonly string[]): string => `| ${row.map((cell, at) => cell.padEnd(widths[at]!)).join(' | ')} |`;
  return [line(heads), `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...rows.map(line)].join('\n');
}
