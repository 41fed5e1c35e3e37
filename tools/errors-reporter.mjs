import { writeFileSync } from 'node:fs';

/**
 * A reporter of vitest: writes the errors outside of all tests, which its JSON report leaves out, to `ERRORS_FILE`.
 * @returns what `onTestRunEnd` writes: `{ type, path, test, message, stack }[]`; `path` and `test` are what ran then, or null
 */
export default class ErrorsReporter {
  onTestRunEnd(_modules, errors) {
    const file = process.env.ERRORS_FILE;
    if (file === undefined) return;
    const told = errors.map((error) => ({
      type: error.type ?? error.name ?? 'Error',
      path: error.VITEST_TEST_PATH ?? null,
      test: error.VITEST_TEST_NAME ?? null,
      message: [error.message, error.cause?.message].filter((text) => text !== undefined).join(' '),
      stack: error.stack ?? '',
    }));
    writeFileSync(file, JSON.stringify(told));
  }
}
