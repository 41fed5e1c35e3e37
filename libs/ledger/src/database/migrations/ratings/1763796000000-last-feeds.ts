import type { MigrationInterface, QueryRunner } from 'typeorm';

const STATEMENTS = [
  // Windows of fed boards whose end and grace are over. position: of the pool event behind which lies all that they hold, and
  // when that was recorded first; null: not yet. ask_at: when they are looked at again. done_position: where the log was when all
  // up to there was on the board, or noted in board_fills.
  `CREATE TABLE last_feeds (
    window_uid integer PRIMARY KEY,
    position bigint,
    asked_at timestamptz,
    ask_at timestamptz NOT NULL,
    done_position bigint)`,
  // The round that ended last, where another one follows.
  'ALTER TABLE board_fills ADD COLUMN ended_round bigint',
];

export class LastFeeds1763796000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE board_fills DROP COLUMN ended_round');
    await runner.query('DROP TABLE last_feeds');
  }
}
