import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Where each run is an entry, its key stands for the player's id: the run's id, a byte that no id has, the player's id. */
const IS_RUN = `strpos(player_id, E'\\x01') > 0`;
const PLAYER = `split_part(player_id, E'\\x01', 2)`;

// Partial, so that no other board has a row in them.
const STATEMENTS = [
  `CREATE INDEX entries_of_runs ON entries (window_uid, (${PLAYER})) WHERE ${IS_RUN} AND NOT removed`,
  `CREATE INDEX run_bases_of_runs ON run_bases ((${PLAYER}), window_uid) WHERE ${IS_RUN}`,
  `CREATE INDEX frozen_entries_of_runs ON frozen_entries (window_uid, (${PLAYER})) WHERE ${IS_RUN}`,
  `CREATE INDEX standings_of_runs ON standings (edition_uid, scope_uid, (${PLAYER})) WHERE ${IS_RUN}`,
];

export class RunEntries1763782000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX entries_of_runs, run_bases_of_runs, frozen_entries_of_runs, standings_of_runs');
  }
}
