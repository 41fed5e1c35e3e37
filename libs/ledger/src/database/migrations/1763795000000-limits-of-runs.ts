import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Limits that remove entries begin anew on boards that keep runs: entries that acts on runs had made were not marked, and no limit
 * found them. A projector marks them in parts, as where such a limit is put.
 */
export class LimitsOfRuns1763795000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      UPDATE boards SET mark_entries = true, limits_since_ms = floor(extract(epoch FROM ladder_now()) * 1000)::bigint
      WHERE runs_from IS NOT NULL AND board_id IS NOT NULL
        AND (definition -> 'limits' ->> 'entriesMax' IS NOT NULL
          OR definition -> 'limits' ->> 'entryLifetimeSeconds' IS NOT NULL)`);
  }

  async down(): Promise<void> {
    // An entry that is marked is right before it, too.
  }
}
