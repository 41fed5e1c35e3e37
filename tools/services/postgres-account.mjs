import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { randomBytes } from 'node:crypto';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { isRoot } from '../data-directory.mjs';
import { Problem } from '../problem.mjs';
import { step } from '../progress.mjs';

/** What a killed process still writes comes to an end. */
const patiently = { recursive: true, force: true, maxRetries: 10, retryDelay: 100 };
const homesOfRoot = '/var/lib/laddercast';
const temporaryHome = join(tmpdir(), 'laddercast-');

/**
 * The account that PostgreSQL's programs run as: ours, or, because PostgreSQL refuses root, `nobody` (or whoever the
 * existing data belongs to).
 * @returns `null` for our own account, else `{ uid, gid }`
 */
export function postgresAccount(clusterDir) {
  if (existsSync(clusterDir)) {
    const { uid, gid } = statSync(clusterDir);
    if (isRoot() && uid !== 0) return { uid, gid };
    if (!isRoot() && process.getuid !== undefined && uid !== process.getuid()) {
      throw new Problem(
        `The database under ${clusterDir} belongs to another user (uid ${uid}), and you are ${userInfo().username}.\n` +
          'Run this as that user, or remove the folder, or point DATA_DIR to a folder of your own.',
      );
    }
  }
  return isRoot() ? nobody() : null;
}

function nobody() {
  const entry = /^nobody:[^:]*:(-?\d+):(-?\d+):/m.exec(
    existsSync('/etc/passwd') ? readFileSync('/etc/passwd', 'utf8') : '',
  );
  // Negative on macOS, where ids are unsigned all the same.
  const id = (text) => Number(text ?? 65_534) >>> 0;
  return { uid: id(entry?.[1]), gid: id(entry?.[2]) };
}

/** Whether that account may enter the folder; asked by doing it, so that every kind of permission counts. */
export function canEnter(folder, account) {
  return runsAs(account, '/bin/sh', ['-c', 'cd "$1"', 'sh', folder]);
}

/** Whether that account can run the program to a successful end. */
export function runsAs(account, command, args) {
  return (
    spawnSync(command, args, { ...account, cwd: '/', env: { LC_ALL: 'C' }, stdio: 'ignore', timeout: 20_000 })
      .status === 0
  );
}

/** Gives a folder, with all in it, to the account. */
export function giveTo(account, path) {
  if (account === null) return;
  const state = lstatSync(path);
  if (state.isDirectory()) for (const name of readdirSync(path)) giveTo(account, join(path, name));
  if (!state.isSymbolicLink()) chownSync(path, account.uid, account.gid);
}

/** Lets everybody read a folder and run what is in it. */
export function openToAll(path) {
  const state = lstatSync(path);
  if (state.isSymbolicLink()) return;
  chmodSync(path, (state.mode & 0o777) | (state.isDirectory() || state.mode & 0o100 ? 0o555 : 0o444));
  if (state.isDirectory()) for (const name of readdirSync(path)) openToAll(join(path, name));
}

/**
 * The folder that holds the cluster: the data directory itself, except for root where the account PostgreSQL runs as
 * cannot get there (a checkout in /root); then a folder under /var/lib that the data directory points to.
 */
export function clusterHome(dataDir) {
  const account = postgresAccount(join(dataDir, 'postgres'));
  if (account === null || canEnter(dataDir, account)) return dataDir;
  const pointer = join(dataDir, 'postgres-location');
  const known = readPointer(pointer);
  if (known !== null && known.dataDir === dataDir && existsSync(known.home)) return known.home;
  const home = makeHome(account);
  writeFileSync(pointer, JSON.stringify({ dataDir, home }), { mode: 0o600 });
  step(`PostgreSQL does not run as root, and another user cannot enter ${dataDir}: its files are kept in ${home}`);
  return home;
}

function makeHome(account) {
  const makers = [
    () => {
      const home = join(homesOfRoot, randomBytes(6).toString('hex'));
      mkdirSync(home, { recursive: true });
      chmodSync(homesOfRoot, 0o711);
      return home;
    },
    () => mkdtempSync(temporaryHome),
  ];
  for (const make of makers) {
    try {
      const home = make();
      chmodSync(home, 0o711);
      if (canEnter(home, account)) return home;
      rmSync(home, { recursive: true });
    } catch {
      // The next place is tried.
    }
  }
  throw new Problem(
    `PostgreSQL does not run as root, and no folder could be made that the user with uid ${account.uid} can enter ` +
      `(under ${homesOfRoot} and ${tmpdir()}), or this container lets no program run as another user.\n` +
      'Run this as an ordinary user, or set DATA_DIR to a folder that every user can enter.',
  );
}

function readPointer(pointer) {
  return existsSync(pointer) ? JSON.parse(readFileSync(pointer, 'utf8')) : null;
}

/** Removes a data directory with everything that was kept elsewhere for it. */
export function removeDataDirectory(dataDir) {
  const known = readPointer(join(dataDir, 'postgres-location'));
  if (known !== null && [`${homesOfRoot}/`, temporaryHome].some((prefix) => known.home.startsWith(prefix))) {
    rmSync(known.home, patiently);
  }
  rmSync(dataDir, patiently);
}
