import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { projectRoot } from './build.mjs';
import { dataDirectory } from './data-directory.mjs';
import { describeFailure, diskRefusalIn } from './problem.mjs';

// npm start itself, on disks that take nothing.
let folder;
let isMounted;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'disk-spec-'));
  isMounted = false;
});
afterEach(() => {
  if (isMounted) spawnSync('umount', [folder]);
  rmSync(folder, { recursive: true, force: true });
});

/** Has a file system of memory there; else the test is skipped. */
function mount(test, options) {
  const { status, stderr, error } = spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder]);
  isMounted = status === 0;
  if (isMounted) return;
  process.stderr.write(
    `A disk is left out, no tmpfs can be mounted (${error?.message ?? stderr.toString().trim()}); run it as root.\n`,
  );
  test.skip('no tmpfs can be mounted');
}

function start(dataDir) {
  const result = spawnSync(process.execPath, [join(projectRoot, 'tools/start.mjs')], {
    cwd: projectRoot,
    env: { ...process.env, DATABASE_URL: '', REDIS_URL: '', EVENT_LOG: '', NODE_ENV: '', DATA_DIR: dataDir },
    encoding: 'utf8',
    timeout: 150_000,
  });
  const said = result.stderr.trim();
  expect(result.status).toBe(1);
  expect(said.split('\n'), said).toHaveLength(1);
  expect(said.match(/\.( |$)/g), said).toHaveLength(1);
  expect(said).toContain('DATA_DIR');
  return said;
}

describe('npm start', () => {
  it('says in a sentence that the disk is full', (test) => {
    mount(test, 'size=64k');
    try {
      writeFileSync(join(folder, 'ballast'), Buffer.alloc(128 * 1024));
    } catch {
      // It is full now.
    }
    expect(start(folder)).toContain(`There is no room left on the disk of ${folder}`);
    expect(readdirSync(folder).filter((name) => name !== 'ballast')).toEqual([]);
  });

  it('says in a sentence that the disk is too small for what is made there', (test) => {
    mount(test, 'size=1m');
    const cache = join(dataDirectory(projectRoot), 'cache');
    if (existsSync(cache)) symlinkSync(cache, join(folder, 'cache'));
    expect(start(folder)).toContain(`There is no room left on the disk of ${folder}`);
  });

  it('says in a sentence that the folder is read-only', (test) => {
    mount(test, 'size=1m,ro');
    expect(start(folder)).toContain(`${folder} is on a read-only file system`);
  });

  it('says in a sentence that a file is where the folder should be', () => {
    const file = join(folder, 'data');
    writeFileSync(file, '');
    expect(start(file)).toContain(`${file} is in the way`);
    expect(start(join(file, 'below'))).toContain('is in the way');
  });
});

describe('what a file system refuses', () => {
  it.each(['ENOSPC', 'EDQUOT', 'EROFS', 'EACCES', 'EPERM', 'ENOTDIR', 'EISDIR', 'EEXIST'])(
    'is a sentence: %s',
    (code) => {
      const text = describeFailure(Object.assign(new Error(`${code}: something`), { code, path: '/a/folder' }));
      expect(text).toMatch(/^[^\n.]*\/a\/folder[^\n]*\(for the data: DATA_DIR\)\.$/);
      expect(text).not.toContain(code);
    },
  );

  it('is found in what other programs print, where they speak of the disk', () => {
    const full = 'FATAL: could not write to file "pg_wal/xlogtemp.9": No space left on device\nchild process exited';
    expect(diskRefusalIn(full, '/data')).toContain('no room left on the disk of /data');
    expect(diskRefusalIn('ERROR: permission denied for table boards', '/data')).toBeNull();
  });
});
