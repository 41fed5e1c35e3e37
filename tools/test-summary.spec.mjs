import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { projectRoot } from './build.mjs';
import { summarise, summaryLine } from './test-summary.mjs';

const files = {
  'fine.spec.mjs': `import { it } from 'vitest'; it('a', () => {}); it('b', () => {}); it.skip('c', () => {}); it.todo('d');`,
  'red.spec.mjs': `import { it, expect } from 'vitest'; it('a', () => {}); it('b', () => expect(1).toBe(2));`,
  'unloadable.spec.mjs': `import './nothing.mjs';`,
  'before.spec.mjs': `import { beforeAll, it } from 'vitest'; beforeAll(() => { throw new Error('no'); }); it('a', () => {});`,
  'after.spec.mjs': `import { afterAll, it } from 'vitest'; afterAll(() => { throw new Error('no'); }); it('a', () => {});`,
  'stray.spec.mjs': `import { it } from 'vitest'; it('a', () => { setTimeout(() => { throw new Error('stray'); }, 1); return new Promise((done) => setTimeout(done, 100)); });`,
};
let folder;

// A real run of vitest in a folder of its own.
function run(names) {
  for (const name of names) writeFileSync(join(folder, name), files[name]);
  const report = join(folder, 'report.json');
  const vitest = join(projectRoot, 'node_modules/vitest/vitest.mjs');
  const args = [vitest, 'run', '--root', folder, '--reporter=json', `--outputFile.json=${report}`];
  const env = { PATH: process.env.PATH, HOME: folder };
  const { status } = spawnSync(process.execPath, args, { cwd: folder, env, stdio: 'ignore', timeout: 120_000 });
  return summaryLine(summarise(report, status));
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'summary-spec-'));
  symlinkSync(join(projectRoot, 'node_modules'), join(folder, 'node_modules'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('the last line of npm test', () => {
  it('counts tests that passed and were skipped', () => {
    expect(run(['fine.spec.mjs'])).toBe('2 passed, 0 failed, 2 skipped');
  });

  it('counts failed tests, files that cannot be loaded and hooks that fail', () => {
    const all = ['fine.spec.mjs', 'red.spec.mjs', 'unloadable.spec.mjs', 'before.spec.mjs', 'after.spec.mjs'];
    expect(run(all)).toBe('4 passed, 4 failed, 3 skipped');
  });

  it('counts an error outside of all tests as a failure', () => {
    expect(run(['stray.spec.mjs'])).toBe('1 passed, 1 failed, 0 skipped');
  });

  it('is a failure when nothing was reported at all', () => {
    expect(summaryLine(summarise(join(folder, 'none.json'), 1))).toBe('0 passed, 1 failed, 0 skipped');
  });
});
