import { readdirSync, readFileSync } from 'node:fs';

/** Linux counts CPU time in hundredths of a second. */
const TICKS_PER_SECOND = 100;

/** Seconds of CPU that a process and its descendants, the ended ones included, have used so far. Linux only. */
export function cpuSecondsOf(pid: number): number {
  const parents = new Map<number, number>();
  const ticks = new Map<number, number>();
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    let stat: string;
    try {
      stat = readFileSync(`/proc/${name}/stat`, 'utf8');
    } catch {
      continue;
    }
    // The command, in parentheses, may hold spaces.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    parents.set(Number(name), Number(fields[1]));
    // In user and kernel mode, of its own and of its children that ended.
    ticks.set(Number(name), sumOf(fields.slice(11, 15)));
  }
  const isBelow = (one: number): boolean => {
    if (one === pid) return true;
    const parent = parents.get(one) ?? 0;
    return parent > 1 && isBelow(parent);
  };
  let sum = 0;
  for (const [one, used] of ticks) if (isBelow(one)) sum += used;
  return sum / TICKS_PER_SECOND;
}

/** Seconds that all CPUs of the machine together have worked so far, for whomever. Linux only. */
export function machineCpuSeconds(): number {
  const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n');
  const fields = line.trim().split(/\s+/).slice(1);
  // user, nice, system, (idle, waiting for disks), irq, softirq
  return sumOf([...fields.slice(0, 3), ...fields.slice(5, 7)]) / TICKS_PER_SECOND;
}

const sumOf = (fields: readonly string[]): number => fields.reduce((sum, field) => sum + Number(field), 0);
