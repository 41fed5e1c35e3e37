import type { MigrationInterface, QueryRunner } from 'typeorm';

const STATEMENTS = [
  // Editions of one window, kind and moment are numbered from 1. One with a base has no rows of its own: it is the base with
  // its changes laid over it. rules: what of the definition its rows were made by, which may change after the window's end.
  `ALTER TABLE editions
    ADD COLUMN number integer NOT NULL DEFAULT 1,
    ADD COLUMN base_uid integer,
    ADD COLUMN reason text,
    ADD COLUMN acts bigint[] NOT NULL DEFAULT '{}',
    ADD COLUMN rules jsonb`,
  `ALTER TABLE editions DROP CONSTRAINT editions_window_uid_kind_as_of_key`,
  `ALTER TABLE editions ADD CONSTRAINT editions_by_number UNIQUE (window_uid, kind, as_of, number)`,
  // A player's, or guild's, row in a list of a base edition, as editions from number since to before until show it. struck:
  // the ordinal of its own row in the base, which is not shown; null: it has none. score is null where no row takes its
  // place; else the rows of the base that stand before it, that are better, that are not worse, and its better values.
  `CREATE TABLE edition_changes (
    edition_uid integer NOT NULL,
    scope_uid integer NOT NULL,
    player_id text COLLATE "C" NOT NULL,
    since integer NOT NULL,
    until integer,
    struck integer,
    struck_competition integer,
    struck_last integer,
    rows_before integer,
    rows_better integer,
    rows_not_worse integer,
    values_better integer,
    score float8,
    columns float8[],
    achieved_at_ms bigint,
    metadata text,
    scopes integer[],
    verified boolean,
    proof text,
    members integer,
    PRIMARY KEY (edition_uid, scope_uid, player_id, since))`,
  // Acts that changed an entry of a window whose standings are written, or are about to be.
  `CREATE TABLE revisions_due (
    note_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    window_uid integer NOT NULL,
    player_id text COLLATE "C" NOT NULL,
    guild_ids text[] NOT NULL,
    audit_id bigint,
    noted_at timestamptz NOT NULL)`,
  `CREATE INDEX revisions_due_by_window ON revisions_due (window_uid, noted_at)`,
  `CREATE INDEX revisions_due_by_time ON revisions_due (noted_at)`,
  // What guilds keep of a player: a revision looks for the guilds that it touches.
  `CREATE INDEX guild_kept_by_player ON guild_kept (player_id, window_uid)`,
];

export class EditionRevisions1763778000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX guild_kept_by_player');
    await runner.query('DROP TABLE revisions_due');
    await runner.query('DROP TABLE edition_changes');
    await runner.query(
      `DELETE FROM standings WHERE edition_uid IN (SELECT edition_uid FROM editions WHERE number > 1)`,
    );
    await runner.query('DELETE FROM editions WHERE number > 1');
    await runner.query('ALTER TABLE editions DROP CONSTRAINT editions_by_number');
    await runner.query(
      `ALTER TABLE editions ADD CONSTRAINT editions_window_uid_kind_as_of_key UNIQUE (window_uid, kind, as_of)`,
    );
    await runner.query(
      `ALTER TABLE editions DROP COLUMN number, DROP COLUMN base_uid, DROP COLUMN reason, DROP COLUMN acts, DROP COLUMN rules`,
    );
  }
}
