import type { MigrationInterface, QueryRunner } from 'typeorm';

const STATEMENTS = [
  // The log position from which runs are kept; null: they are not.
  `ALTER TABLE boards ADD COLUMN runs_from bigint`,
  // Whether there may be runs and bases from before it, or of a board that keeps none any more: they are to be deleted.
  `ALTER TABLE boards ADD COLUMN runs_left boolean NOT NULL DEFAULT false`,
  // The run that the entry rests on; null: a total, or what is no longer kept as runs.
  `ALTER TABLE entries ADD COLUMN run_position bigint`,
  // Every run of boards that keep them, in the order of acceptance: position is that of its event. A run counts when it is
  // neither held nor voided. score: null for what takes an entry away.
  `CREATE TABLE runs (
    board_uid integer NOT NULL,
    player_id text COLLATE "C" NOT NULL,
    position bigint NOT NULL,
    submission_id text COLLATE "C" NOT NULL,
    owner text COLLATE "C" NOT NULL,
    kind text NOT NULL,
    held boolean NOT NULL DEFAULT false,
    voided boolean NOT NULL DEFAULT false,
    verified boolean NOT NULL DEFAULT false,
    score float8,
    columns float8[] NOT NULL,
    achieved_at_ms bigint NOT NULL,
    accepted_at timestamptz NOT NULL,
    window_uids integer[] NOT NULL,
    metadata text,
    proof text,
    source_id text,
    reason text,
    PRIMARY KEY (board_uid, player_id, position)) PARTITION BY RANGE (position)`,
  `CREATE INDEX runs_by_submission ON runs (board_uid, owner, submission_id)`,
  `CREATE INDEX runs_by_board ON runs (board_uid, position)`,
  `CREATE INDEX runs_not_counted ON runs (board_uid, position) WHERE held OR voided`,
  `CREATE INDEX runs_by_source ON runs (board_uid, source_id) WHERE source_id IS NOT NULL`,
  `CREATE INDEX runs_by_acceptance ON runs USING brin (accepted_at)`,
  `CREATE TABLE runs_first PARTITION OF runs FOR VALUES FROM (MINVALUE) TO (MAXVALUE)`,
  // What the runs of a player in a window came to that are not kept any more, or never were: all up to the position.
  `CREATE TABLE run_bases (
    window_uid integer NOT NULL,
    player_id text COLLATE "C" NOT NULL,
    position bigint NOT NULL,
    score float8 NOT NULL,
    columns float8[] NOT NULL,
    achieved_at_ms bigint NOT NULL,
    metadata text,
    PRIMARY KEY (window_uid, player_id))`,
  // Whether anything is left of what the guild keeps: a part whose runs were voided may come back.
  `ALTER TABLE guild_kept ADD COLUMN present boolean NOT NULL DEFAULT true`,
];

export class Runs1763775000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE guild_kept DROP COLUMN present');
    await runner.query('DROP TABLE run_bases, runs');
    await runner.query('ALTER TABLE entries DROP COLUMN run_position');
    await runner.query('ALTER TABLE boards DROP COLUMN runs_from, DROP COLUMN runs_left');
  }
}
