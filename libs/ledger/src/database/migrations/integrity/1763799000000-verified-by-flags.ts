import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Whether an `accept` of the flag is what its run is verified by; null: it was decided by a release that did not note it. */
export class VerifiedByFlags1763799000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE flag_runs ADD COLUMN has_verified boolean');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE flag_runs DROP COLUMN has_verified');
  }
}
