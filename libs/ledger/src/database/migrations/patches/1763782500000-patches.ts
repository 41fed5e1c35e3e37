import type { MigrationInterface, QueryRunner } from 'typeorm';

const STATEMENTS = [
  // published and orders: as boards need them, see PatchFamily. revision: of their last change.
  `CREATE TABLE patch_families (
    family_uid integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    family_id text COLLATE "C" NOT NULL UNIQUE,
    published jsonb NOT NULL DEFAULT '{}',
    orders jsonb NOT NULL DEFAULT '[]',
    revision bigint NOT NULL DEFAULT 0)`,
  // A later number was accepted later. came_with: the order of the family with which it came to its place.
  `CREATE TABLE patches (
    patch_uid integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    family_uid integer NOT NULL,
    patch_id text COLLATE "C" NOT NULL,
    published_ms bigint NOT NULL,
    is_published boolean NOT NULL,
    same_as integer,
    title text,
    came_with integer,
    revision bigint NOT NULL,
    UNIQUE (family_uid, patch_id))`,
  'CREATE INDEX patches_by_id ON patches (patch_id)',
  'CREATE INDEX patches_scheduled ON patches (published_ms) WHERE NOT is_published',
  // How many runs named a patch, as they named it. A row for each lane, so that none waits for another.
  `CREATE TABLE patch_uses (
    board_uid integer NOT NULL,
    patch_uid integer NOT NULL,
    lane integer NOT NULL,
    runs bigint NOT NULL,
    PRIMARY KEY (board_uid, patch_uid, lane)) WITH (fillfactor = 50)`,
  'CREATE INDEX patch_uses_by_patch ON patch_uses (patch_uid)',
  // Of the scan of a re-tax, as counted when it began.
  'ALTER TABLE layout_progress ADD COLUMN rows_total bigint',
  // family_revision: of its family, as the board was told last.
  'ALTER TABLE boards ADD COLUMN family_uid integer, ADD COLUMN family_revision bigint NOT NULL DEFAULT 0',
  'CREATE INDEX boards_by_family ON boards (family_uid, family_revision) WHERE family_uid IS NOT NULL AND board_id IS NOT NULL',
];

export class Patches1763782500000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE layout_progress DROP COLUMN rows_total');
    await runner.query('DROP INDEX boards_by_family');
    await runner.query('ALTER TABLE boards DROP COLUMN family_uid, DROP COLUMN family_revision');
    await runner.query('DROP TABLE patch_uses, patches, patch_families');
  }
}
