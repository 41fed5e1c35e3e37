import type { MigrationInterface, QueryRunner } from 'typeorm';

const STATEMENTS = [
  // What is suspicious, for moderators. subject and key: what runs have in common that share a flag while it is open.
  // is_of_held: its run was held when it came. stood: the decision before this one.
  // acted_to: the decision is carried out up to this run; null: for all of them.
  `CREATE TABLE flags (
    flag_id text COLLATE "C" PRIMARY KEY,
    flag_number bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
    rule text COLLATE "C" NOT NULL,
    severity text NOT NULL,
    board_uid integer NOT NULL,
    player_id text COLLATE "C",
    subject text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    run_count integer NOT NULL,
    summary text NOT NULL,
    details jsonb NOT NULL,
    is_of_held boolean NOT NULL,
    raised_at timestamptz NOT NULL DEFAULT ladder_now(),
    is_open boolean NOT NULL DEFAULT true,
    decision text,
    stood text,
    reason text,
    decided_by text,
    decided_at timestamptz,
    acted_to bigint)`,
  'CREATE INDEX flags_open ON flags (flag_number) WHERE is_open',
  'CREATE INDEX flags_open_of_subject ON flags (board_uid, rule, subject) WHERE is_open',
  'CREATE INDEX flags_of_board ON flags (board_uid, flag_number)',
  'CREATE INDEX flags_acting ON flags (flag_number) WHERE acted_to IS NOT NULL',
  'CREATE INDEX flags_decided ON flags (decided_at) WHERE NOT is_open',
  // A run is in one flag of a rule at most, so that it raises nothing twice.
  `CREATE TABLE flag_runs (
    board_uid integer NOT NULL,
    player_id text COLLATE "C" NOT NULL,
    position bigint NOT NULL,
    rule text COLLATE "C" NOT NULL,
    flag_id text COLLATE "C" NOT NULL,
    submission_id text COLLATE "C" NOT NULL,
    PRIMARY KEY (board_uid, player_id, position, rule))`,
  'CREATE INDEX flag_runs_of_flag ON flag_runs (flag_id, position)',
  'CREATE INDEX flag_runs_of_player ON flag_runs (player_id, flag_id)',
  // What a run was before an act on it, at the position of the act: so that rules see runs as they were.
  `CREATE TABLE run_acts (
    board_uid integer NOT NULL,
    player_id text COLLATE "C" NOT NULL,
    run_position bigint NOT NULL,
    position bigint NOT NULL,
    held boolean NOT NULL,
    voided boolean NOT NULL,
    PRIMARY KEY (board_uid, player_id, run_position, position))`,
  // Equal runs of all players, for the rule cluster.
  'CREATE INDEX runs_by_value ON runs (board_uid, score, columns, accepted_at)',
  // Runs that wait for a rule of a team: lane and log_position are those of the event.
  `CREATE TABLE rule_examinations (
    rule text COLLATE "C" NOT NULL,
    board_uid integer NOT NULL,
    player_id text COLLATE "C" NOT NULL,
    position bigint NOT NULL,
    lane smallint NOT NULL,
    log_position bigint NOT NULL,
    payload text NOT NULL,
    tries integer NOT NULL DEFAULT 0,
    due_at timestamptz NOT NULL DEFAULT ladder_now(),
    PRIMARY KEY (rule, board_uid, player_id, position))`,
  'CREATE INDEX rule_examinations_due ON rule_examinations (rule, due_at)',
];

export class Flags1763779000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE rule_examinations, run_acts, flag_runs, flags');
    await runner.query('DROP INDEX runs_by_value');
  }
}
