import type { MigrationInterface, QueryRunner } from 'typeorm';

const STATEMENTS = [
  `UPDATE pools SET definition = definition || '{"history": {"keepDays": null}}'`,
  // Changes up to the position are kept no longer, by periods those up to the period; what was played since the time is
  // whole. Up to pruned_position they are in the bases of their players.
  `ALTER TABLE pools ADD COLUMN history_position bigint NOT NULL DEFAULT 0, ADD COLUMN history_period integer,
    ADD COLUMN history_from_ms bigint, ADD COLUMN pruned_position bigint NOT NULL DEFAULT 0`,
  // What the changes of a player that are not kept came to: where it stood after the last of them. counted_peak: the best
  // of those that boards count.
  `CREATE TABLE rating_bases (
    pool_uid integer NOT NULL,
    player_id text COLLATE "C" NOT NULL,
    position bigint NOT NULL,
    first_rating float8 NOT NULL,
    rating float8 NOT NULL,
    deviation float8,
    volatility float8,
    memory jsonb,
    games integer NOT NULL,
    wins integer NOT NULL,
    draws integer NOT NULL,
    losses integer NOT NULL,
    peak_rating float8,
    peak_at_ms bigint,
    peak_game_id text,
    counted_peak_rating float8,
    counted_peak_at_ms bigint,
    last_played_at_ms bigint,
    PRIMARY KEY (pool_uid, player_id))`,
];

export class RatingBases1763774000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE rating_bases');
    await runner.query(
      `ALTER TABLE pools DROP COLUMN history_position, DROP COLUMN history_period, DROP COLUMN history_from_ms,
        DROP COLUMN pruned_position`,
    );
    await runner.query(`UPDATE pools SET definition = definition - 'history'`);
  }
}
