import type { MigrationInterface, QueryRunner } from 'typeorm';

const STATEMENTS = [
  // Of boards with decay: the patch as which the run counts; null on others, and of what takes an entry away.
  'ALTER TABLE runs ADD COLUMN patch_uid integer',
  // As entries.patch_runs, of what is no longer kept as runs.
  'ALTER TABLE run_bases ADD COLUMN patch_runs jsonb',
];

export class RunsOfPatches1763785000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE run_bases DROP COLUMN patch_runs');
    await runner.query('ALTER TABLE runs DROP COLUMN patch_uid');
  }
}
