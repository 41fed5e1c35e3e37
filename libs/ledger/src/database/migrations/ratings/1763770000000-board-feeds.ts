import type { MigrationInterface, QueryRunner } from 'typeorm';

const STATEMENTS = [
  `UPDATE pools SET definition = definition || '{"boards": []}'`,
  'ALTER TABLE boards ADD COLUMN feed jsonb',
  `CREATE INDEX boards_by_pool ON boards (((feed ->> 'poolUid')::int)) WHERE feed IS NOT NULL AND board_id IS NOT NULL`,
  // From which position of its pool a player's entry was fed, also where there is none: an older feed must not make a ghost.
  `CREATE TABLE entry_feeds (
    window_uid integer NOT NULL,
    player_id text COLLATE "C" NOT NULL,
    position bigint NOT NULL,
    PRIMARY KEY (window_uid, player_id)) WITH (fillfactor = 85)`,
  // Boards to which all players of their pool are written, and how far that is.
  `CREATE TABLE board_fills (
    board_uid integer PRIMARY KEY,
    pool_uid integer NOT NULL,
    round bigint NOT NULL,
    after_player text COLLATE "C" NOT NULL DEFAULT '')`,
  // When rankable players will not be so any more, should they stay idle; of pools that feed boards.
  `CREATE TABLE rankable_ends (
    pool_uid integer NOT NULL,
    player_id text COLLATE "C" NOT NULL,
    position bigint NOT NULL,
    until_ms bigint,
    PRIMARY KEY (pool_uid, player_id)) WITH (fillfactor = 85)`,
  `CREATE INDEX rankable_ends_due ON rankable_ends (until_ms) WHERE until_ms IS NOT NULL`,
  // Where in the order of a pool a window begins.
  `CREATE INDEX games_by_time ON games (pool_uid, recorded_at, position)`,
];

export class BoardFeeds1763770000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX games_by_time, boards_by_pool');
    await runner.query('DROP TABLE rankable_ends, board_fills, entry_feeds');
    await runner.query('ALTER TABLE boards DROP COLUMN feed');
    await runner.query(`UPDATE pools SET definition = definition - 'boards'`);
  }
}
