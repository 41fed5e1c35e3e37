import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { build, isStale, standaloneMain } from './build.mjs';

// In place of the compiler, which has nothing to do with what is checked here: a script that writes the main file.
const compiler = `
import { mkdirSync, writeFileSync, existsSync } from 'node:fs';
if (existsSync('broken')) { console.error('main.ts(1,1): error TS2304'); process.exit(1); }
mkdirSync('dist/apps/standalone/src', { recursive: true });
writeFileSync('dist/apps/standalone/src/main.js', '');
`;

let root;
const put = (path, text = '') => {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
};

beforeEach(async () => {
  vi.spyOn(console, 'log').mockImplementation(() => {});
  root = mkdtempSync(join(tmpdir(), 'build-spec-'));
  put('package.json', '{"type":"module"}');
  put('node_modules/@nestjs/cli/bin/nest.js', compiler);
  put('apps/standalone/src/main.ts');
  put('apps/standalone/public/index.html', '<p>');
  put('libs/projections/src/lua/apply.lua', 'return 1');
  put('libs/domain/src/board.ts');
  expect(isStale(root)).toBe(true);
  await build(root);
});
afterEach(() => {
  rmSync(root, { recursive: true });
  vi.restoreAllMocks();
});

describe('a build', () => {
  it('is up to date until something changes', () => {
    expect(isStale(root)).toBe(false);
  });

  it('puts pages and Lua scripts beside the code', () => {
    expect(existsSync(standaloneMain(root))).toBe(true);
    expect(readFileSync(join(root, 'dist/apps/standalone/public/index.html'), 'utf8')).toBe('<p>');
    expect(readFileSync(join(root, 'dist/libs/projections/src/lua/apply.lua'), 'utf8')).toBe('return 1');
  });

  it.each([
    ['a source file is changed', () => put('libs/domain/src/board.ts', 'export {};')],
    ['a source file is older than before', () => utimesSync(join(root, 'libs/domain/src/board.ts'), 1, 1)],
    ['a source file is added', () => put('examples/new/module.ts')],
    ['a source file is removed', () => rmSync(join(root, 'libs/domain/src/board.ts'))],
    ['a Lua script is changed', () => put('libs/projections/src/lua/apply.lua', 'return 2')],
    ['the lock file is changed', () => put('package-lock.json', '{}')],
    ['the main file is gone', () => rmSync(standaloneMain(root))],
  ])('is stale when %s', (_case, change) => {
    change();
    expect(isStale(root)).toBe(true);
  });

  it('stays stale when it fails, and shows what the compiler said', async () => {
    put('broken');
    await expect(build(root)).rejects.toThrow('main.ts(1,1): error TS2304');
    expect(isStale(root)).toBe(true);
  });
});
