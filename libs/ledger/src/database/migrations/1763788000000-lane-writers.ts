import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Who takes the writes of lanes, and where. It is of the moment: a restart of PostgreSQL may forget it. */
const LANE_WRITERS = `
  CREATE UNLOGGED TABLE lane_writers (
    holder text PRIMARY KEY,
    machine text NOT NULL,
    host text,
    port int NOT NULL,
    expires_at timestamptz NOT NULL
  )`;

export class LaneWriters1763788000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(LANE_WRITERS);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE lane_writers');
  }
}
