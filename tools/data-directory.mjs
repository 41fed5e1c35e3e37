import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Problem } from './problem.mjs';

/** The absolute path of the data directory: `DATA_DIR`, else `.data` in the project. */
export function dataDirectory(root, env = process.env) {
  return resolve(root, env.DATA_DIR || '.data');
}

/** Makes a data directory that only its owner can list; root's can be passed through by the user PostgreSQL runs as. */
export function makeDataDirectory(path) {
  try {
    if (!existsSync(path)) mkdirSync(path, { recursive: true, mode: isRoot() ? 0o711 : 0o700 });
    else if (isRoot()) chmodSync(path, (statSync(path).mode & 0o777) | 0o011);
    const probe = join(path, `.writable-${process.pid}`);
    writeFileSync(probe, '');
    rmSync(probe);
  } catch (error) {
    throw new Problem(
      `The data directory ${path} cannot be written (${error.message}).\n` +
        'Was it made by another user? Run as that user, remove it, or point DATA_DIR to a folder of your own.',
    );
  }
}

/** Whether this process runs as root. */
export function isRoot() {
  return process.getuid?.() === 0;
}

/** A secret that is made once and kept in the file, readable by its owner alone. */
export function keptSecret(path, make = () => randomBytes(32).toString('base64url')) {
  if (!existsSync(path)) writeFileSync(path, `${make()}\n`, { mode: 0o600, flag: 'wx' });
  const secret = readFileSync(path, 'utf8').trim();
  if (secret === '') throw new Problem(`${path} is empty: remove it, and a new one is made.`);
  return secret;
}
