import type { MigrationInterface, QueryRunner } from 'typeorm';

const STATEMENTS = [
  // Of boards with decay: the player's runs that are kept, of each patch the best, raw; [{ patch, score, columns, achievedAtMs,
  // metadata }]. score, columns and time of such an entry are what they came to when it was written, and order nothing.
  `ALTER TABLE entries ADD COLUMN patch_runs jsonb`,
  `ALTER TABLE frozen_entries ADD COLUMN patch_runs jsonb`,
  `DROP VIEW ranked_guild_kept, projected_entries, ranked_entries`,
  `CREATE VIEW ranked_entries AS SELECT * FROM entries WHERE NOT removed AND NOT unranked`,
  `CREATE VIEW projected_entries AS
    SELECT window_uid, player_id, board_uid, lane, version, removed OR unranked AS removed, score, columns, achieved_at_ms,
      metadata, scopes, left_scopes, patch_runs
    FROM entries`,
  `CREATE VIEW ranked_guild_kept AS
    SELECT k.* FROM guild_kept AS k
    LEFT JOIN LATERAL (
      SELECT unranked FROM entries WHERE window_uid = k.window_uid AND player_id = k.player_id LIMIT 1) AS e ON true
    WHERE NOT coalesce(e.unranked, false)`,
  // What a taxed score is made of; null on other boards.
  `ALTER TABLE standings ADD COLUMN raw_score float8, ADD COLUMN patch_uid integer`,
];

export class PatchRuns1763783000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE standings DROP COLUMN raw_score, DROP COLUMN patch_uid');
    await runner.query('DROP VIEW ranked_guild_kept, projected_entries, ranked_entries');
    await runner.query('ALTER TABLE frozen_entries DROP COLUMN patch_runs');
    await runner.query('ALTER TABLE entries DROP COLUMN patch_runs');
    await runner.query('CREATE VIEW ranked_entries AS SELECT * FROM entries WHERE NOT removed AND NOT unranked');
    await runner.query(`CREATE VIEW projected_entries AS
      SELECT window_uid, player_id, board_uid, lane, version, removed OR unranked AS removed, score, columns, achieved_at_ms,
        metadata, scopes, left_scopes
      FROM entries`);
    await runner.query(`CREATE VIEW ranked_guild_kept AS
      SELECT k.* FROM guild_kept AS k
      LEFT JOIN LATERAL (
        SELECT unranked FROM entries WHERE window_uid = k.window_uid AND player_id = k.player_id LIMIT 1) AS e ON true
      WHERE NOT coalesce(e.unranked, false)`);
  }
}
