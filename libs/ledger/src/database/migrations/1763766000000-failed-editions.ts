import type { MigrationInterface, QueryRunner } from 'typeorm';

export class FailedEditions1763766000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    // Which standings could not be written: final ones of closed windows, and frozen and kept ones of those that are open.
    await runner.query(`ALTER TABLE settlement_failures ADD COLUMN kind text NOT NULL DEFAULT 'final'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DELETE FROM settlement_failures WHERE kind <> 'final'`);
    await runner.query('ALTER TABLE settlement_failures DROP COLUMN kind');
  }
}
