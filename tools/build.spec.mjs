import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { build, isStale, standaloneMain } from './build.mjs';

// In place of the compiler, which has nothing to do with what is checked here: a script that writes the main files.
const compiler = `
import { copyFileSync, mkdirSync, writeFileSync, existsSync } from 'node:fs';
if (existsSync('broken')) { console.error('main.ts(1,1): error TS2304'); process.exit(1); }
for (const app of ['api', 'gateway', 'projector', 'standalone']) {
  mkdirSync(\`dist/apps/\${app}/src\`, { recursive: true });
  writeFileSync(\`dist/apps/\${app}/src/main.js\`, '');
}
if (existsSync('main.js')) copyFileSync('main.js', 'dist/apps/api/src/main.js');
`;
const run = (app) =>
  spawnSync(process.execPath, ['--enable-source-maps', join(root, 'dist/bundle', app)]).stdout.toString();

let root;
const put = (path, text = '') => {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
};

beforeEach(async () => {
  vi.spyOn(console, 'log').mockImplementation(() => {});
  root = mkdtempSync(join(tmpdir(), 'build-spec-'));
  put('package.json', '{"type":"module","version":"1.2.3","engines":{"node":">=20.20"}}');
  put('node_modules/@nestjs/cli/bin/nest.js', compiler);
  put('apps/standalone/src/main.ts');
  put('apps/standalone/public/index.html', '<p>');
  put('clients/typescript/src/index.ts', "export const client = (): string => 'here';");
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

  it('leaves no file of a page that is no more', async () => {
    put('dist/apps/standalone/public/old.js');
    await build(root);
    expect(existsSync(join(root, 'dist/apps/standalone/public/old.js'))).toBe(false);
    expect(existsSync(join(root, 'dist/apps/standalone/public/index.html'))).toBe(true);
  });

  it('puts the client beside the live page, as one module', async () => {
    const file = join(root, 'dist/apps/standalone/public/client.js');
    const { client } = await import(/* @vite-ignore */ pathToFileURL(file).href);
    expect(client()).toBe('here');
  });

  it.each([
    ['the client is changed', () => put('clients/typescript/src/index.ts', 'export {};')],
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

  it('bundles code that knows its own place, and leads back to its sources', async () => {
    put(
      'main.js',
      'const at = import.meta.url;\nconsole.log(at, new Error().stack);\n//# sourceMappingURL=main.js.map\n',
    );
    const map = { version: 3, sources: ['../../../../apps/api/src/main.ts'], names: [], mappings: 'AAAA;AAQA' };
    put('dist/apps/api/src/main.js.map', JSON.stringify(map));
    await build(root);
    expect(run('api.js')).toContain(pathToFileURL(join(root, 'dist/apps/api/src/main.js')).href);
    expect(run('api.js')).toContain(join(root, 'apps/api/src/main.ts:9'));
  });

  it('makes programs that say which Node they need, before they read what an older one cannot', async () => {
    put('older.cjs', "Object.defineProperty(process.versions, 'node', { value: '18.20.8' });");
    put('main.js', 'throw new Error("read");');
    await build(root);
    const { stdout, status } = spawnSync(process.execPath, [
      '-r',
      join(root, 'older.cjs'),
      join(root, 'dist/bundle/api.js'),
    ]);
    const msg = 'api cannot start: it needs Node 20.20 or newer, and this is Node 18.20.8.';
    expect(JSON.parse(stdout.toString())).toMatchObject({ level: 'fatal', app: 'api', version: '1.2.3', msg });
    expect(status).toBe(1);
  });

  it('copies packages into the bundle, and fails over one that would not find its files there', async () => {
    put('node_modules/whole/index.js', 'console.log("whole")');
    put('main.js', 'import "whole"; import "kafkajs";');
    await build(root);
    const bundled = readFileSync(join(root, 'dist/bundle/app-api.js'), 'utf8');
    expect(bundled).toContain('console.log("whole")');
    expect(bundled).toContain('import "kafkajs"');
    put('node_modules/whole/index.js', 'console.log(__dirname)');
    await expect(build(root)).rejects.toThrow('asks for its own place');
    expect(isStale(root)).toBe(true);
  });

  it('stays stale when it fails, and shows what the compiler said', async () => {
    put('broken');
    await expect(build(root)).rejects.toThrow('main.ts(1,1): error TS2304');
    expect(isStale(root)).toBe(true);
  });
});
