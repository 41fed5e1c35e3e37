import type { MigrationInterface, QueryRunner } from 'typeorm';

/** How often the entries of a board were asked to be given their scopes: what is asked for meanwhile is not taken for done. */
export class RescopesAsked1763792000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE boards ADD COLUMN rescopes_asked bigint NOT NULL DEFAULT 0');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE boards DROP COLUMN rescopes_asked');
  }
}
