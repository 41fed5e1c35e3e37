import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What a flag was decided before `stood`, where the decisions since were not carried out to the end: runs may stand so still. */
export class WhatAlsoStood1763794000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE flags ADD COLUMN also_stood text[] NOT NULL DEFAULT '{}'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE flags DROP COLUMN also_stood');
  }
}
