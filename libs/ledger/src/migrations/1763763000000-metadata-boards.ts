import type { MigrationInterface, QueryRunner } from 'typeorm';

export class MetadataBoards1763763000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    // Boards to which a run has brought metadata; rows are only ever added.
    await runner.query('CREATE TABLE metadata_boards (board_uid integer PRIMARY KEY)');
    await runner.query(
      'INSERT INTO metadata_boards (board_uid) SELECT DISTINCT board_uid FROM entries WHERE metadata IS NOT NULL',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE metadata_boards');
  }
}
