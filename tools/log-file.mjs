import { closeSync, copyFileSync, existsSync, openSync, readSync, renameSync, statSync, truncateSync } from 'node:fs';

const logBytesMax = 20 * 1024 * 1024;
const tailBytes = 16 * 1024;

/**
 * Moves a log that has grown over 20 MB to `<path>.1`, before something begins to write to it.
 * @param {string} path
 */
export function rotateLog(path) {
  if (existsSync(path) && statSync(path).size > logBytesMax) renameSync(path, `${path}.1`);
}

/**
 * Empties a log that is being written and has grown over 20 MB, after a copy to `<path>.1`. Writers must append.
 * @param {string} path
 */
export function trimLog(path) {
  if (!existsSync(path) || statSync(path).size <= logBytesMax) return;
  copyFileSync(path, `${path}.1`);
  truncateSync(path, 0);
}

/**
 * The last lines of a log, from `fromByte` on at most, as a person would want to read them.
 * @param {string} path
 */
export function lastLines(path, count = 15, fromByte = 0) {
  if (!existsSync(path)) return [];
  const size = statSync(path).size;
  const start = Math.max(Math.min(fromByte, size), size - tailBytes);
  const buffer = Buffer.alloc(size - start);
  const file = openSync(path, 'r');
  try {
    readSync(file, buffer, 0, buffer.length, start);
  } finally {
    closeSync(file);
  }
  const lines = buffer.toString('utf8').split('\n');
  if (start > fromByte) lines.shift();
  return lines
    .map(readable)
    .filter((line) => line.trim() !== '')
    .slice(-count);
}

/**
 * A line of pino's JSON as `level message: cause`; any other line as it is.
 * @param {string} line
 */
export function readable(line) {
  if (!line.startsWith('{')) return line;
  try {
    const { level, msg, context, err } = JSON.parse(line);
    const cause = err?.message !== undefined && err.message !== msg ? `: ${err.message}` : '';
    return `${level ?? 'log'} ${context ? `[${context}] ` : ''}${msg ?? ''}${cause}`;
  } catch {
    return line;
  }
}
