import { readFileSync } from 'node:fs';

/** Bytes of memory that a process has in RAM, of its own and shared. Linux only. */
export function residentBytesOf(pid: number): number {
  const [, kibibytes] = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  if (kibibytes === undefined) throw new Error(`/proc/${pid}/status says no VmRSS.`);
  return Number(kibibytes) * 1024;
}

/** Milliseconds of a clock that all processes of this machine share. */
export const sharedMs = (): number => Number(process.hrtime.bigint()) / 1e6;
