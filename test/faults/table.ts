import { appendFileSync } from 'node:fs';
import { onTestFinished } from 'vitest';

/** What one scenario tried, and what was lost. */
export interface FaultRow {
  fault: string;
  log: string;
  tried: string;
  answered: number;
  lost: number;
  doubled: number;
  boards: number;
  spectators: number;
  /** Reads that were answered, and that were refused with 503, of all kinds. */
  reads?: number;
  refused?: number;
  /** From the end of the load to every board and spectator being whole. */
  wholeAfterSeconds: number;
}

/** A scenario that failed: what the table had of it before holds no more. */
export type FailedFault = Pick<FaultRow, 'fault' | 'log'> & { failed: true };

/** Adds a row to the table that `npm run test:faults` prints once the running test has passed. */
export function record(row: FaultRow): void {
  onTestFinished(({ task }) => {
    if (task.result?.state === 'pass') add(row);
  });
}

/** Notes that the fault failed, should the running test not pass. */
export function recordFailureOf(fault: string, log: string): void {
  onTestFinished(({ task }) => {
    if (task.result?.state !== 'pass') add({ fault, log, failed: true });
  });
}

function add(row: FaultRow | FailedFault): void {
  const line = JSON.stringify(row);
  if (process.env.FAULTS_TABLE) appendFileSync(process.env.FAULTS_TABLE, `${line}\n`);
  process.stderr.write(`${line}\n`);
}
