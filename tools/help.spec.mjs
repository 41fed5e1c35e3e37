import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { projectRoot } from './build.mjs';

const { scripts } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8'));
const ours = Object.entries(scripts).filter(([, command]) => command.startsWith('node tools/'));
const calls = ours.flatMap(([name, command]) => ['--help', '-h'].map((option) => [name, option, command]));

let folder;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'help-spec-'))));
afterEach(() => rmSync(folder, { recursive: true }));

describe('every script of ours', () => {
  it('is looked at below', () => {
    const names = ['start', 'test', 'test:faults', 'test:soak', 'demo', 'bench', 'profile', 'build', 'generate'];
    expect(ours.map(([name]) => name)).toEqual(expect.arrayContaining(names));
  });

  it.each(calls)('%s %s prints how it is called, and begins nothing', (name, option, command) => {
    const dataDir = join(folder, 'data');
    const result = spawnSync(process.execPath, [...command.split(' ').slice(1), option], {
      cwd: projectRoot,
      // Where it begins something it finds no npm, and the services that it is told of are not there.
      env: { PATH: '', TMPDIR: folder, DATA_DIR: dataDir, DATABASE_URL: 'postgres://127.0.0.1:1/x' },
      encoding: 'utf8',
      timeout: 150_000,
    });
    expect(result.stderr).toBe('');
    expect(result.status).toBe(0);
    expect(result.stdout).toContain(/^(start|test)$/.test(name) ? `npm ${name}` : `npm run ${name}`);
    expect(result.stdout).toContain(' --');
    expect(result.stdout).not.toContain('[laddercast]');
    expect(existsSync(dataDir)).toBe(false);
  });
});
