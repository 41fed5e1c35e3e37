import { Inject, Injectable } from '@nestjs/common';
import { PostgresDatabase, type SqlRunner } from '../database/postgres-database.js';

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

/** An act as it is read: `at` in RFC 3339, ids grow. */
export interface ListedAuditRecord extends AuditRecord {
  auditId: number;
  at: string;
}

/** Which acts; all of those given must hold, each as a whole. */
export type AuditFilter = Partial<Pick<AuditRecord, 'actor' | 'action' | 'subject'>>;

/**
 * Writes what was done in the transaction that does it: neither is there without the other.
 * @returns the record's id
 */
export async function recordAudit(
  transaction: SqlRunner,
  { actor, action, subject, details }: AuditRecord,
): Promise<number> {
  const [row] = await transaction.query<{ auditId: number }>(
    'INSERT INTO audit_log (actor, action, subject, details) VALUES ($1, $2, $3, $4) RETURNING audit_id AS "auditId"',
    [actor, action, subject, JSON.stringify(details)],
  );
  return row!.auditId;
}

/** The id of the newest record of what was done to a subject; null: there is none. */
export async function lastAuditId(transaction: SqlRunner, subject: string): Promise<number | null> {
  const [row] = await transaction.query<{ auditId: number }>(
    'SELECT audit_id AS "auditId" FROM audit_log WHERE subject = $1 ORDER BY audit_id DESC LIMIT 1',
    [subject],
  );
  return row?.auditId ?? null;
}

/** What operators did. Rows are only ever added. */
@Injectable()
export class AuditLog {
  constructor(@Inject(PostgresDatabase) private readonly database: SqlRunner) {}

  /** The newest acts, at most `limit` with ids below `beforeId` (null: from the newest on). */
  async list(filter: AuditFilter, limit: number, beforeId: number | null): Promise<ListedAuditRecord[]> {
    const parameters: unknown[] = [limit];
    const conditions = Object.entries({ actor: filter.actor, action: filter.action, subject: filter.subject })
      .filter(([, value]) => value !== undefined)
      .map(([column, value]) => `${column} = $${parameters.push(value)}`);
    if (beforeId !== null) conditions.push(`audit_id < $${parameters.push(beforeId)}`);
    const rows = await this.database.query<ListedAuditRecord & { at: Date }>(
      `SELECT audit_id AS "auditId", at, actor, action, subject, details FROM audit_log
       ${conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : ''} ORDER BY audit_id DESC LIMIT $1`,
      parameters,
    );
    return rows.map((row) => ({ ...row, at: row.at.toISOString() }));
  }
}
