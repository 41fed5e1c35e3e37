import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Whether an `accept` of the flag is what its run is verified by. */
export class VerifiedByFlags1763799000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE flag_runs ADD COLUMN has_verified boolean NOT NULL DEFAULT false');
    // Of flags that were accepted before nobody knows: they take it back, as they did.
    await runner.query(
      `UPDATE flag_runs r SET has_verified = true FROM flags f
       WHERE f.flag_id = r.flag_id AND (f.decision = 'accept' OR f.acted_to IS NOT NULL AND 'accept' = ANY (f.stood || f.also_stood))`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE flag_runs DROP COLUMN has_verified');
  }
}
