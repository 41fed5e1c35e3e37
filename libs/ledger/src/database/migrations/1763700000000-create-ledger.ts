import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Text ids are compared byte by byte: collation "C". */
const STATEMENTS = [
  `CREATE SEQUENCE ladder_position AS bigint`,
  // The one clock of the ledger; tests replace it.
  `CREATE FUNCTION ladder_now() RETURNS timestamptz LANGUAGE sql VOLATILE AS 'SELECT clock_timestamp()'`,
  `CREATE TABLE installation (name text PRIMARY KEY, value text NOT NULL)`,
  `CREATE TABLE boards (
    board_uid integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    board_id text COLLATE "C" UNIQUE,
    definition jsonb NOT NULL,
    revision bigint NOT NULL,
    created_at timestamptz NOT NULL DEFAULT ladder_now())`,
  `CREATE INDEX boards_by_revision ON boards (revision)`,
  `CREATE TABLE windows (
    window_uid integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    board_uid integer NOT NULL REFERENCES boards,
    window_id text COLLATE "C" NOT NULL,
    kind text NOT NULL,
    starts_at timestamptz,
    ends_at timestamptz,
    UNIQUE (board_uid, window_id))`,
  `CREATE TABLE entries (
    window_uid integer NOT NULL,
    player_id text COLLATE "C" NOT NULL,
    board_uid integer NOT NULL,
    lane smallint NOT NULL,
    version bigint NOT NULL,
    removed boolean NOT NULL,
    score float8 NOT NULL,
    columns float8[] NOT NULL,
    achieved_at_ms bigint NOT NULL,
    metadata text,
    PRIMARY KEY (window_uid, player_id)) WITH (fillfactor = 85)`,
  `CREATE TABLE submissions (
    board_uid integer NOT NULL,
    owner text COLLATE "C" NOT NULL,
    submission_id text COLLATE "C" NOT NULL,
    player_id text COLLATE "C" NOT NULL,
    body_sha256 bytea NOT NULL,
    score float8 NOT NULL,
    columns float8[] NOT NULL,
    achieved_at_ms bigint NOT NULL,
    metadata text,
    answer text NOT NULL,
    accepted_at timestamptz NOT NULL,
    PRIMARY KEY (board_uid, owner, submission_id))`,
  `CREATE INDEX submissions_by_acceptance ON submissions USING brin (accepted_at)`,
  `CREATE TABLE outbox (
    lane smallint NOT NULL,
    position bigint NOT NULL,
    topic text NOT NULL,
    key text NOT NULL,
    payload text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT ladder_now(),
    PRIMARY KEY (lane, position))`,
  `CREATE TABLE log_offsets (
    consumer_group text NOT NULL,
    lane smallint NOT NULL,
    position bigint NOT NULL,
    epoch bigint NOT NULL,
    PRIMARY KEY (consumer_group, lane))`,
  // How far the ranks are known to be.
  `CREATE TABLE projected_positions (lane smallint PRIMARY KEY, position bigint NOT NULL)`,
  `CREATE TABLE leases (
    name text PRIMARY KEY,
    holder text NOT NULL,
    epoch bigint NOT NULL,
    expires_at timestamptz NOT NULL)`,
  `CREATE TABLE dead_letters (
    dead_letter_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    consumer_group text NOT NULL,
    lane smallint NOT NULL,
    position bigint NOT NULL,
    topic text NOT NULL,
    key text NOT NULL,
    payload text NOT NULL,
    cause text NOT NULL,
    parked_at timestamptz NOT NULL DEFAULT ladder_now(),
    UNIQUE (consumer_group, lane, position))`,
  `CREATE TABLE api_keys (
    key_id text PRIMARY KEY,
    name text NOT NULL,
    secret_sha256 bytea NOT NULL UNIQUE,
    scopes text[] NOT NULL,
    created_at timestamptz NOT NULL DEFAULT ladder_now(),
    revoked_at timestamptz)`,
  `CREATE TABLE audit_log (
    audit_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at timestamptz NOT NULL DEFAULT ladder_now(),
    actor text NOT NULL,
    action text NOT NULL,
    subject text NOT NULL,
    details jsonb NOT NULL)`,
];

export class CreateLedger1763700000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP TABLE audit_log, api_keys, dead_letters, leases, projected_positions, log_offsets, outbox, submissions, entries,
      windows, boards, installation`);
    await runner.query('DROP FUNCTION ladder_now()');
    await runner.query('DROP SEQUENCE ladder_position');
  }
}
