import type { MigrationInterface, QueryRunner } from 'typeorm';

export class MetadataBoards1763763000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('CREATE TABLE metadata_boards (board_uid integer PRIMARY KEY)');
    // Which of the boards of before have metadata would take a look at all that they hold.
    await runner.query('INSERT INTO metadata_boards (board_uid) SELECT board_uid FROM boards');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE metadata_boards');
  }
}
