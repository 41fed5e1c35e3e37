import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { projectRoot } from './build.mjs';
import { step } from './progress.mjs';

/**
 * Advisories that do not touch this project, by their identifier, each with the reason. One that stands here is shown and
 * passes; every other of the severities below fails the check.
 */
const explained = {};
const failing = ['moderate', 'high', 'critical'];

/** What npm knows of one set of packages, or the reason why it could not be asked. */
function audit(args) {
  const { stdout = '' } = spawnSync('npm', ['audit', '--json', ...args], {
    cwd: projectRoot,
    encoding: 'utf8',
    timeout: 60_000,
    maxBuffer: 32 * 1024 * 1024,
    shell: process.platform === 'win32',
  });
  try {
    const report = JSON.parse(stdout);
    if (report.vulnerabilities !== undefined) return { vulnerabilities: Object.values(report.vulnerabilities) };
    return { unreachable: report.error?.summary || report.message || 'npm audit gave no report' };
  } catch {
    return { unreachable: 'npm audit gave no report' };
  }
}

/** Advisories of a package itself; those that it only has by another package stand there. */
export function advisoriesOf(vulnerabilities) {
  const all = vulnerabilities.flatMap(({ via }) => via.filter((one) => typeof one === 'object'));
  const byId = new Map(
    all.map(({ url = '', source, name, title, severity }) => {
      const id = /GHSA-[\w-]+/.exec(url)?.[0] ?? String(source);
      return [id, { id, name, title, severity }];
    }),
  );
  return [...byId.values()];
}

/** How many advisories fail the check; each is shown. */
export function judge(advisories, reasons = explained) {
  let bad = 0;
  for (const { id, name, title, severity } of advisories) {
    const reason = reasons[id];
    const fails = reason === undefined && failing.includes(severity);
    bad += fails ? 1 : 0;
    step(`${fails ? 'FAILED' : 'ok'}: ${id} ${name} (${severity}): ${title}${reason ? ` - ${reason}` : ''}`);
  }
  return bad;
}

function main() {
  let bad = 0;
  for (const [what, args] of [
    ['what runs in production', ['--omit=dev']],
    ['everything', []],
  ]) {
    const { vulnerabilities, unreachable } = audit(args);
    if (unreachable !== undefined) {
      // Not the fault of the code that is checked: a build must not hang on somebody else's service.
      step(`npm audit of ${what} was not possible: ${unreachable}`);
      continue;
    }
    const advisories = advisoriesOf(vulnerabilities);
    step(`npm audit of ${what}: ${advisories.length} advisories`);
    bad += judge(advisories);
  }
  process.exitCode = bad > 0 ? 1 : 0;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
