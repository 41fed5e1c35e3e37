import type { MigrationInterface, QueryRunner } from 'typeorm';

const STATEMENTS = [
  // Of the run that the entry rested on when the standings were written; null: of none that was kept.
  `ALTER TABLE standings ADD COLUMN verified boolean, ADD COLUMN proof text`,
  // As in entries.
  `ALTER TABLE frozen_entries ADD COLUMN run_position bigint`,
];

export class VerifiedRows1763775500000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE frozen_entries DROP COLUMN run_position');
    await runner.query('ALTER TABLE standings DROP COLUMN verified, DROP COLUMN proof');
  }
}
