import type { SqlRunner } from './postgres-database.js';

/** Who acted: a key by its id. */
interface Actor {
  kind: string;
  keyId?: string;
}

/** What operators did, for good. */
export class AuditLog {
  constructor(private readonly database: SqlRunner) {}

  async record(actor: Actor, action: string, subject: string, details: object): Promise<void> {
    await this.database.query('INSERT INTO audit_log (actor, action, subject, details) VALUES ($1, $2, $3, $4)', [
      actor.keyId ?? actor.kind,
      action,
      subject,
      JSON.stringify(details),
    ]);
  }
}
