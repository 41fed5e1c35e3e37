import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { projectRoot } from './build.mjs';

/** Any file will do: nothing gets as far as reading it. */
const FILE = join(projectRoot, 'package.json');

/** What a command about the ledger says of this address; a stack is not what it is asked for. */
function said(address, ...args) {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: projectRoot,
    env: { ...process.env, DATABASE_URL: address, DATABASE_CA_FILE: '' },
    encoding: 'utf8',
    timeout: 60_000,
  });
  expect(status).toBe(1);
  expect(stderr).not.toMatch(/^ {4}at /m);
  return stdout + stderr;
}

it.each([
  ['tools/backup.mjs', 'save', join(projectRoot, 'no-such.dump')],
  ['tools/backup.mjs', 'restore', FILE],
  ['tools/ratings.mjs', 'verify', 'blitz'],
])('%s %s says in a sentence that an address is none', (...args) => {
  expect(said('127.0.0.1:5432', ...args)).toContain('DATABASE_URL is no address. It looks like postgres://');
  expect(said('postgres://:pass#word@127.0.0.1/x', ...args)).toContain('DATABASE_URL is no address.');
  expect(said('', ...args)).toContain('DATABASE_URL is not set');
});

it('tools/ratings.mjs names an option that there is not', () => {
  expect(said('postgres://127.0.0.1:1/x', 'tools/ratings.mjs', 'verify', 'blitz', '--nope')).toMatch(
    /Unknown option '--nope'[^]*npm run ratings -- verify POOL/,
  );
});
