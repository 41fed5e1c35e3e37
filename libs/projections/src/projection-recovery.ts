import { encodeSortKey, shardOf, type Board } from '@laddercast/domain';
import type { SqlRunner } from '@laddercast/ledger';
import { sleep } from '@laddercast/platform';
import { CommittedPositions } from './committed-positions.js';
import { RankProjection, type ProjectedChange, type RankList } from './rank-projection.js';

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
  /** Entries sent to the ranks so far, and how many of them were newer than what was there. */
  sent: number;
  newer: number;
}

/** An entry as the scan reads it; `matches` is false for a page's last row when it only shows how far the page went. */
interface ScannedRow {
  windowUid: number;
  playerId: string;
  boardUid: number;
  version: number;
  removed: boolean;
  score: number;
  columns: number[];
  achievedAtMs: number;
  keepUntilMs: number | null;
  matches: boolean;
}

/** How many entries one query looks at. */
const PAGE_ROWS = 5000;
const INTERVAL_MS = 5000;

/**
 * One page of entries by key, whatever their lane, so that no query reads more than a page. Answered are those that the
 * projection wants (not of ended windows that it no longer keeps), and the page's last row.
 */
const PAGE_SQL = `
  WITH page AS (
    SELECT * FROM entries WHERE (window_uid, player_id) > ($1, $2) ORDER BY window_uid, player_id LIMIT ${PAGE_ROWS}),
  judged AS (
    SELECT p.*, (extract(epoch FROM kept.until) * 1000)::float8 AS keep_until_ms,
      p.lane = $3 AND p.version > $4 AND w.window_uid IS NOT NULL
        AND (kept.until IS NULL OR kept.until > ladder_now()) AS matches,
      lead(p.player_id) OVER (ORDER BY p.window_uid, p.player_id) IS NULL AS is_last
    FROM page p
    LEFT JOIN windows w ON w.window_uid = p.window_uid
    LEFT JOIN boards b ON b.board_uid = w.board_uid
    CROSS JOIN LATERAL (
      SELECT w.ends_at + (b.definition->>'keepEndedSeconds')::float8 * interval '1 second' AS until) kept)
  SELECT window_uid AS "windowUid", player_id AS "playerId", board_uid AS "boardUid", version, removed, score, columns,
    achieved_at_ms AS "achievedAtMs", keep_until_ms AS "keepUntilMs", matches
  FROM judged WHERE matches OR is_last ORDER BY window_uid, player_id`;

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
    let from: [number, string] = [0, ''];
    for (;;) {
      signal.throwIfAborted();
      const rows = await this.options.database.query<ScannedRow>(PAGE_SQL, [...from, lane, mark]);
      const wanted = rows.filter((row) => row.matches);
      progress.newer += await this.applyRows(wanted);
      progress.sent += wanted.length;
      this.options.onProgress({ ...progress, step: 'scanning' });
      const last = rows.at(-1);
      if (last === undefined) return;
      from = [last.windowUid, last.playerId];
    }
  }

  private async applyRows(rows: readonly ScannedRow[]): Promise<number> {
    const batches = new Map<
      string,
      { list: RankList; shard: number; keepUntilMs: number | null; changes: ProjectedChange[] }
    >();
    for (const row of rows) {
      const board = await this.options.boardOf(row.boardUid);
      if (board === undefined) continue;
      const shards = board.definition.sharding.count;
      const shard = shardOf(row.playerId, shards);
      const name = `${row.windowUid}.${shard}`;
      const list = { boardUid: row.boardUid, windowUid: row.windowUid, ordering: board.definition, shards };
      const batch = batches.get(name) ?? { list, shard, keepUntilMs: row.keepUntilMs, changes: [] };
      batches.set(name, batch);
      const key = row.removed ? null : encodeSortKey(board.definition, row, row.playerId);
      batch.changes.push({ playerId: row.playerId, version: row.version, key });
    }
    let newer = 0;
    for (const { list, shard, changes, keepUntilMs } of batches.values()) {
      newer += await this.options.projection.apply(list, shard, changes, keepUntilMs, true);
    }
    return newer;
  }
}
