import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { diskRefusal, Problem } from './problem.mjs';

const probeBytes = 4096;

/**
 * The absolute path of the data directory: `DATA_DIR`, else `.data` in the project.
 * @param {string} root
 * @param {Record<string, string | undefined>} env
 */
export function dataDirectory(root, env = process.env) {
  return resolve(root, env.DATA_DIR || '.data');
}

/**
 * Makes a data directory that only its owner can list; root's can be passed through by the user PostgreSQL runs as.
 * @param {string} path
 */
export function makeDataDirectory(path) {
  try {
    if (!existsSync(path)) mkdirSync(path, { recursive: true, mode: isRoot() ? 0o711 : 0o700 });
    else if (isRoot()) chmodSync(path, (statSync(path).mode & 0o777) | 0o011);
    const probe = join(path, `.writable-${process.pid}`);
    try {
      // A disk that is full takes a file that is empty.
      writeFileSync(probe, 'x'.repeat(probeBytes));
    } finally {
      rmSync(probe, { force: true });
    }
  } catch (error) {
    const refusal = diskRefusal(error, path);
    throw refusal === null ? error : new Problem(refusal);
  }
}

/** Whether this process runs as root. */
export function isRoot() {
  return process.getuid?.() === 0;
}

/**
 * A secret that is made once and kept in the file, readable by its owner alone.
 * @param {string} path
 */
export function keptSecret(path, make = () => randomBytes(32).toString('base64url')) {
  if (!existsSync(path)) writeFileSync(path, `${make()}\n`, { mode: 0o600, flag: 'wx' });
  const secret = readFileSync(path, 'utf8').trim();
  if (secret === '') throw new Problem(`${path} is empty: remove it, and a new one is made.`);
  return secret;
}
