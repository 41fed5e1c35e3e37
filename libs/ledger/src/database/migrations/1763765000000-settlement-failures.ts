import type { MigrationInterface, QueryRunner } from 'typeorm';

export class SettlementFailures1763765000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    // Closed windows whose standings could not be written at the last try; the row goes when they are.
    await runner.query(`CREATE TABLE settlement_failures (
      window_uid integer PRIMARY KEY REFERENCES windows ON DELETE CASCADE,
      failures integer NOT NULL,
      error text NOT NULL,
      failed_at timestamptz NOT NULL,
      retry_at timestamptz NOT NULL)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE settlement_failures');
  }
}
