import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The rows stay where they are, as the first partition. It holds every position, so PostgreSQL looks at none of them; the next
 * one is begun by projectors (position-partitions.ts), which know by its name when this one was.
 */
const PARTITION = `DO $$
  DECLARE first text := 'rating_changes_' || to_char(ladder_now() AT TIME ZONE 'UTC', 'YYYYMMDD');
  BEGIN
    EXECUTE format('ALTER TABLE rating_changes RENAME TO %I', first);
    EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING ALL) PARTITION BY RANGE (position)', 'rating_changes', first);
    EXECUTE format('ALTER TABLE rating_changes ATTACH PARTITION %I FOR VALUES FROM (MINVALUE) TO (MAXVALUE)', first);
  END $$`;

export class ChangePartitions1763776000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(PARTITION);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('CREATE TABLE whole_changes (LIKE rating_changes INCLUDING DEFAULTS INCLUDING CONSTRAINTS)');
    await runner.query('INSERT INTO whole_changes SELECT * FROM rating_changes');
    await runner.query('DROP TABLE rating_changes');
    await runner.query('ALTER TABLE whole_changes RENAME TO rating_changes');
    await runner.query('ALTER TABLE rating_changes ADD PRIMARY KEY (pool_uid, player_id, position)');
    await runner.query(
      `CREATE INDEX rating_changes_of_games ON rating_changes (pool_uid, player_id, game_position)
        WHERE game_position IS NOT NULL`,
    );
    await runner.query(
      'CREATE INDEX rating_refunds ON rating_changes (pool_uid, player_id, position) WHERE refund IS NOT NULL',
    );
  }
}
