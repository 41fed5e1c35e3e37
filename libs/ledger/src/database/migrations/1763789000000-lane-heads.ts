import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Counts statements that wrote entries and said nothing of their lanes: those of a release that knows no heads, and of hands.
 * A sequence moves at once and locks nothing; its reader holds a lane, and the writer held it before.
 */
const UNDECLARED = 'CREATE SEQUENCE undeclared_writes AS bigint';

const COUNT_UNDECLARED = `
  CREATE FUNCTION ladder_count_undeclared() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM nextval('undeclared_writes');
    RETURN NULL;
  END $$`;

/** What commits read of entries. Rows are deleted of boards alone that are gone, of which nothing is read. */
const READ_COLUMNS =
  'lane, version, removed, score, columns, achieved_at_ms, metadata, scopes, left_scopes, unranked, patch_runs';

/** The setting names the lane whose head the transaction has moved last. */
const COUNT_BEFORE = `
  CREATE TRIGGER undeclared_writes BEFORE INSERT OR UPDATE OF ${READ_COLUMNS} ON entries FOR EACH STATEMENT
  WHEN (coalesce(current_setting('laddercast.lane', true), '') = '') EXECUTE FUNCTION ladder_count_undeclared()`;

/** Fails a commit that did not find things as it assumed. */
const REFUSE = `
  CREATE FUNCTION ladder_refuse_commit() RETURNS bigint[] LANGUAGE plpgsql AS $$
  BEGIN
    RAISE EXCEPTION 'a lane, a board, a sanction or the time is not as its writer assumed' USING ERRCODE = 'LC001';
  END $$`;

export class LaneHeads1763789000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [UNDECLARED, COUNT_UNDECLARED, COUNT_BEFORE, REFUSE]) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP FUNCTION ladder_refuse_commit()');
    await runner.query('DROP TRIGGER undeclared_writes ON entries');
    await runner.query('DROP FUNCTION ladder_count_undeclared()');
    await runner.query('DROP SEQUENCE undeclared_writes');
  }
}
