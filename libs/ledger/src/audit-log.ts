import type { SqlRunner } from './postgres-database.js';

/** One act of an operator. */
export interface AuditRecord {
  /** The id of the key that acted. */
  actor: string;
  /** `board.reset`, `entry.remove`, … */
  action: string;
  /** What it was done to. */
  subject: string;
  details: object;
}

/** Writes what was done in the transaction that does it: neither is there without the other. */
export async function recordAudit(
  transaction: SqlRunner,
  { actor, action, subject, details }: AuditRecord,
): Promise<void> {
  await transaction.query('INSERT INTO audit_log (actor, action, subject, details) VALUES ($1, $2, $3, $4)', [
    actor,
    action,
    subject,
    JSON.stringify(details),
  ]);
}
