import type { MigrationInterface, QueryRunner } from 'typeorm';

const STATEMENTS = [
  // Ranked for nobody, because its player is banned or shadowed. The entry itself stays, and runs go on to be folded into it.
  `ALTER TABLE entries ADD COLUMN unranked boolean NOT NULL DEFAULT false`,
  // Every sanction there ever was; ended_at: since when it is not in force. pending: entries are behind what the player's
  // last sanction says; those of windows up to followed_window are not, and so many were changed.
  `CREATE TABLE sanctions (
    sanction_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    player_id text COLLATE "C" NOT NULL,
    kind text NOT NULL,
    reason text NOT NULL,
    public_reason text,
    until timestamptz,
    boards text[],
    put_by text NOT NULL,
    put_at timestamptz NOT NULL,
    ended_at timestamptz,
    ended_by text,
    end_reason text,
    pending boolean NOT NULL,
    followed_window integer NOT NULL DEFAULT 0,
    followed_entries integer NOT NULL DEFAULT 0)`,
  `CREATE UNIQUE INDEX sanctions_in_force ON sanctions (player_id) WHERE ended_at IS NULL`,
  `CREATE INDEX sanctions_of_player ON sanctions (player_id, sanction_id)`,
  `CREATE INDEX sanctions_until ON sanctions (until) WHERE ended_at IS NULL AND until IS NOT NULL`,
  `CREATE INDEX sanctions_pending ON sanctions (sanction_id) WHERE pending`,
  // What everybody sees of entries.
  `CREATE VIEW ranked_entries AS SELECT * FROM entries WHERE NOT removed AND NOT unranked`,
  // What the projection is to hold of entries: for it an unranked one is removed.
  `CREATE VIEW projected_entries AS
    SELECT window_uid, player_id, board_uid, lane, version, removed OR unranked AS removed, score, columns, achieved_at_ms,
      metadata, scopes, left_scopes
    FROM entries`,
  // What guilds keep of leavers, without those whose entry is unranked.
  `CREATE VIEW ranked_guild_kept AS
    SELECT k.* FROM guild_kept AS k
    LEFT JOIN LATERAL (
      SELECT unranked FROM entries WHERE window_uid = k.window_uid AND player_id = k.player_id LIMIT 1) AS e ON true
    WHERE NOT coalesce(e.unranked, false)`,
];

export class Sanctions1763777000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP VIEW ranked_guild_kept, projected_entries, ranked_entries');
    await runner.query('DROP TABLE sanctions');
    await runner.query('ALTER TABLE entries DROP COLUMN unranked');
  }
}
