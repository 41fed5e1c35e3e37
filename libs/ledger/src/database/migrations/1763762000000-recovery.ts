import type { MigrationInterface, QueryRunner } from 'typeorm';

const STATEMENTS = [
  // A topic that is made again counts its offsets anew: what makes a letter known is its text, too.
  `ALTER TABLE dead_letters
    ADD COLUMN replayed_at timestamptz,
    DROP CONSTRAINT dead_letters_consumer_group_lane_position_key`,
  `CREATE UNIQUE INDEX dead_letters_once ON dead_letters (consumer_group, lane, position, md5(payload))`,
  `CREATE INDEX dead_letters_by_age ON dead_letters (parked_at)`,
  // How far the filling of a generation is proven to be: up to this key, in a store that has this proof.
  `ALTER TABLE layout_progress
    ADD COLUMN reached_window integer,
    ADD COLUMN reached_guilds boolean,
    ADD COLUMN reached_id text COLLATE "C",
    ADD COLUMN proof text`,
  // A comparison of a whole board with its lists that was asked for; one for each board, the last.
  `CREATE TABLE reconciliations (
    board_uid integer PRIMARY KEY,
    requested_at timestamptz NOT NULL DEFAULT ladder_now(),
    requested_by text NOT NULL,
    started_at timestamptz,
    finished_at timestamptz,
    reached jsonb,
    report jsonb NOT NULL)`,
  `CREATE INDEX reconciliations_open ON reconciliations (requested_at) WHERE finished_at IS NULL`,
  // The boards of the last order to make all lists anew; generation: null while it waits for its turn.
  `CREATE TABLE rebuilds (
    board_uid integer PRIMARY KEY,
    requested_at timestamptz NOT NULL,
    requested_by text NOT NULL,
    generation integer,
    done_at timestamptz)`,
];

export class Recovery1763762000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE rebuilds, reconciliations');
    await runner.query(
      'ALTER TABLE layout_progress DROP COLUMN reached_window, DROP COLUMN reached_guilds, DROP COLUMN reached_id, DROP COLUMN proof',
    );
    await runner.query('DROP INDEX dead_letters_by_age');
    await runner.query('DROP INDEX dead_letters_once');
    await runner.query(
      `DELETE FROM dead_letters d USING dead_letters o WHERE o.consumer_group = d.consumer_group AND o.lane = d.lane
         AND o.position = d.position AND o.dead_letter_id < d.dead_letter_id`,
    );
    await runner.query('ALTER TABLE dead_letters DROP COLUMN replayed_at, ADD UNIQUE (consumer_group, lane, position)');
  }
}
