import { existsSync, readFileSync } from 'node:fs';

/**
 * The numbers of a run, of vitest's JSON report. A file that cannot be loaded, and a hook that fails, count as one
 * failure each; so does a run that ends badly without naming any (an error outside of all tests).
 * @param reportFile where the report is, or would be
 * @param exitCode of vitest
 */
export function summarise(reportFile, exitCode) {
  const report = existsSync(reportFile) ? JSON.parse(readFileSync(reportFile, 'utf8')) : { testResults: [] };
  const counts = { passed: 0, failed: 0, skipped: 0 };
  for (const file of report.testResults) {
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

/** The last line of a run. */
export function summaryLine({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed, ${skipped} skipped`;
}
