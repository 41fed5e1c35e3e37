import type { MigrationInterface, QueryRunner } from 'typeorm';

const STATEMENTS = [
  // The generations of a board's lists in the projection: see `Layouts`.
  `ALTER TABLE boards ADD COLUMN layouts jsonb`,
  `UPDATE boards SET layouts = jsonb_build_object(
    'serving', jsonb_build_object(
      'generation', 1,
      'sharding', coalesce(definition -> 'sharding', '{"by": "hash", "count": 1}'),
      'dense', false,
      'versions', '{"base": 0, "floor": 0}'::jsonb),
    'opening', null,
    'retiring', null)`,
  `ALTER TABLE boards ALTER COLUMN layouts SET NOT NULL`,

  // A player over time: the last state of each stretch of the board's `history.everyMinutes`, times in Unix ms. No score:
  // the entry was removed. is_exact: the rank is that of this very state, as of ranked_at_ms.
  `CREATE TABLE entry_history (
    window_uid integer NOT NULL,
    player_id text COLLATE "C" NOT NULL,
    stretch_ms bigint NOT NULL,
    at_ms bigint NOT NULL,
    version bigint NOT NULL,
    score float8,
    columns float8[] NOT NULL,
    rank integer,
    is_exact boolean,
    total integer,
    ranked_at_ms bigint,
    PRIMARY KEY (window_uid, player_id, stretch_ms)) WITH (fillfactor = 85)`,
  `CREATE INDEX entry_history_by_age ON entry_history (window_uid, stretch_ms)`,
  // day: everybody's places at the start of a board's day.
  `ALTER TABLE editions DROP CONSTRAINT editions_kind_check`,
  `ALTER TABLE editions ADD CONSTRAINT editions_kind_check CHECK (kind IN ('final', 'frozen', 'kept', 'day'))`,
  // When a run last renewed the entry, Unix ms; null on boards that never had a limit that removes entries.
  `ALTER TABLE entries ADD COLUMN renewed_at_ms bigint`,
  `CREATE INDEX entries_limited ON entries (window_uid, renewed_at_ms) WHERE renewed_at_ms IS NOT NULL AND NOT removed`,
  // mark_entries: entries that were there before such a limit are yet to be marked as renewed at limits_since_ms.
  `ALTER TABLE boards
    ADD COLUMN mark_entries boolean NOT NULL DEFAULT false,
    ADD COLUMN limits_since_ms bigint`,
  `CREATE INDEX boards_limited ON boards (board_uid) WHERE definition -> 'limits' ->> 'entriesMax' IS NOT NULL
    OR definition -> 'limits' ->> 'entryLifetimeSeconds' IS NOT NULL`,
  // How many runs of a player count in a window; by the UTC hour (hours since 1970) where the window rolls, else under 0.
  `CREATE TABLE attempts (
    window_uid integer NOT NULL,
    player_id text COLLATE "C" NOT NULL,
    hour integer NOT NULL,
    runs integer NOT NULL,
    PRIMARY KEY (window_uid, player_id, hour)) WITH (fillfactor = 85)`,
  `CREATE INDEX attempts_by_hour ON attempts (window_uid, hour)`,
  // A generation's number is never used again: what was retired stays known in the projection for a while.
  `ALTER TABLE boards ADD COLUMN last_generation integer NOT NULL DEFAULT 1`,
  // How far a generation is filled, for operators.
  `CREATE TABLE layout_progress (
    board_uid integer PRIMARY KEY,
    generation integer NOT NULL,
    step text NOT NULL,
    rows_scanned bigint NOT NULL,
    scans integer NOT NULL)`,
  // Generations whose keys are still to be removed from the projection.
  `CREATE TABLE layout_removals (
    board_uid integer NOT NULL,
    generation integer NOT NULL,
    layout jsonb NOT NULL,
    has_served boolean NOT NULL,
    since timestamptz NOT NULL DEFAULT ladder_now(),
    PRIMARY KEY (board_uid, generation))`,
];

export class LayoutsAndLimits1763740000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE layout_removals, layout_progress, entry_history, attempts');
    await runner.query(
      `DELETE FROM standings WHERE edition_uid IN (SELECT edition_uid FROM editions WHERE kind = 'day')`,
    );
    await runner.query(`DELETE FROM editions WHERE kind = 'day'`);
    await runner.query('ALTER TABLE editions DROP CONSTRAINT editions_kind_check');
    await runner.query(
      `ALTER TABLE editions ADD CONSTRAINT editions_kind_check CHECK (kind IN ('final', 'frozen', 'kept'))`,
    );
    await runner.query('DROP INDEX boards_limited');
    await runner.query('ALTER TABLE entries DROP COLUMN renewed_at_ms');
    await runner.query(
      `ALTER TABLE boards DROP COLUMN layouts, DROP COLUMN mark_entries, DROP COLUMN limits_since_ms,
         DROP COLUMN last_generation`,
    );
  }
}
