import { readFileSync } from 'node:fs';
import { Problem } from './problem.mjs';

/**
 * Whether `version` ("20.20.2") is at least what a range of the form ">=20.20" asks for.
 * @param {string} version
 * @param {string} range
 */
export function satisfies(version, range) {
  const wanted = range
    .replace(/^>=\s*/, '')
    .split('.')
    .map(Number);
  const actual = version.split('.').map(Number);
  for (let index = 0; index < wanted.length; index += 1) {
    const [one = 0, other = 0] = [actual[index], wanted[index]];
    if (one !== other) return one > other;
  }
  return true;
}

/**
 * @throws Problem when the Node that runs this is older than package.json asks for.
 * @param {string} root
 */
export function requireNode(root, version = process.versions.node) {
  const { engines } = JSON.parse(readFileSync(`${root}/package.json`, 'utf8'));
  if (satisfies(version, engines.node)) return;
  throw new Problem(
    `Laddercast needs Node ${engines.node.replace('>=', '')} or newer, and this is Node ${version}.\n` +
      'Install a newer one (https://nodejs.org, nvm, fnm, or the node:24 container image) and run the command again.',
  );
}
