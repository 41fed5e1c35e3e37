import { appendFileSync } from 'node:fs';

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

/** Adds a row to the table that `npm run test:faults` prints, and shows it at once. */
export function record(row: FaultRow): void {
  const line = JSON.stringify(row);
  if (process.env.FAULTS_TABLE) appendFileSync(process.env.FAULTS_TABLE, `${line}\n`);
  process.stderr.write(`${line}\n`);
}
