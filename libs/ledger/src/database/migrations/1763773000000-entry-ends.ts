import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What was noted of rankability alone is noted of all that time does to the entries of a player. */
export class EntryEnds1763773000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE rankable_ends RENAME TO entry_ends');
    await runner.query('ALTER INDEX rankable_ends_due RENAME TO entry_ends_due');
    await runner.query('ALTER INDEX rankable_ends_pkey RENAME TO entry_ends_pkey');
    await runner.query(`UPDATE pool_events SET type = 'entries-ended' WHERE type = 'rankable-ended'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`UPDATE pool_events SET type = 'rankable-ended' WHERE type = 'entries-ended'`);
    await runner.query('ALTER INDEX entry_ends_pkey RENAME TO rankable_ends_pkey');
    await runner.query('ALTER INDEX entry_ends_due RENAME TO rankable_ends_due');
    await runner.query('ALTER TABLE entry_ends RENAME TO rankable_ends');
  }
}
