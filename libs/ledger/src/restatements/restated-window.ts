import {
  changesKeptFromMs,
  dueAtMs,
  LadderError,
  withBoardDefaults,
  type BoardDefinition,
  type BoardFeed,
  type ProvisionalRules,
  type RankableRules,
} from '@laddercast/domain';
import { toTimestamp } from '@laddercast/platform';
import type { SqlRunner } from '../database/postgres-database.js';
import type { PoolDefinition } from '../pools/pool.js';

interface WindowRow {
  boardId: string;
  definition: BoardDefinition;
  feed: BoardFeed | null;
  windowId: string;
  isSettled: boolean;
  startsAtMs: number | null;
  endsAtMs: number | null;
  closedAtMs: number | null;
  pool: PoolDefinition | null;
  ratedPosition: number | null;
  historyFromMs: number | null;
  historyPeriod: number | null;
  /** null: its standings are kept no longer. */
  edition: number | null;
  /** null: they were written before rules were kept. */
  rules: { rankable: RankableRules | null; provisional: ProvisionalRules | null } | null;
}

const WINDOW_OF_FEED = `
  SELECT b.board_id AS "boardId", b.definition, b.feed, w.window_id AS "windowId",
    w.state = 'settled' AS "isSettled", (extract(epoch FROM w.starts_at) * 1000)::float8 AS "startsAtMs",
    (extract(epoch FROM w.ends_at) * 1000)::float8 AS "endsAtMs",
    (extract(epoch FROM w.closed_at) * 1000)::float8 AS "closedAtMs",
    p.definition AS pool, p.rated_position AS "ratedPosition", p.history_from_ms AS "historyFromMs", p.history_period AS "historyPeriod",
    (SELECT max(number) FROM editions WHERE window_uid = w.window_uid AND kind = 'final') AS edition,
    (SELECT rules -> 'pool' FROM editions WHERE window_uid = w.window_uid AND kind = 'final' AND number = 1
      ORDER BY as_of DESC LIMIT 1) AS rules
  FROM windows w JOIN boards b USING (board_uid)
  LEFT JOIN pools p ON p.pool_uid = (b.feed ->> 'poolUid')::int AND p.pool_id IS NOT NULL
  WHERE w.window_uid = $1 AND b.board_id IS NOT NULL`;

/** A window whose standings can be restated, with what they are made of. */
export interface RestatedWindow {
  readonly boardId: string;
  readonly windowId: string;
  readonly feed: BoardFeed;
  /** Unix ms, from the first to before the second. */
  readonly startsAtMs: number;
  readonly endsAtMs: number;
  /** When it was due to take nothing more, Unix ms; it may have closed later. */
  readonly closedAtMs: number;
  /** With the rules of who is ranked that it had at the window's end. */
  readonly pool: PoolDefinition;
  readonly ratedPosition: number;
}

/**
 * What a window's standings are made of now.
 * @throws BOARD_NOT_FOUND, BOARD_NOT_FED, WINDOW_UNENDING, WINDOW_NOT_SETTLED, SNAPSHOT_GONE, NOT_SUPPORTED, RECOMPUTE_TOO_LARGE
 */
export async function restatedWindow(sql: SqlRunner, windowUid: number): Promise<RestatedWindow> {
  const [row] = await sql.query<WindowRow>(WINDOW_OF_FEED, [windowUid]);
  if (!row) throw new LadderError('BOARD_NOT_FOUND', 'The board was deleted or reset meanwhile.');
  const { boardId, windowId, feed, pool, endsAtMs, closedAtMs, ratedPosition, rules } = row;
  if (feed === null || pool === null) throw boardNotFed(boardId);
  assertSettled(row);
  const definition = withBoardDefaults(row.definition);
  refuseLimits(boardId, definition);
  const startsAtMs = row.startsAtMs ?? 0;
  const dueMs = dueAtMs({ endsAtMs }, definition.graceSeconds);
  assertKept(row, pool, feed.pool, startsAtMs);
  return {
    ...{ boardId, windowId, feed, startsAtMs },
    ...{ endsAtMs: endsAtMs!, closedAtMs: Math.min(closedAtMs ?? dueMs, dueMs), ratedPosition: ratedPosition! },
    pool: { ...pool, ...rules },
  };
}

/** Of boards whose entries no pool writes. */
export const boardNotFed = (id: string): LadderError =>
  new LadderError(
    'BOARD_NOT_FED',
    `No pool feeds board "${id}". Its ended windows follow voids, restored runs and sanctions by themselves.`,
  );

/** @throws WINDOW_UNENDING, WINDOW_NOT_SETTLED, SNAPSHOT_GONE */
function assertSettled({ windowId, isSettled, endsAtMs, edition }: WindowRow): void {
  if (endsAtMs === null) {
    throw new LadderError('WINDOW_UNENDING', `The window "${windowId}" has no end: it follows the pool by itself.`);
  }
  if (!isSettled) {
    const detail = `The final standings of "${windowId}" are not written yet. Until then it follows the pool by itself.`;
    throw new LadderError('WINDOW_NOT_SETTLED', detail);
  }
  if (edition === null) {
    const detail = `The standings of "${windowId}" are not kept any more (retention.standingsDays).`;
    throw new LadderError('SNAPSHOT_GONE', detail);
  }
}

/** @throws NOT_SUPPORTED where a limit took entries out: nobody knows any more which */
function refuseLimits(boardId: string, { limits }: BoardDefinition): void {
  if (limits.entriesMax === null && limits.entryLifetimeSeconds === null) return;
  const detail =
    `Board "${boardId}" has entriesMax or entryLifetimeSeconds, and what they took out of a window that ended is not known ` +
    'any more: its standings stay as they were written.';
  throw new LadderError('NOT_SUPPORTED', detail, { option: 'limits' });
}

/** @throws RECOMPUTE_TOO_LARGE where changes of its games are not kept any more */
function assertKept(row: WindowRow, definition: PoolDefinition, pool: string, startsAtMs: number): void {
  const keptFromMs = changesKeptFromMs(definition, row);
  if (startsAtMs >= keptFromMs) return;
  const { windowId } = row;
  const since = toTimestamp(keptFromMs);
  const detail = `Pool "${pool}" keeps changes since ${since} (history.keepDays), and "${windowId}" began before.`;
  throw new LadderError('RECOMPUTE_TOO_LARGE', detail, { historyFrom: since });
}
