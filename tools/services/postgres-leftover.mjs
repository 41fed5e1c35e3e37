import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { commandLineOf, identityOf, stopProcess } from '../process-identity.mjs';
import { step } from '../progress.mjs';

const waitMs = 10_000;

/**
 * Makes way for a server on the cluster: stops one that was left running on it, and removes the note (postmaster.pid)
 * of one that died, where PostgreSQL itself would still take it for alive: its pid is a zombie, or somebody else's now.
 * @param signals as for `stopProcess`
 */
export async function clearForgotten(cluster, signals) {
  const file = join(cluster, 'postmaster.pid');
  if (!existsSync(file)) return;
  const lines = readFileSync(file, 'utf8').split('\n');
  const pid = Number.parseInt(lines[0], 10);
  const identity = identityOf(pid);
  if (identity !== null && commandLineOf(pid).includes(cluster)) {
    step(`Stopping the PostgreSQL (pid ${pid}) that still runs on ${cluster}`);
    await stopProcess({ pid, identity }, signals);
    return;
  }
  if (!(await seemsAlive(pid))) return;
  // Children of a postmaster that was killed end by themselves; until then they hold its shared memory.
  const sharedMemoryId = lines[6]?.trim().split(/\s+/)[1];
  const deadlineMs = Date.now() + waitMs;
  while (Date.now() < deadlineMs) {
    if (attachedTo(sharedMemoryId) === 0) return rmSync(file, { force: true });
    await sleep(100);
  }
}

/** Whether the pid is taken after a moment, in which whoever inherits a zombie may bury it. */
async function seemsAlive(pid) {
  const deadlineMs = Date.now() + 2_000;
  while (Date.now() < deadlineMs) {
    try {
      process.kill(pid, 0);
    } catch (error) {
      if (error.code === 'ESRCH') return false;
    }
    await sleep(100);
  }
  return true;
}

/** How many processes hold the segment; `null` where that cannot be told. */
function attachedTo(sharedMemoryId) {
  if (sharedMemoryId === undefined || !existsSync('/proc/sysvipc/shm')) return null;
  const [, ...rows] = readFileSync('/proc/sysvipc/shm', 'utf8').trim().split('\n');
  const row = rows.map((line) => line.trim().split(/\s+/)).find((columns) => columns[1] === sharedMemoryId);
  return row === undefined ? 0 : Number(row[6]);
}
