import { randomUUID } from 'node:crypto';
import { sleep } from '@laddercast/platform';
import { Inject, Injectable } from '@nestjs/common';
import { PostgresDatabase, type SqlRunner } from '../database/postgres-database.js';
import { prepared } from '../database/postgres-statements.js';

/** A lease that was given: its epoch is higher than that of every holder before. */
export interface Lease {
  name: string;
  holder: string;
  epoch: number;
}

/** Who has a lease. */
export type LeaseHolder = Pick<Lease, 'name' | 'holder'>;

/** How long a renewal waits for others of this process, to go in one statement with them. */
const GATHER_MS = 10;

const RENEW = prepared(`
  UPDATE leases AS held SET expires_at = ladder_now() + asked.ttl_ms * interval '1 millisecond'
  FROM unnest($1::text[], $2::text[], $3::bigint[], $4::float8[]) AS asked (name, holder, epoch, ttl_ms)
  WHERE held.name = asked.name AND held.holder = asked.holder AND held.epoch = asked.epoch
    AND held.expires_at > ladder_now()
  RETURNING held.name, held.epoch`);

/**
 * Leases as rows of PostgreSQL, on its clock: at most one holder of a name at a time, and every change of hands, or
 * lapse, has a higher epoch. What a holder writes elsewhere is fenced by that epoch.
 */
@Injectable()
export class PostgresLeases {
  /** The name of this process among the holders. */
  readonly holder: string = randomUUID();

  /** What waits for the next statement: each lease of this process at most once in a while. */
  private asked: { lease: Lease; ttlMs: number }[] = [];
  private renewing: Promise<ReadonlyMap<string, number>> | null = null;

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

  /**
   * Prolongs a lease; false when it lapsed or went to another. What is asked for within some milliseconds goes to
   * PostgreSQL in one statement, and fails with it.
   */
  async renew(lease: Lease, ttlMs: number): Promise<boolean> {
    this.asked.push({ lease, ttlMs });
    const renewed = await (this.renewing ??= this.renewAsked());
    return renewed.get(lease.name) === lease.epoch;
  }

  /** Lets others have it at once. The row stays, so that epochs go on growing. */
  async release(lease: Lease): Promise<void> {
    await this.database.query(
      `UPDATE leases SET expires_at = ladder_now() WHERE name = $1 AND holder = $2 AND epoch = $3`,
      [lease.name, lease.holder, lease.epoch],
    );
  }

  /** Who holds which of these names now. */
  async holders(names: readonly string[]): Promise<LeaseHolder[]> {
    return this.database.query(
      'SELECT name, holder FROM leases WHERE name = ANY($1::text[]) AND expires_at > ladder_now()',
      [names],
    );
  }

  /** The epochs of what was renewed, by name: a name has one epoch at a time, whoever asked. */
  private async renewAsked(): Promise<ReadonlyMap<string, number>> {
    await sleep(GATHER_MS);
    const { asked } = this;
    [this.asked, this.renewing] = [[], null];
    const rows = await this.database.query<{ name: string; epoch: number }>(RENEW, [
      asked.map(({ lease }) => lease.name),
      asked.map(({ lease }) => lease.holder),
      asked.map(({ lease }) => lease.epoch),
      asked.map(({ ttlMs }) => ttlMs),
    ]);
    return new Map(rows.map(({ name, epoch }) => [name, epoch]));
  }
}
