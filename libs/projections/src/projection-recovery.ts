import type { Board } from '@laddercast/domain';
import { keptAfterEndMs, type SqlRunner } from '@laddercast/ledger';
import { sleep } from '@laddercast/platform';
import { ChangesByShard } from './changes-by-shard.js';
import { CommittedPositions } from './committed-positions.js';
import { RankProjection } from './rank-projection.js';

export interface ProjectionRecoveryOptions {
  database: SqlRunner;
  projection: RankProjection;
  committed: CommittedPositions;
  /** The board of a uid, undefined when it is gone. */
  boardOf: (boardUid: number) => Promise<Board | undefined>;
  /** Told what is being done, a step at a time. */
  onProgress: (progress: RecoveryProgress) => void;
  /** Told of failures; the next look tries again. */
  onError: (lane: number, error: unknown) => void;
  /** How often marks are looked at, ms. */
  intervalMs?: number;
}

/** What recovery does to a lane: `lost` when it begins, `scanning` a page at a time, `recovered` at the end. */
export interface RecoveryProgress {
  lane: number;
  step: 'lost' | 'scanning' | 'recovered';
  /** The lane's mark before, null when there was none. */
  mark: number | null;
  committed: number;
  /** Entries sent to the ranks so far, and how many changes of a list were newer than what was there. */
  sent: number;
  newer: number;
}

/** A row as the scan reads it; `matches` is false for a page's last row when it only shows how far the page went. */
interface ScannedRow {
  windowUid: number;
  /** The guild's id in `guild_totals`. */
  id: string;
  boardUid: number;
  version: number;
  removed: boolean;
  score: number;
  columns: number[];
  achievedAtMs: number;
  scopes: number[];
  leftScopes: number[];
  matches: boolean;
}

/** A table that the ranks come from. */
interface RankedTable {
  isGuild: boolean;
  pageSql: string;
}

/** How many rows one query looks at. */
const PAGE_ROWS = 5000;
const INTERVAL_MS = 5000;

/** One page of a table by key, whatever its lane, so that no query reads more than a page. */
const pageSql = (table: string, id: string, columns: string): string => `
  WITH page AS (
    SELECT *, ${id} AS id FROM ${table}
    WHERE (window_uid, ${id}) > ($1, $2) ORDER BY window_uid, ${id} LIMIT ${PAGE_ROWS}),
  judged AS (
    SELECT *, lane = $3 AND version > $4 AS matches, lead(id) OVER (ORDER BY window_uid, id) IS NULL AS is_last
    FROM page)
  SELECT window_uid AS "windowUid", id, board_uid AS "boardUid", version, removed, score,
    achieved_at_ms AS "achievedAtMs", matches, ${columns}
  FROM judged WHERE matches OR is_last ORDER BY window_uid, id`;

const RANKED_TABLES: RankedTable[] = [
  { isGuild: false, pageSql: pageSql('entries', 'player_id', 'columns, scopes, left_scopes AS "leftScopes"') },
  {
    isGuild: true,
    pageSql: pageSql(
      'guild_totals',
      'guild_id',
      `'{}'::float8[] AS columns, '{}'::int[] AS scopes, '{}'::int[] AS "leftScopes"`,
    ),
  },
];

/** A page of the windows of boards that live. */
const WINDOWS_SQL = `
  SELECT window_uid AS "windowUid", board_uid AS "boardUid", (extract(epoch FROM ends_at) * 1000)::float8 AS "endsAtMs",
    (extract(epoch FROM ladder_now()) * 1000)::float8 AS "nowMs"
  FROM windows JOIN boards USING (board_uid)
  WHERE board_id IS NOT NULL AND window_uid > $1 ORDER BY window_uid LIMIT ${PAGE_ROWS}`;

/**
 * Notices that the projection has lost changes, and brings them back from PostgreSQL: for each lane it compares the
 * projection's mark with what the log's group has committed. Doing it twice, or beside the group, changes nothing.
 */
export class ProjectionRecovery {
  constructor(private readonly options: ProjectionRecoveryOptions) {}

  /**
   * Looks at the lane now, then every five seconds and whenever `wake` calls its listener (on each reconnection), until
   * the signal aborts. It never rejects.
   */
  async watch(lane: number, signal: AbortSignal, wake: (listener: () => void) => () => void): Promise<void> {
    while (!signal.aborted) {
      const woken = new AbortController();
      const stopListening = wake(() => woken.abort());
      await this.check(lane, signal).catch((error: unknown) => this.options.onError(lane, error));
      await sleep(this.options.intervalMs ?? INTERVAL_MS, AbortSignal.any([signal, woken.signal]));
      stopListening();
    }
  }

  /**
   * Looks at a lane once.
   * @returns whether something was lost, and is there again
   * @throws PROJECTION_UNAVAILABLE, or a database error; what was applied until then stays
   */
  async check(lane: number, signal: AbortSignal): Promise<boolean> {
    const { projection } = this.options;
    const session = projection.session();
    // In this order: a group that is at work commits after it marks, so that a mark read later is never behind.
    const committed = await this.options.committed.of(lane);
    const mark = await projection.readMark(lane);
    if (mark !== null && mark >= committed) return false;
    const progress: RecoveryProgress = { lane, step: 'lost', mark, committed, sent: 0, newer: 0 };
    this.options.onProgress({ ...progress });
    if (mark === null) await projection.openMark(lane);
    await this.reapply(lane, mark ?? 0, progress, signal);
    // The mark was there at the start and must be there now: else Redis was emptied again while the scan ran.
    await projection.advanceMark(lane, mark ?? 0, committed, session);
    this.options.onProgress({ ...progress, step: 'recovered' });
    return true;
  }

  private async reapply(lane: number, mark: number, progress: RecoveryProgress, signal: AbortSignal): Promise<void> {
    const windows = await this.windowsKept(signal);
    for (const table of RANKED_TABLES) {
      let from: [number, string] | null = [0, ''];
      while (from !== null) {
        signal.throwIfAborted();
        const rows: ScannedRow[] = await this.options.database.query(table.pageSql, [...from, lane, mark]);
        const wanted = rows.filter(({ windowUid, matches }) => matches && windows.has(windowUid));
        progress.newer += await this.applyRows(wanted, table, windows);
        progress.sent += wanted.length;
        this.options.onProgress({ ...progress, step: 'scanning' });
        from = nextPage(rows.at(-1), windows);
      }
    }
  }

  /** The windows that the projection still keeps, in the order of their numbers, each with the time until which it does. */
  private async windowsKept(signal: AbortSignal): Promise<Map<number, number | null>> {
    const kept = new Map<number, number | null>();
    for (let from = 0; ;) {
      signal.throwIfAborted();
      const rows = await this.options.database.query<{
        windowUid: number;
        boardUid: number;
        endsAtMs: number | null;
        nowMs: number;
      }>(WINDOWS_SQL, [from]);
      for (const { windowUid, boardUid, endsAtMs, nowMs } of rows) {
        const board = await this.options.boardOf(boardUid);
        if (board === undefined) continue;
        const keepUntilMs = endsAtMs === null ? null : endsAtMs + keptAfterEndMs(board.definition);
        if (keepUntilMs === null || keepUntilMs > nowMs) kept.set(windowUid, keepUntilMs);
      }
      if (rows.length < PAGE_ROWS) return kept;
      from = rows.at(-1)!.windowUid;
    }
  }

  private async applyRows(
    rows: readonly ScannedRow[],
    { isGuild }: RankedTable,
    windows: ReadonlyMap<number, number | null>,
  ): Promise<number> {
    const changes = new ChangesByShard();
    const boards = new Map<number, Board | undefined>();
    for (const row of rows) {
      const { boardUid, windowUid, id: playerId, version, scopes, leftScopes } = row;
      // Asked anew for each page: a board that is deleted meanwhile must not come back.
      if (!boards.has(boardUid)) boards.set(boardUid, await this.options.boardOf(boardUid));
      const board = boards.get(boardUid);
      if (board === undefined) continue;
      const keepUntilMs = windows.get(windowUid) ?? null;
      const values = row.removed ? null : row;
      changes.add(board, { windowUid, playerId, version, values, scopes, leftScopes, isGuild, keepUntilMs });
    }
    const { projection } = this.options;
    return changes.apply(({ list, shard, changes, keepUntilMs }) =>
      projection.apply(list, shard, changes, keepUntilMs, true),
    );
  }
}

/** Where the next page begins; null at the end. What is left of a window that is not kept is passed over. */
function nextPage(last: ScannedRow | undefined, windows: ReadonlyMap<number, number | null>): [number, string] | null {
  if (last === undefined) return null;
  if (windows.has(last.windowUid)) return [last.windowUid, last.id];
  for (const windowUid of windows.keys()) if (windowUid > last.windowUid) return [windowUid, ''];
  return null;
}
