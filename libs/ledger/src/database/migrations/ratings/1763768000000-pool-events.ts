import type { MigrationInterface, QueryRunner } from 'typeorm';

const STATEMENTS = [
  // What happens to a pool beside its games, in one order with them. The outcome is there once the pool is rated so far.
  `CREATE TABLE pool_events (
    pool_uid integer NOT NULL,
    position bigint NOT NULL,
    type text NOT NULL,
    payload jsonb NOT NULL,
    recorded_at timestamptz NOT NULL DEFAULT ladder_now(),
    outcome jsonb,
    PRIMARY KEY (pool_uid, position))`,
];

export class PoolEvents1763768000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE pool_events');
  }
}
