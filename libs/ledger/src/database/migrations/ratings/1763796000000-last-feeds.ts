import type { MigrationInterface, QueryRunner } from 'typeorm';

const STATEMENTS = [
  // Windows of fed boards whose end and grace are over. position: of the pool event behind which lies all that they hold, and
  // when that was recorded first; null: not yet. ask_at: when it is recorded (again). is_done: whether all up to it is on the board.
  `CREATE TABLE last_feeds (
    window_uid integer PRIMARY KEY,
    position bigint,
    asked_at timestamptz,
    ask_at timestamptz NOT NULL,
    is_done boolean NOT NULL DEFAULT false)`,
];

export class LastFeeds1763796000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE last_feeds');
  }
}
