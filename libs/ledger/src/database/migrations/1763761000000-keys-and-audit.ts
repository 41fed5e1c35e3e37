import type { MigrationInterface, QueryRunner } from 'typeorm';

const STATEMENTS = [
  `ALTER TABLE api_keys
    ADD COLUMN expires_at timestamptz,
    ADD COLUMN rotated_at timestamptz`,
  // Secrets that a rotation replaced: they go on until then, and no longer than their key.
  `CREATE TABLE former_api_key_secrets (
    secret_sha256 bytea PRIMARY KEY,
    key_id text NOT NULL REFERENCES api_keys ON DELETE CASCADE,
    until timestamptz NOT NULL)`,
  `CREATE INDEX former_api_key_secrets_by_key ON former_api_key_secrets (key_id, until)`,
  ...['actor', 'action', 'subject'].map(
    (column) => `CREATE INDEX audit_log_by_${column} ON audit_log (${column}, audit_id)`,
  ),
];

export class KeysAndAudit1763761000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const column of ['actor', 'action', 'subject']) await runner.query(`DROP INDEX audit_log_by_${column}`);
    await runner.query('DROP TABLE former_api_key_secrets');
    await runner.query('ALTER TABLE api_keys DROP COLUMN expires_at, DROP COLUMN rotated_at');
  }
}
