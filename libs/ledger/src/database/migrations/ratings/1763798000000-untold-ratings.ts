import type { MigrationInterface, QueryRunner } from 'typeorm';

export class UntoldRatings1763798000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    // Events of a pool that are to go into the outbox before it is rated on, in the order of their places. Each turn of each pool
    // looks for some: where VACUUM cuts off what is empty, a plan that is kept reads the whole table from then on.
    await runner.query(`CREATE TABLE untold_ratings (
      pool_uid integer NOT NULL,
      place bigint NOT NULL,
      key text NOT NULL,
      payload text NOT NULL,
      PRIMARY KEY (pool_uid, place)) WITH (vacuum_truncate = off)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE untold_ratings');
  }
}
