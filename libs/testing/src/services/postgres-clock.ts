import pg from 'pg';

/**
 * The ledger's clock in a test's hands: the service asks `ladder_now()` of the database, and this is what it says.
 * The database must have been migrated. Other clocks (of the processes, of Redis) go on as they are.
 */
export class DatabaseClock {
  private constructor(private readonly client: pg.Client) {}

  static async of(databaseUrl: string): Promise<DatabaseClock> {
    const client = new pg.Client({ connectionString: databaseUrl });
    await client.connect();
    await client.query(`
      CREATE TABLE IF NOT EXISTS test_clock (shift interval NOT NULL, stopped_at timestamptz);
      INSERT INTO test_clock SELECT '0', NULL WHERE NOT EXISTS (SELECT FROM test_clock);
      CREATE OR REPLACE FUNCTION ladder_now() RETURNS timestamptz LANGUAGE sql VOLATILE
        AS 'SELECT coalesce(stopped_at, clock_timestamp() + shift) FROM test_clock'`);
    return new DatabaseClock(client);
  }

  /** From now on it is this time (Unix ms), and stays so. */
  async stopAt(ms: number): Promise<void> {
    await this.client.query('UPDATE test_clock SET stopped_at = to_timestamp($1::float8 / 1000)', [ms]);
  }

  /** It is this time now (Unix ms), and goes on from there. */
  async goOnFrom(ms: number): Promise<void> {
    await this.client.query(
      'UPDATE test_clock SET stopped_at = NULL, shift = to_timestamp($1::float8 / 1000) - clock_timestamp()',
      [ms],
    );
  }

  async nowMs(): Promise<number> {
    const { rows } = await this.client.query<{ ms: string }>(
      'SELECT (extract(epoch FROM ladder_now()) * 1000)::bigint AS ms',
    );
    return Number(rows[0]!.ms);
  }

  async close(): Promise<void> {
    await this.client.end();
  }
}
