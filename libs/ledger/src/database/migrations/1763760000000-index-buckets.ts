import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What index buckets there were before their number stood in the layout. */
const BUCKETS_BEFORE = 1024;

/**
 * Says of each generation how many index buckets it has. What the index keeps of a player is written in another way from
 * here on, so that the installation gets another name in Redis: the ranks are brought back from PostgreSQL, and what lies
 * under the old name is to be removed by hand.
 */
export class IndexBuckets1763760000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const name of ['serving', 'opening', 'retiring']) {
      await runner.query(
        `UPDATE boards SET layouts = jsonb_set(layouts, '{${name},indexBuckets}', '${BUCKETS_BEFORE}')
         WHERE layouts -> '${name}' <> 'null'`,
      );
    }
    await runner.query(`UPDATE layout_removals SET layout = jsonb_set(layout, '{indexBuckets}', '${BUCKETS_BEFORE}')`);
    await runner.query(`DELETE FROM installation WHERE name = 'id'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const name of ['serving', 'opening', 'retiring']) {
      await runner.query(`UPDATE boards SET layouts = layouts #- '{${name},indexBuckets}'`);
    }
    await runner.query(`UPDATE layout_removals SET layout = layout - 'indexBuckets'`);
    await runner.query(`DELETE FROM installation WHERE name = 'id'`);
  }
}
