import type { MigrationInterface, QueryRunner } from 'typeorm';

const STATEMENTS = [
  // Revisions of all templates, so that one that is made again under an id has none of those before.
  'CREATE SEQUENCE board_template_revisions',
  `CREATE TABLE board_templates (
    template_id text COLLATE "C" PRIMARY KEY,
    revision bigint NOT NULL DEFAULT nextval('board_template_revisions'),
    definition jsonb NOT NULL,
    boards jsonb NOT NULL)`,
  // { id, overrides, byHand }; null: the board is of no template.
  'ALTER TABLE boards ADD COLUMN template jsonb',
  `CREATE INDEX boards_by_template ON boards ((template ->> 'id')) WHERE template IS NOT NULL AND board_id IS NOT NULL`,
];

export class BoardTemplates1763784500000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX boards_by_template');
    await runner.query('ALTER TABLE boards DROP COLUMN template');
    await runner.query('DROP TABLE board_templates');
    await runner.query('DROP SEQUENCE board_template_revisions');
  }
}
