import { existsSync, readFileSync } from 'node:fs';
import { isAbsolute, relative, sep } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

/** More files than these did not fail by chance. */
const lookedAtAgainMax = 10;
const failuresNamedMax = 20;
/** What runs processes or asks servers, and may have been given no time; its seeds are the same in both looks. */
const ofProcesses = /^(tools|test\/(browser|client|e2e|faults|integration|operation|property))\/(?!schemathesis)/;

/** Where errors outside of all tests are written, which the report leaves out; see `errors-reporter.mjs`. */
export const errorsFileOf = (reportFile) => `${reportFile}.errors`;

/**
 * The numbers of a run, of vitest's JSON report. A file that cannot be loaded, a hook that fails, and an error outside of
 * all tests count as one failure each; so does a run that ends badly without naming any.
 * @param reportFile where the report is, or would be
 * @param exitCode of vitest
 */
export function summarise(reportFile, exitCode) {
  return countsOf(resultsIn(reportFile), exitCode);
}

/**
 * The failed files that are run once more, alone, before they count as failed: none where something else failed, too.
 * @param reportFile of the whole run
 * @param root the project's folder
 * @returns their paths, with `/`
 */
export function worthAnotherLook(reportFile, root) {
  const failed = resultsIn(reportFile)
    .filter(({ status }) => status === 'failed')
    .map(({ name }) => relative(root, name).split(sep).join('/'));
  const isChance = failed.length <= lookedAtAgainMax && failed.every((path) => ofProcesses.test(path));
  return isChance ? failed : [];
}

/**
 * The numbers of a run whose failed files were run once more; what failed twice has failed.
 * @returns the counts, and `passedAgain`: the names of the tests that failed at first only
 */
export function summariseBoth(reportFile, againFile, exitCodeAgain) {
  const again = resultsIn(againFile);
  const names = new Set(again.map(({ name }) => name));
  const before = resultsIn(reportFile);
  const passedAgain = before
    .filter(({ name }) => names.has(name))
    .flatMap((file) =>
      file.assertionResults.filter(({ status }) => status === 'failed').map((test) => ({ file, test })),
    )
    .filter(({ file, test }) => passedIn(again, file, test))
    .map(({ test }) => test.fullName);
  const kept = before.filter(({ name }) => !names.has(name));
  return { ...countsOf([...kept, ...again], exitCodeAgain), passedAgain };
}

const passedIn = (results, file, { fullName, isOutside }) =>
  results
    .filter(({ name }) => name === file.name)
    .some(({ status, assertionResults }) =>
      isOutside
        ? status === 'passed'
        : assertionResults.some((test) => test.fullName === fullName && test.status === 'passed'),
    );

const readJson = (file) => (existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : null);

/** The files of a report, each with the errors that came outside of all tests while it ran. */
function resultsIn(file) {
  const results = readJson(file)?.testResults ?? [];
  for (const error of readJson(errorsFileOf(file)) ?? []) {
    const name = error.path ?? 'no file';
    let result = results.find((other) => other.name === name);
    if (result === undefined) results.push((result = { name, assertionResults: [] }));
    result.status = 'failed';
    const fullName = `${error.type} outside of all tests${error.test === null ? '' : `, during "${error.test}"`}`;
    const failureMessages = [`${error.message} (${placeIn(error.stack)})`];
    result.assertionResults.push({ fullName, status: 'failed', failureMessages, isOutside: true });
  }
  return results;
}

const placeIn = (stack) => /^ *(at .*)$/m.exec(stack)?.[1] ?? 'no stack';

function countsOf(results, exitCode) {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  for (const file of results) {
    let failedHere = 0;
    for (const { status } of file.assertionResults) {
      if (status === 'passed') counts.passed += 1;
      else if (status === 'failed') failedHere += 1;
      else counts.skipped += 1;
    }
    counts.failed += file.status === 'failed' ? Math.max(failedHere, 1) : failedHere;
  }
  if (counts.failed === 0 && exitCode !== 0) counts.failed = 1;
  return counts;
}

/**
 * What failed, a line each: the file's path, the test's name, and the first line of what it said. A log that is cut to its
 * end still tells it.
 * @param reportFiles later ones replace files of earlier ones
 * @param root the project's folder
 * @param exitCode of the last run
 */
export function failureLines(reportFiles, root, exitCode) {
  const files = new Map(reportFiles.flatMap(resultsIn).map((file) => [file.name, file]));
  const lines = [...files.values()]
    .filter(({ status }) => status === 'failed')
    .flatMap(({ name, message, assertionResults }) => {
      const path = isAbsolute(name) ? relative(root, name).split(sep).join('/') : name;
      const tests = assertionResults.filter(({ status }) => status === 'failed');
      if (tests.length === 0) return [`${path}: ${firstLine(message)}`];
      return tests.map(({ fullName, failureMessages }) => `${path} › ${fullName}: ${firstLine(failureMessages?.[0])}`);
    });
  if (lines.length === 0 && exitCode !== 0) return [`vitest ended with exit code ${exitCode} and named no failure`];
  const more = lines.length > failuresNamedMax ? [`and ${lines.length - failuresNamedMax} more`] : [];
  return [...lines.slice(0, failuresNamedMax), ...more];
}

const firstLine = (text) =>
  stripVTControlCharacters(text ?? '')
    .split('\n', 1)[0]
    .slice(0, 300);

/** The last line of a run. */
export function summaryLine({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed, ${skipped} skipped`;
}
