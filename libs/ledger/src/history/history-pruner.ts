import { Injectable } from '@nestjs/common';
import { PostgresDatabase } from '../database/postgres-database.js';

const CHUNK_ROWS = 5000;

const NOW = '(SELECT ladder_now())';

/**
 * Every window of which points are held, with the beginning of the first stretch that stays (Unix ms); null: none does,
 * because the board is gone or records nothing any more. Windows are found by jumps in the index, one for each.
 */
const HELD_WINDOWS = `
  WITH RECURSIVE held (window_uid) AS (
    (SELECT window_uid FROM entry_history ORDER BY window_uid LIMIT 1)
    UNION ALL
    SELECT (SELECT h.window_uid FROM entry_history h WHERE h.window_uid > held.window_uid ORDER BY h.window_uid LIMIT 1)
    FROM held WHERE held.window_uid IS NOT NULL)
  SELECT held.window_uid, CASE WHEN b.board_id IS NOT NULL THEN
    floor(extract(epoch FROM ${NOW} - interval '1 day' * (b.definition->'history'->>'keepDays')::float8) * 1000)::bigint
    END AS from_ms
  FROM held
  JOIN LATERAL (SELECT board_uid FROM windows WHERE window_uid = held.window_uid LIMIT 1) AS w ON true
  JOIN LATERAL (SELECT board_id, definition FROM boards WHERE board_uid = w.board_uid LIMIT 1) AS b ON true`;

const DELETE_CHUNK = `
  DELETE FROM entry_history WHERE ctid IN (
    SELECT ctid FROM entry_history WHERE window_uid = $1 AND ($2::bigint IS NULL OR stretch_ms < $2)
    ORDER BY stretch_ms LIMIT ${CHUNK_ROWS}) RETURNING 1`;

/** Deletes points of players' histories that are kept no longer, a chunk at a time. */
@Injectable()
export class HistoryPruner {
  constructor(private readonly database: PostgresDatabase) {}

  /** @returns how many points went */
  async prune(signal: AbortSignal): Promise<number> {
    let pruned = 0;
    const windows = await this.database.query<{ window_uid: number; from_ms: number | null }>(HELD_WINDOWS);
    for (const { window_uid, from_ms } of windows) {
      let deleted = CHUNK_ROWS;
      while (deleted === CHUNK_ROWS && !signal.aborted) {
        deleted = (await this.database.query(DELETE_CHUNK, [window_uid, from_ms])).length;
        pruned += deleted;
      }
    }
    return pruned;
  }
}
