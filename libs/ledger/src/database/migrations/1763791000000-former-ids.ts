import type { MigrationInterface, QueryRunner } from 'typeorm';

const STATEMENTS = [
  // The id of a board that was deleted or reset: the next board of that id continues the versions of its lists.
  'ALTER TABLE boards ADD COLUMN former_id text COLLATE "C"',
  'CREATE INDEX boards_by_former_id ON boards (former_id, board_uid) WHERE former_id IS NOT NULL',
];

export class FormerIds1763791000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX boards_by_former_id');
    await runner.query('ALTER TABLE boards DROP COLUMN former_id');
  }
}
