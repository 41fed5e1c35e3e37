import type { MigrationInterface, QueryRunner } from 'typeorm';

const STATEMENTS = [
  // The generations of a board's lists in the projection: see `Layouts`.
  `ALTER TABLE boards ADD COLUMN layouts jsonb`,
  `UPDATE boards SET layouts = jsonb_build_object(
    'serving', jsonb_build_object(
      'generation', 1,
      'sharding', coalesce(definition -> 'sharding', '{"by": "hash", "count": 1}'),
      'dense', false,
      'versions', '{"base": 0, "floor": 0}'::jsonb),
    'opening', null,
    'retiring', null)`,
  `ALTER TABLE boards ALTER COLUMN layouts SET NOT NULL`,
];

export class LayoutsAndLimits1763740000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE boards DROP COLUMN layouts');
  }
}
