import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { PostgresDatabase, type SqlRunner } from '../database/postgres-database.js';

/** A lease that was given: its epoch is higher than that of every holder before. */
export interface Lease {
  name: string;
  holder: string;
  epoch: number;
}

/**
 * Leases as rows of PostgreSQL, on its clock: at most one holder of a name at a time, and every change of hands, or
 * lapse, has a higher epoch. What a holder writes elsewhere is fenced by that epoch.
 */
@Injectable()
export class PostgresLeases {
  /** The name of this process among the holders. */
  readonly holder: string = randomUUID();

  constructor(@Inject(PostgresDatabase) private readonly database: SqlRunner) {}

  /** The lease, or null while another holds it. Asking again for what one holds prolongs it under the same epoch. */
  async acquire(name: string, holder: string, ttlMs: number): Promise<Lease | null> {
    const [row] = await this.database.query<{ epoch: number }>(
      `INSERT INTO leases AS held (name, holder, epoch, expires_at)
       VALUES ($1, $2, 1, ladder_now() + $3::float8 * interval '1 millisecond')
       ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, expires_at = excluded.expires_at,
         epoch = held.epoch + CASE WHEN held.holder = excluded.holder AND held.expires_at > ladder_now() THEN 0 ELSE 1 END
       WHERE held.holder = excluded.holder OR held.expires_at <= ladder_now()
       RETURNING epoch`,
      [name, holder, ttlMs],
    );
    return row ? { name, holder, epoch: row.epoch } : null;
  }

  /** Prolongs a lease; false when it lapsed or went to another. */
  async renew(lease: Lease, ttlMs: number): Promise<boolean> {
    const rows = await this.database.query(
      `UPDATE leases SET expires_at = ladder_now() + $4::float8 * interval '1 millisecond'
       WHERE name = $1 AND holder = $2 AND epoch = $3 AND expires_at > ladder_now() RETURNING epoch`,
      [lease.name, lease.holder, lease.epoch, ttlMs],
    );
    return rows.length > 0;
  }

  /** Lets others have it at once. The row stays, so that epochs go on growing. */
  async release(lease: Lease): Promise<void> {
    await this.database.query(
      `UPDATE leases SET expires_at = ladder_now() WHERE name = $1 AND holder = $2 AND epoch = $3`,
      [lease.name, lease.holder, lease.epoch],
    );
  }

  /** Who holds which of these names now. */
  async holders(names: readonly string[]): Promise<{ name: string; holder: string }[]> {
    return this.database.query(
      'SELECT name, holder FROM leases WHERE name = ANY($1::text[]) AND expires_at > ladder_now()',
      [names],
    );
  }
}
