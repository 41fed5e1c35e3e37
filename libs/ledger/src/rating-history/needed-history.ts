import { windowsBeganMs, withBoardDefaults, type BoardDefinition } from '@laddercast/domain';
import type { SqlRunner } from '../database/postgres-database.js';
import { prepared } from '../database/postgres-statements.js';

const DAY_MS = 86_400_000;

const FED_BOARDS = prepared(`
  SELECT floor(extract(epoch FROM ladder_now()) * 1000)::bigint AS "nowMs",
    coalesce((SELECT json_agg(definition) FROM boards
      WHERE (feed ->> 'poolUid')::int = $1 AND feed IS NOT NULL AND board_id IS NOT NULL), '[]') AS boards,
    (SELECT floor(extract(epoch FROM min(w.starts_at)) * 1000)::float8 FROM windows AS w JOIN boards USING (board_uid)
      WHERE (feed ->> 'poolUid')::int = $1 AND feed IS NOT NULL AND board_id IS NOT NULL
        AND (w.state <> 'settled' OR EXISTS (
          SELECT FROM restatements r WHERE r.window_uid = w.window_uid AND r.done_at IS NULL))) AS "beganMs"`);

/**
 * From when on the changes of a pool are kept, Unix ms: for so many days, and for as long as a window of a board that it
 * feeds takes entries, or is restated.
 */
export async function historyNeededFromMs(sql: SqlRunner, poolUid: number, keepDays: number): Promise<number> {
  const [row] = await sql.query<{ nowMs: number; boards: BoardDefinition[]; beganMs: number | null }>(FED_BOARDS, [
    poolUid,
  ]);
  const { nowMs, boards, beganMs } = row!;
  const needed = boards.map((definition) => windowsBeganMs(withBoardDefaults(definition), nowMs));
  return Math.min(nowMs - keepDays * DAY_MS, beganMs ?? Infinity, ...needed);
}
