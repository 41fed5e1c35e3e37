import { readdirSync, readFileSync } from 'node:fs';

/** Linux counts CPU time in hundredths of a second. */
const TICKS_PER_SECOND = 100;

/** Seconds of CPU that a process and its descendants, the ended ones included, have used so far. Linux only. */
export function cpuSecondsOf(pid) {
  const parents = new Map();
  const ticks = new Map();
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    let stat;
    try {
      stat = readFileSync(`/proc/${name}/stat`, 'utf8');
    } catch {
      continue;
    }
    // The command, in parentheses, may hold spaces.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    parents.set(Number(name), Number(fields[1]));
    const [user, system, childrenUser, childrenSystem] = fields.slice(11, 15).map(Number);
    ticks.set(Number(name), user + system + childrenUser + childrenSystem);
  }
  const isBelow = (one) => one === pid || (parents.has(one) && parents.get(one) > 1 && isBelow(parents.get(one)));
  let sum = 0;
  for (const [one, used] of ticks) if (isBelow(one)) sum += used;
  return sum / TICKS_PER_SECOND;
}

/** Seconds that all CPUs of the machine together have worked so far, for whomever. Linux only. */
export function machineCpuSeconds() {
  const [line] = readFileSync('/proc/stat', 'utf8').split('\n');
  const [user, nice, system, , , irq, softirq] = line.trim().split(/\s+/).slice(1).map(Number);
  return (user + nice + system + irq + softirq) / TICKS_PER_SECOND;
}
