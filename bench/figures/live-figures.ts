import { readFileSync } from 'node:fs';

/** The value below which such a part of the values lies; NaN of none. */
export function quantile(values, part) {
  if (values.length === 0) return NaN;
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))];
}

/** Minimum, median and maximum, as `a / b / c`. */
export function spread(values, show = (value) => value.toFixed(1)) {
  return [Math.min(...values), quantile(values, 0.5), Math.max(...values)].map(show).join(' / ');
}

export const whole = (value) => Math.round(value).toLocaleString('en');

/** A table as Markdown has it, its columns as wide as they need to be. */
export function table(head, rows) {
  const cells = [head, ...rows].map((row) => row.map(String));
  const widths = head.map((_, column) => Math.max(3, ...cells.map((row) => row[column].length)));
  const line = (row) => `| ${row.map((cell, column) => cell.padEnd(widths[column])).join(' | ')} |`;
  const [first, ...others] = cells.map(line);
  return [first, line(widths.map((width) => '-'.repeat(width))), ...others].join('\n');
}

/** Bytes of memory that a process has in RAM, of its own and shared. Linux only. */
export function residentBytesOf(pid) {
  const [, kibibytes] = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(kibibytes) * 1024;
}

/** Milliseconds of a clock that all processes of this machine share. */
export const sharedMs = () => Number(process.hrtime.bigint()) / 1e6;

/** How much a value grows by step, as the least squares of (x, y) say. */
export function slope(points) {
  const mean = (of) => points.reduce((sum, point) => sum + of(point), 0) / points.length;
  const [x0, y0] = [mean(([x]) => x), mean(([, y]) => y)];
  const over = points.reduce((sum, [x, y]) => sum + (x - x0) * (y - y0), 0);
  return over / points.reduce((sum, [x]) => sum + (x - x0) ** 2, 0);
}
