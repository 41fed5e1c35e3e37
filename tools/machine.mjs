import { execFileSync } from 'node:child_process';
import { cpus, loadavg, totalmem } from 'node:os';

/** What figures are measured on: they mean nothing without it. */
export function machineOf(root) {
  let commit = 'unknown';
  try {
    const git = (...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
    commit = git('rev-parse', '--short=12', 'HEAD') + (git('status', '--porcelain') === '' ? '' : ' and changes');
  } catch {
    // A tree without its history.
  }
  return {
    at: new Date().toISOString(),
    commit,
    machine: `${cpus().length} × ${cpus()[0].model}, ${Math.round(totalmem() / 2 ** 30)} GiB`,
    load: loadavg()[0],
    node: process.versions.node,
  };
}
