import type { MigrationInterface, QueryRunner } from 'typeorm';

/** How many tries of a run that waits for a rule failed by themselves, beside all tries. */
export class FailuresOfRules1763797000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE rule_examinations ADD COLUMN failures integer NOT NULL DEFAULT 0');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE rule_examinations DROP COLUMN failures');
  }
}
