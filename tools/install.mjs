import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findOnPath, runStep } from './commands.mjs';
import { messageOf, Problem } from './problem.mjs';

/**
 * A package of a lock file.
 * @typedef {{ version?: string, optional?: boolean, devOptional?: boolean, peer?: boolean, link?: boolean }} LockedPackage
 */

/**
 * Why the installed dependencies are not those of the lock file, or `null` when they are.
 * @param {string} root
 */
export function staleDependencies(root) {
  const installedFile = join(root, 'node_modules/.package-lock.json');
  if (!existsSync(installedFile)) return 'they are not installed yet';
  if (!existsSync(join(root, 'package-lock.json'))) return null;
  const wanted = readPackages(join(root, 'package-lock.json'));
  const installed = readPackages(installedFile);
  for (const [path, { version, optional, devOptional, peer, link }] of Object.entries(wanted)) {
    if (path === '' || link) continue;
    const found = installed[path];
    // Optional packages are those of other platforms as well.
    if (found === undefined && (optional || devOptional || peer)) continue;
    if (found?.version !== version) return `the lock file asks for ${path.replace(/^.*node_modules\//, '')} ${version}`;
    if (!existsSync(join(root, path, 'package.json'))) return `${path} is missing`;
  }
  return null;
}

/**
 * Installs what the lock file says, when something else or nothing is installed.
 * @param {string} root
 * @param {string} recordFile
 */
export async function installWhenStale(root, recordFile) {
  const reason = staleDependencies(root);
  if (reason === null) return false;
  const command = existsSync(join(root, 'package-lock.json')) ? 'ci' : 'install';
  const npm = npmCommand();
  await runStep(
    `Installing the dependencies with npm ${command} (${reason}; a minute or two)`,
    npm.command,
    [...npm.args, command, '--include=dev', '--include=optional', '--no-audit', '--no-fund', '--loglevel=error'],
    {
      cwd: root,
      recordFile,
      remedy: 'Is the package registry reachable from here (npm ping)? Then run the command again.',
    },
  );
  return true;
}

/**
 * @param {string} path
 * @returns {Record<string, LockedPackage>}
 */
function readPackages(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8')).packages ?? {};
  } catch (error) {
    throw new Problem(`${path} cannot be read: ${messageOf(error)}`);
  }
}

/** How npm is run from here. */
export function npmCommand() {
  const script = process.env.npm_execpath;
  if (script !== undefined && /npm-cli\.c?js$/.test(script) && existsSync(script)) {
    return { command: process.execPath, args: [script] };
  }
  const [npm] = findOnPath('npm');
  if (npm === undefined) throw new Problem('npm is not on the PATH: install Node with npm, and run the command again.');
  return { command: npm, args: [] };
}
