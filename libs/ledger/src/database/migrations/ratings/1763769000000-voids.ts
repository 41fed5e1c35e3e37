import type { MigrationInterface, QueryRunner } from 'typeorm';

const STATEMENTS = [
  // void_position: of the event that made the game void, whether or not the pool is rated up to it. null: it counts.
  `ALTER TABLE games ADD COLUMN void_position bigint, ADD COLUMN void_mode text, ADD COLUMN void_reason text`,
  // Of the event after which the change was computed again; null: it is as the game made it.
  `ALTER TABLE rating_changes ADD COLUMN recomputed_by bigint`,
];

export class Voids1763769000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE rating_changes DROP COLUMN recomputed_by');
    await runner.query('ALTER TABLE games DROP COLUMN void_position, DROP COLUMN void_mode, DROP COLUMN void_reason');
  }
}
