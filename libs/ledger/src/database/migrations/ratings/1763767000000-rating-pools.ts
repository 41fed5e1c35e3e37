import type { MigrationInterface, QueryRunner } from 'typeorm';

const STATEMENTS = [
  // Positions are of the log. What lies between rated_position and recorded_position is not rated yet.
  `CREATE TABLE pools (
    pool_uid integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    pool_id text COLLATE "C" UNIQUE,
    definition jsonb NOT NULL,
    revision bigint NOT NULL,
    recorded_position bigint NOT NULL DEFAULT 0,
    rated_position bigint NOT NULL DEFAULT 0,
    games_recorded bigint NOT NULL DEFAULT 0,
    games_rated bigint NOT NULL DEFAULT 0,
    players bigint NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL DEFAULT ladder_now()) WITH (fillfactor = 50)`,
  `CREATE TABLE games (
    pool_uid integer NOT NULL,
    game_id text COLLATE "C" NOT NULL,
    position bigint NOT NULL,
    body_sha256 bytea NOT NULL,
    played_at_ms bigint NOT NULL,
    recorded_at timestamptz NOT NULL,
    weight float8 NOT NULL,
    results jsonb NOT NULL,
    players jsonb NOT NULL,
    metadata text,
    unrated text,
    PRIMARY KEY (pool_uid, game_id))`,
  `CREATE UNIQUE INDEX games_by_position ON games (pool_uid, position)`,
  // The games of a player, rated or not.
  `CREATE TABLE game_players (
    pool_uid integer NOT NULL,
    player_id text COLLATE "C" NOT NULL,
    position bigint NOT NULL,
    PRIMARY KEY (pool_uid, player_id, position))`,
  `CREATE TABLE ratings (
    pool_uid integer NOT NULL,
    player_id text COLLATE "C" NOT NULL,
    position bigint NOT NULL,
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
    last_played_at_ms bigint,
    PRIMARY KEY (pool_uid, player_id)) WITH (fillfactor = 85)`,
  // What a game did to a player, with all that the next game depends on: a game can be computed again from its rows.
  `CREATE TABLE rating_changes (
    pool_uid integer NOT NULL,
    player_id text COLLATE "C" NOT NULL,
    position bigint NOT NULL,
    before_rating float8 NOT NULL,
    before_deviation float8,
    before_volatility float8,
    before_memory jsonb,
    after_rating float8 NOT NULL,
    after_deviation float8,
    after_volatility float8,
    after_memory jsonb,
    expected float8 NOT NULL,
    k float8,
    outcome text NOT NULL,
    engine text NOT NULL,
    PRIMARY KEY (pool_uid, player_id, position))`,
];

export class RatingPools1763767000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE rating_changes, ratings, game_players, games, pools');
  }
}
