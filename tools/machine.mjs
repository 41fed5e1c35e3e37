import { execFileSync } from 'node:child_process';
import { cpus, loadavg, totalmem } from 'node:os';

/**
 * What figures are measured on: they mean nothing without it.
 * @param {string} root
 */
export function machineOf(root) {
  let commit = 'unknown';
  try {
    /** @param {string[]} args */
    const git = (...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
    // A page that figures are written on changes none of them.
    const changes = git('status', '--porcelain', '--', '.', ':!docs');
    commit = git('rev-parse', '--short=12', 'HEAD') + (changes === '' ? '' : ' and changes');
  } catch {
    // A tree without its history.
  }
  const [load = 0] = loadavg();
  return {
    at: new Date().toISOString(),
    commit,
    machine: `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}, ${Math.round(totalmem() / 2 ** 30)} GiB`,
    load,
    node: process.versions.node,
  };
}
