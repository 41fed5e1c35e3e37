import { constants, copyFileSync, linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { codeOf } from './problem.mjs';
import { identityOf } from './process-identity.mjs';

/**
 * Takes a lock file for this process; one that is held by a process that died is taken over.
 * @returns {{ release: () => void, holder?: undefined } | { release?: undefined, holder: number }} `holder`: the pid of the
 *   living process that has it
 * @param {string} path
 */
export function tryLock(path) {
  mkdirSync(dirname(path), { recursive: true });
  const claim = `${path}.${process.pid}`;
  try {
    writeFileSync(claim, JSON.stringify({ pid: process.pid, identity: identityOf(process.pid) }));
    for (let attempt = 0; attempt < 5; attempt += 1) {
      if (linked(claim, path)) return { release: () => rmSync(path, { force: true }) };
      const holder = holderOf(path);
      if (holder !== null && identityOf(holder.pid) === holder.identity) return { holder: holder.pid };
      discard(path, holder);
    }
    return { holder: holderOf(path)?.pid ?? 0 };
  } finally {
    rmSync(claim, { force: true });
  }
}

/**
 * Waits up to `timeoutMs` for the lock; `onWait` is told once, with the pid that has it.
 * @param {string} path
 * @param {number} timeoutMs
 * @param {(pid: number) => void} onWait
 */
export async function waitForLock(path, timeoutMs, onWait) {
  const deadlineMs = Date.now() + timeoutMs;
  for (let told = false; ; told = true) {
    const result = tryLock(path);
    if (result.release !== undefined || Date.now() > deadlineMs) return result;
    if (!told) onWait(result.holder);
    await sleep(200);
  }
}

// A link appears at once and whole: nobody can read a lock file that is not written yet. Some shared folders have none.
/**
 * @param {string} claim
 * @param {string} path
 */
function linked(claim, path) {
  try {
    linkSync(claim, path);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'].includes(codeOf(error) ?? '')) throw error;
  }
  try {
    copyFileSync(claim, path, constants.COPYFILE_EXCL);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

/**
 * @param {string} path
 * @returns {{ pid: number, identity: string } | null}
 */
function holderOf(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return null;
  }
}

// Two may find the same dead holder: what one moved aside is looked at again, and put back if it is a living one's.
/**
 * @param {string} path
 * @param {{ pid: number } | null} deadHolder
 */
function discard(path, deadHolder) {
  const aside = `${path}.stale.${process.pid}`;
  try {
    renameSync(path, aside);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return;
    throw error;
  }
  const moved = holderOf(aside);
  if (moved !== null && moved.pid !== deadHolder?.pid) linked(aside, path);
  rmSync(aside, { force: true });
}
