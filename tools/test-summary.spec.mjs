import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { projectRoot } from './build.mjs';
import {
  errorsFileOf,
  failureLines,
  summarise,
  summariseBoth,
  summaryLine,
  worthAnotherLook,
} from './test-summary.mjs';

const files = {
  'fine.spec.mjs': `import { it } from 'vitest'; it('a', () => {}); it('b', () => {}); it.skip('c', () => {}); it.todo('d');`,
  'red.spec.mjs': `import { it, expect } from 'vitest'; it('a', () => {}); it('b', () => expect(1).toBe(2));`,
  'unloadable.spec.mjs': `import './nothing.mjs';`,
  'before.spec.mjs': `import { beforeAll, it } from 'vitest'; beforeAll(() => { throw new Error('no'); }); it('a', () => {});`,
  'after.spec.mjs': `import { afterAll, it } from 'vitest'; afterAll(() => { throw new Error('no'); }); it('a', () => {});`,
  'stray.spec.mjs': `import { it } from 'vitest'; it('a', () => { setTimeout(() => { throw new Error('from nowhere'); }, 1); return new Promise((done) => setTimeout(done, 100)); });`,
};
let folder;

// A real run of vitest in a folder of its own.
function run(names) {
  for (const name of names) writeFileSync(join(folder, name), files[name]);
  const report = join(folder, 'report.json');
  const vitest = join(projectRoot, 'node_modules/vitest/vitest.mjs');
  const ofErrors = join(projectRoot, 'tools/errors-reporter.mjs');
  const reporters = ['--reporter=json', `--reporter=${ofErrors}`, `--outputFile.json=${report}`];
  const args = [vitest, 'run', '--root', folder, ...reporters];
  const env = { PATH: process.env.PATH, HOME: folder, ERRORS_FILE: errorsFileOf(report) };
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

describe('the failures named before it', () => {
  it('tell the file, the test and what it said', () => {
    run(['fine.spec.mjs', 'red.spec.mjs', 'unloadable.spec.mjs', 'before.spec.mjs']);
    const lines = failureLines([join(folder, 'report.json')], folder, 1);
    expect(lines.toSorted()).toEqual([
      'before.spec.mjs: no',
      'red.spec.mjs › b: AssertionError: expected 1 to be 2 // Object.is equality',
      expect.stringMatching(/^unloadable\.spec\.mjs: .*nothing\.mjs/),
    ]);
  });

  it('tell what was thrown outside of all tests, where, and during which', () => {
    run(['fine.spec.mjs', 'stray.spec.mjs']);
    expect(failureLines([join(folder, 'report.json')], folder, 1)).toEqual([
      expect.stringMatching(
        /^stray\.spec\.mjs › Uncaught Exception outside of all tests, during "a": from nowhere \(at .*stray\.spec\.mjs/,
      ),
    ]);
  });

  it('say when vitest ended badly and named none', () => {
    run(['fine.spec.mjs']);
    const report = join(folder, 'report.json');
    expect(failureLines([report], folder, 0)).toEqual([]);
    expect(failureLines([report], folder, 7)).toEqual(['vitest ended with exit code 7 and named no failure']);
  });

  it('are those of the later look where a file had two, and twenty at most', () => {
    const report = (name, tests) => {
      const assertionResults = tests.map((fullName) => ({ fullName, status: 'failed', failureMessages: ['no\nat x'] }));
      const results = [{ name: join(folder, 'a.spec.ts'), status: 'failed', assertionResults }];
      writeFileSync(join(folder, name), JSON.stringify({ testResults: results }));
      return join(folder, name);
    };
    const many = Array.from({ length: 25 }, (_, at) => `test ${at}`);
    const [first, again] = [report('first.json', many), report('again.json', ['test 3'])];
    expect(failureLines([first, again], folder, 1)).toEqual(['a.spec.ts › test 3: no']);
    expect(failureLines([first], folder, 1)).toHaveLength(21);
    expect(failureLines([first], folder, 1).at(-1)).toBe('and 5 more');
  });
});

describe('another look at failed files', () => {
  const reportOf = (name, results) => {
    const file = join(folder, name);
    const testResults = Object.entries(results).map(([path, tests]) => ({
      name: join(folder, path),
      status: Object.values(tests).includes('failed') ? 'failed' : 'passed',
      assertionResults: Object.entries(tests).map(([fullName, status]) => ({ fullName, status })),
    }));
    writeFileSync(file, JSON.stringify({ testResults }));
    return file;
  };
  const flaky = { 'test/e2e/reads.spec.ts': { a: 'passed', b: 'failed' }, 'libs/x.spec.ts': { c: 'passed' } };

  it('is given to files of processes, and to none where something else failed', () => {
    expect(worthAnotherLook(reportOf('one.json', flaky), folder)).toEqual(['test/e2e/reads.spec.ts']);
    const storm = { 'test/property/storm/storm.spec.ts': { a: 'failed' } };
    expect(worthAnotherLook(reportOf('storm.json', storm), folder)).toEqual(['test/property/storm/storm.spec.ts']);
    const start = {
      ...flaky,
      'tools/start.spec.mjs': { c: 'failed' },
      'test/integration/a/b.spec.ts': { d: 'failed' },
    };
    expect(worthAnotherLook(reportOf('start.json', start), folder)).toHaveLength(3);
    const others = ['libs/x.spec.ts', 'test/architecture/sizes.spec.ts', 'test/e2e/schemathesis.spec.ts'];
    for (const other of others) {
      expect(worthAnotherLook(reportOf('two.json', { ...flaky, [other]: { c: 'failed' } }), folder)).toEqual([]);
    }
  });

  it('is given to no more than ten files', () => {
    const many = (count) =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`test/e2e/${at}.spec.ts`, { a: 'failed' }]));
    expect(worthAnotherLook(reportOf('ten.json', many(10)), folder)).toHaveLength(10);
    expect(worthAnotherLook(reportOf('eleven.json', many(11)), folder)).toEqual([]);
  });

  it('counts what passed then as passed and names it, and what failed twice as failed', () => {
    const first = reportOf('first.json', flaky);
    const better = reportOf('better.json', { 'test/e2e/reads.spec.ts': { a: 'passed', b: 'passed' } });
    expect(summariseBoth(first, better, 0)).toEqual({ passed: 3, failed: 0, skipped: 0, passedAgain: ['b'] });
    const same = reportOf('same.json', { 'test/e2e/reads.spec.ts': { a: 'passed', b: 'failed' } });
    expect(summariseBoth(first, same, 1)).toEqual({ passed: 2, failed: 1, skipped: 0, passedAgain: [] });
    expect(summariseBoth(first, join(folder, 'none.json'), 1)).toMatchObject({ failed: 1, passedAgain: [] });
  });

  it('is given to a file of processes for an error outside of all tests, which is not forgotten', () => {
    const path = join(folder, 'test/e2e/reads.spec.ts');
    const report = reportOf('stray.json', { 'test/e2e/reads.spec.ts': { a: 'passed' } });
    const error = { type: 'Unhandled Rejection', path, test: 'a', message: 'closed', stack: '' };
    writeFileSync(errorsFileOf(report), JSON.stringify([error]));
    expect(summarise(report, 1)).toEqual({ passed: 1, failed: 1, skipped: 0 });
    expect(worthAnotherLook(report, folder)).toEqual(['test/e2e/reads.spec.ts']);
    const better = reportOf('better.json', { 'test/e2e/reads.spec.ts': { a: 'passed' } });
    const passedAgain = ['Unhandled Rejection outside of all tests, during "a"'];
    expect(summariseBoth(report, better, 0)).toEqual({ passed: 1, failed: 0, skipped: 0, passedAgain });
    expect(summariseBoth(report, report, 1)).toEqual({ passed: 1, failed: 1, skipped: 0, passedAgain: [] });
    writeFileSync(errorsFileOf(report), JSON.stringify([{ ...error, path: null }]));
    expect(worthAnotherLook(report, folder)).toEqual([]);
  });
});
