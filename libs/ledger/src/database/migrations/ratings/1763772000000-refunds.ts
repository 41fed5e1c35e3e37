import type { MigrationInterface, QueryRunner } from 'typeorm';

const STATEMENTS = [
  `UPDATE pools SET definition = definition || '{"onVoid": "recompute"}'`,
  // All points that voids gave back.
  'ALTER TABLE pools ADD COLUMN refunded float8 NOT NULL DEFAULT 0',
  // A change that no game made, but a void: so many points of the game at game_position; it has no outcome.
  'ALTER TABLE rating_changes ADD COLUMN refund float8',
  'ALTER TABLE rating_changes ALTER COLUMN expected DROP NOT NULL, ALTER COLUMN outcome DROP NOT NULL',
  'CREATE INDEX rating_refunds ON rating_changes (pool_uid, player_id, position) WHERE refund IS NOT NULL',
];

export class Refunds1763772000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX rating_refunds');
    await runner.query('DELETE FROM rating_changes WHERE refund IS NOT NULL');
    await runner.query(
      'ALTER TABLE rating_changes ALTER COLUMN expected SET NOT NULL, ALTER COLUMN outcome SET NOT NULL',
    );
    await runner.query('ALTER TABLE rating_changes DROP COLUMN refund');
    await runner.query('ALTER TABLE pools DROP COLUMN refunded');
    await runner.query(`UPDATE pools SET definition = definition - 'onVoid'`);
  }
}
