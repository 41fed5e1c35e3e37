import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { codeOf } from './problem.mjs';

/** @typedef {[signal: NodeJS.Signals, waitMs: number]} StopSignal a signal, and how long it may take to work */

/**
 * A text that no other process on this machine has, also after the pid was given to another one; `null` when the
 * process is gone (or is a zombie, which holds nothing any more).
 * @param {number | undefined} pid
 */
export function identityOf(pid) {
  if (pid === undefined || !Number.isInteger(pid) || pid <= 0) return null;
  if (process.platform !== 'linux') return identityByPs(pid);
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const bootId = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return fields[0] === 'Z' || fields[0] === 'X' ? null : `${bootId}/${fields[19]}`;
  } catch {
    return null;
  }
}

/**
 * The time of the start, in one language and zone whoever asks.
 * @param {number} pid
 */
function identityByPs(pid) {
  const env = { ...process.env, LC_ALL: 'C', TZ: 'UTC' };
  const { status, stdout } = spawnSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], { encoding: 'utf8', env });
  const line = (stdout ?? '').trim();
  return status !== 0 || line === '' || line.startsWith('Z') ? null : line.replace(/^\S+\s+/, '');
}

/**
 * The command line of a process, or an empty text when it is gone.
 * @param {number} pid
 */
export function commandLineOf(pid) {
  if (process.platform !== 'linux') {
    return spawnSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' }).stdout?.trim() ?? '';
  }
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
  } catch {
    return '';
  }
}

/**
 * Stops a process by signals of growing force, each with its time to work.
 * @param {{ pid: number, identity: string | null, group?: boolean }} target nothing is sent once the identity has changed;
 *   `group` sends to the process group that it leads
 * @param {StopSignal[]} signals
 * @returns whether it is gone
 */
export async function stopProcess({ pid, identity, group = false }, signals) {
  for (const [signal, waitMs] of signals) {
    if (identityOf(pid) !== identity) return true;
    try {
      process.kill(group ? -pid : pid, signal);
    } catch (error) {
      if (codeOf(error) !== 'ESRCH') throw error;
    }
    const deadlineMs = Date.now() + waitMs;
    while (Date.now() < deadlineMs) {
      if (identityOf(pid) !== identity) return true;
      await sleep(25);
    }
  }
  return identityOf(pid) !== identity;
}
