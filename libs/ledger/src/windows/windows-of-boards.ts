import type { StoredWindow } from '@laddercast/domain';
import type { SqlRunner } from '../database/postgres-database.js';

/** A window with its bounds (Unix ms); null: it has none. */
export interface EndingWindow {
  uid: number;
  kind: string;
  startsAtMs: number | null;
  endsAtMs: number | null;
}

const BOUNDS = `(extract(epoch FROM starts_at) * 1000)::float8 AS "startsAtMs",
       (extract(epoch FROM ends_at) * 1000)::float8 AS "endsAtMs"`;

/** The windows of a board that have not ended, or not for longer than `keptMs`; in the order of their numbers. */
export const windowsOfBoard = (database: SqlRunner, boardUid: number, keptMs: number): Promise<EndingWindow[]> =>
  database.query(
    `SELECT window_uid AS uid, kind, ${BOUNDS} FROM windows
     WHERE board_uid = $1
       AND (ends_at IS NULL OR ends_at > ladder_now() - $2::float8 * interval '1 millisecond')
     ORDER BY window_uid`,
    [boardUid, keptMs],
  );

/** A window by its id, and when its board was made (Unix ms). */
export interface WindowOfMadeBoard {
  uid: number;
  name: string;
  startsAtMs: number | null;
  endsAtMs: number | null;
  boardMadeAtMs: number;
}

const NAMED_MAX = 5000;

/** As {@link windowsOfBoard}, with their ids; the first 5,000. */
export const namedWindowsOfBoard = (
  database: SqlRunner,
  boardUid: number,
  keptMs: number,
): Promise<WindowOfMadeBoard[]> =>
  database.query(
    `SELECT window_uid AS uid, window_id AS name, ${BOUNDS},
       (extract(epoch FROM created_at) * 1000)::float8 AS "boardMadeAtMs"
     FROM windows JOIN boards USING (board_uid)
     WHERE board_uid = $1 AND (ends_at IS NULL OR ends_at > ladder_now() - $2::float8 * interval '1 millisecond')
     ORDER BY window_uid LIMIT ${NAMED_MAX}`,
    [boardUid, keptMs],
  );

/** A window of a board that lives; times in Unix ms. */
export interface LivingWindow {
  windowUid: number;
  boardUid: number;
  startsAtMs: number | null;
  endsAtMs: number | null;
  nowMs: number;
}

/** How many windows {@link livingWindows} reads at once. */
export const LIVING_WINDOWS_AT_ONCE = 5000;

/** A page of the windows of boards that live, behind a number, in the order of their numbers. */
export const livingWindows = (database: SqlRunner, afterUid: number): Promise<LivingWindow[]> =>
  database.query(
    `SELECT window_uid AS "windowUid", board_uid AS "boardUid", ${BOUNDS},
       (extract(epoch FROM ladder_now()) * 1000)::float8 AS "nowMs"
     FROM windows JOIN boards USING (board_uid)
     WHERE board_id IS NOT NULL AND window_uid > $1 ORDER BY window_uid LIMIT ${LIVING_WINDOWS_AT_ONCE}`,
    [afterUid],
  );

/** Windows that ended, the last to end first, after the one at `$4` and `$5`. Ends are microseconds. */
const ENDED_SQL = `
  SELECT w.window_uid, w.window_id, w.kind, w.state, (extract(epoch FROM w.ends_at) * 1000000)::bigint AS ends_at_us,
    floor(extract(epoch FROM w.starts_at) * 1000)::bigint AS starts_at_ms,
    floor(extract(epoch FROM w.freeze_at) * 1000)::bigint AS freeze_at_ms, final.version, final.entries
  FROM windows w
  LEFT JOIN LATERAL (
    SELECT e.version, coalesce(t.total, 0) AS entries
    FROM editions e LEFT JOIN edition_scopes t ON t.edition_uid = e.edition_uid AND t.scope_uid = 0
    WHERE e.window_uid = w.window_uid AND e.kind = 'final' ORDER BY e.as_of DESC, e.number DESC LIMIT 1) AS final ON true
  WHERE w.board_uid = $1 AND (w.ends_at <= to_timestamp($2::float8 / 1000) OR w.state <> 'open')
    AND ($3::text IS NULL OR (w.state = 'settled') = ($3 = 'settled'))
    AND (w.ends_at, w.window_uid) < ('epoch'::timestamptz + $4::float8 * interval '1 microsecond', $5::int)
  ORDER BY w.ends_at DESC, w.window_uid DESC LIMIT $6`;

interface EndedRow {
  window_uid: number;
  window_id: string;
  kind: StoredWindow['kind'];
  state: StoredWindow['state'];
  starts_at_ms: number | null;
  ends_at_us: number;
  freeze_at_ms: number | null;
  version: number | null;
  entries: number | null;
}

/** A window that ended. */
export interface EndedWindow {
  window: StoredWindow;
  /** The end, Unix µs: the order of the list. */
  endsAtUs: number;
  /** Of its final standings; null while they are not written. */
  version: number | null;
  entries: number | null;
}

/** Which ended windows are wanted: those before a place in the list, whose state is this one. */
export interface EndedWindowsWanted {
  nowMs: number;
  /** undefined: any; any state but `settled` means those that are not settled. */
  state: string | undefined;
  before: { endsAtUs: number; uid: number };
  limit: number;
}

/** Windows of a board that ended, the last to end first. */
export async function endedWindows(
  database: SqlRunner,
  boardUid: number,
  { nowMs, state, before, limit }: EndedWindowsWanted,
): Promise<EndedWindow[]> {
  const parameters = [boardUid, nowMs, state ?? null, before.endsAtUs, before.uid, limit];
  const rows = await database.query<EndedRow>(ENDED_SQL, parameters);
  return rows.map((row) => ({
    window: {
      uid: row.window_uid,
      id: row.window_id,
      kind: row.kind,
      state: row.state,
      startsAtMs: row.starts_at_ms,
      endsAtMs: Math.floor(row.ends_at_us / 1000),
      freezeAtMs: row.freeze_at_ms,
    },
    endsAtUs: row.ends_at_us,
    version: row.version,
    entries: row.entries,
  }));
}
