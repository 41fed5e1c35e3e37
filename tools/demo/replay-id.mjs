import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeDataDirectory } from '../data-directory.mjs';
import { Problem } from '../problem.mjs';
import { textIn } from './kept.mjs';

const LEAD_TIME_MS = 30_000;
const OLDEST_MS = Date.UTC(2020, 0, 1);
const NAMES_FILE = 'demo-replays.json';
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/**
 * A replay that has never run. Its id is the time its matches count from (`r` and Unix milliseconds in base 36), so
 * that a repetition sends the same bodies to the last byte, from any machine.
 */
export function newReplay(nowMs) {
  const startsAtMs = nowMs - LEAD_TIME_MS;
  return { id: `r${startsAtMs.toString(36)}`, startsAtMs, isNew: true };
}

/**
 * The replay of an id: one that an earlier replay printed, or any name; when a name was first used is kept in the data
 * directory.
 * @throws Problem when the id cannot be one
 */
export function namedReplay(id, { dataDir, nowMs }) {
  if (!NAME.test(id)) {
    throw new Problem(`--replay is "${id}"; a replay's id is 1 to 64 letters, digits, dots, dashes and underscores.`);
  }
  const statedMs = /^r[0-9a-z]{8}$/.test(id) ? Number.parseInt(id.slice(1), 36) : NaN;
  if (statedMs >= OLDEST_MS && statedMs <= nowMs) return { id, startsAtMs: statedMs, isNew: false };
  return { id, startsAtMs: firstUse(id, dataDir, nowMs), isNew: false };
}

function firstUse(id, dataDir, nowMs) {
  const known = JSON.parse(textIn(dataDir, NAMES_FILE) ?? '{}');
  if (typeof known[id] === 'number') return known[id];
  known[id] = nowMs - LEAD_TIME_MS;
  makeDataDirectory(dataDir);
  writeFileSync(join(dataDir, NAMES_FILE), `${JSON.stringify(known, null, 2)}\n`);
  return known[id];
}
