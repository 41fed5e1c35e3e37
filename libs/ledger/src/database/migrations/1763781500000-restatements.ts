import type { MigrationInterface, QueryRunner } from 'typeorm';

const STATEMENTS = [
  // The last time that a window of a fed board was restated. attempt: who begins to read the pool anew counts it up, so that
  // nobody who began before goes on. entries: how many differ; null: they are still being read. audit_id: of the act, where
  // any do. players_read: how far the reading is.
  `CREATE TABLE restatements (
    window_uid integer PRIMARY KEY,
    actor text NOT NULL,
    reason text,
    asked_at timestamptz NOT NULL,
    attempt integer NOT NULL DEFAULT 0,
    players_read integer NOT NULL DEFAULT 0,
    entries integer,
    audit_id bigint,
    done_at timestamptz)`,
  `CREATE INDEX restatements_under_way ON restatements (asked_at) WHERE done_at IS NULL`,
  // What is to be written of a window: the entries that differ from what the pool says, and (with a guild) what a guild keeps
  // of a leaver. They go as they are written.
  `CREATE TABLE restated_entries (
    window_uid integer NOT NULL,
    attempt integer NOT NULL,
    lane smallint NOT NULL,
    player_id text COLLATE "C" NOT NULL,
    guild_id text COLLATE "C" NOT NULL,
    present boolean NOT NULL,
    score float8 NOT NULL,
    columns float8[] NOT NULL,
    achieved_at_ms bigint NOT NULL,
    PRIMARY KEY (window_uid, attempt, lane, player_id, guild_id))`,
];

export class Restatements1763781500000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE restated_entries, restatements');
  }
}
