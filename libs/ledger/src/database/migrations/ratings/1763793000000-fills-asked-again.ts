import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Whether a board was asked to be filled while it was being filled. */
export class FillsAskedAgain1763793000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE board_fills ADD COLUMN again boolean NOT NULL DEFAULT false');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE board_fills DROP COLUMN again');
  }
}
