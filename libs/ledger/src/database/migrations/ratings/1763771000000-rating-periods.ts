import type { MigrationInterface, QueryRunner } from 'typeorm';

const STATEMENTS = [
  `UPDATE pools SET definition = definition || '{"periods": null}'`,
  // The period that a game counts for; null: its pool rates with each game.
  'ALTER TABLE games ADD COLUMN period integer',
  'CREATE INDEX games_by_period ON games (pool_uid, period, position) WHERE period IS NOT NULL',
  // The last period that takes no games, the last that is rated, and when the first of the others that has games closes.
  'ALTER TABLE pools ADD COLUMN closed_period integer, ADD COLUMN rated_period integer, ADD COLUMN closes_at_ms bigint',
  'CREATE INDEX pools_to_close ON pools (closes_at_ms) WHERE closes_at_ms IS NOT NULL',
  // Which game it is of, where changes have positions of their own: ratings of periods move in the order of the periods.
  'ALTER TABLE rating_changes ADD COLUMN game_position bigint',
  `CREATE INDEX rating_changes_of_games ON rating_changes (pool_uid, player_id, game_position)
    WHERE game_position IS NOT NULL`,
  // What a period makes of its players, until all of them are rated; null: not rated yet.
  `CREATE TABLE period_results (
    pool_uid integer NOT NULL,
    event_position bigint NOT NULL,
    player_id text COLLATE "C" NOT NULL,
    result json,
    PRIMARY KEY (pool_uid, event_position, player_id))`,
];

export class RatingPeriods1763771000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE period_results');
    await runner.query('DROP INDEX rating_changes_of_games, pools_to_close, games_by_period');
    await runner.query('ALTER TABLE rating_changes DROP COLUMN game_position');
    await runner.query(
      'ALTER TABLE pools DROP COLUMN closed_period, DROP COLUMN rated_period, DROP COLUMN closes_at_ms',
    );
    await runner.query('ALTER TABLE games DROP COLUMN period');
    await runner.query(`UPDATE pools SET definition = definition - 'periods'`);
  }
}
