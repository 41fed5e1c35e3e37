import { everyLayout, type Board } from '@laddercast/domain';
import { isRetriable } from '@laddercast/event-log';
import {
  BoardCatalog,
  keptAfterEndMs,
  Lanes,
  LIVING_WINDOWS_AT_ONCE,
  livingWindows,
  PostgresDatabase,
  type SqlRunner,
} from '@laddercast/ledger';
import { metrics, nap, RateLimitedLog, retryWhile, type Nap } from '@laddercast/platform';
import { Inject, Injectable, Logger } from '@nestjs/common';
import { ChangesByShard } from '../ranks/changes-by-shard.js';
import { CommittedPositions } from './committed-positions.js';
import {
  entryOfRow,
  LedgerScan,
  workOnPages,
  type ScannedPage,
  type WindowKept,
  type WindowsKept,
} from './ledger-scan.js';
import { RangeSweeper } from '../range-shards/range-sweeper.js';
import { RankProjection, RecoveryRun } from '../ranks/rank-projection.js';
import { RestoredLedgerCheck } from './restored-ledger-check.js';

/** The boards as recovery looks for them; see BoardCatalog. */
export interface RecoveredBoards {
  /** Has all that was committed before the call known when it resolves. */
  refresh(): Promise<void>;
  /** The board of a uid, undefined when it is gone. */
  byUid(boardUid: number): Promise<Board | undefined>;
  all(): Board[];
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

/** How often marks are looked at. */
const INTERVAL_MS = 5000;
const RETRY = { firstMs: 100, maxMs: 5000 };

/**
 * Notices that the projection has lost changes, and brings them back from PostgreSQL: for each lane it compares the
 * projection's mark with what the log's group has committed. Doing it twice, or beside the group, changes nothing.
 */
@Injectable()
export class ProjectionRecovery {
  private readonly log = new Logger('recovery');
  private readonly failures = new RateLimitedLog('recovery');
  private readonly sentOf = new Map<number, number>();
  /** Told what is being done, a step at a time. */
  onProgress: (progress: RecoveryProgress) => void = () => undefined;

  constructor(
    @Inject(PostgresDatabase) private readonly database: SqlRunner,
    private readonly projection: RankProjection,
    private readonly committed: CommittedPositions,
    @Inject(BoardCatalog) private readonly boards: RecoveredBoards,
    @Inject(RestoredLedgerCheck) private readonly ledgerCheck: Pick<RestoredLedgerCheck, 'isAhead'>,
    @Inject(RangeSweeper) private readonly sweeper: Pick<RangeSweeper, 'removeStrays'>,
    @Inject(Lanes) private readonly lanes: Pick<Lanes, 'leftFor'>,
  ) {}

  /**
   * Looks at the lane now, then every five seconds and whenever `wake` calls its listener (on each reconnection), until
   * the signal aborts. It never rejects.
   */
  async watch(lane: number, signal: AbortSignal, wake: (listener: () => void) => () => void): Promise<void> {
    let isWoken = false;
    let resting: Nap | null = null;
    const stopListening = wake(() => {
      isWoken = true;
      resting?.wake();
    });
    while (!signal.aborted) {
      isWoken = false;
      await this.check(lane, signal).catch((error: unknown) => {
        if (!signal.aborted) this.failures.warn('A lane cannot be recovered yet', error, { lane });
      });
      if (isWoken) continue;
      resting = nap(INTERVAL_MS, signal);
      await resting.over;
    }
    stopListening();
  }

  /**
   * Begins the mark of a lane that was raised, where nothing of it was applied: what its players had before is of the lanes that they
   * left, and nothing of this one is missing.
   * @throws PROJECTION_UNAVAILABLE, or a database error
   */
  async open(lane: number): Promise<void> {
    if ((await this.committed.of(lane)) === 0) await this.projection.openMark(lane);
  }

  /**
   * Looks at a lane once.
   * @returns whether something was lost, and is there again
   * @throws PROJECTION_UNAVAILABLE, or a database error; what was applied until then stays
   */
  async check(lane: number, signal: AbortSignal): Promise<boolean> {
    const { projection } = this;
    const session = projection.session();
    // In this order: a group that is at work commits after it marks, so that a mark read later is never behind.
    const committed = await this.committed.of(lane);
    const mark = await projection.readMark(lane);
    if (mark !== null && mark >= committed) {
      // Also where the answer to the last mark of a recovery was lost.
      metrics.laneRecovering.set({ lane }, 0);
      return false;
    }
    // Then it is emptied first, and nothing is brought back meanwhile.
    if (await this.ledgerCheck.isAhead()) return false;
    const progress: RecoveryProgress = { lane, step: 'lost', mark, committed, sent: 0, newer: 0 };
    this.tell({ ...progress });
    // A generation that was opened before the loss, and that this process has not heard of, lost as much as the others;
    // one that is opened from here on is filled after it.
    await this.boards.refresh();
    if (mark === null) await projection.openMark(lane);
    await this.reapply(lane, mark ?? 0, progress, { session, signal });
    await this.sweeper.removeStrays(signal);
    // The mark was there at the start and must be there now: else Redis was emptied again while the scan ran.
    await projection.advanceMark(lane, mark ?? 0, committed, session);
    this.tell({ ...progress, step: 'recovered' });
    return true;
  }

  /** Says it in the metrics and the log. */
  private tell(progress: RecoveryProgress): void {
    const { lane, step, sent, committed } = progress;
    metrics.laneRecovering.set({ lane }, step === 'recovered' ? 0 : 1);
    metrics.recoveredEntries.inc(sent - (step === 'lost' ? 0 : (this.sentOf.get(lane) ?? 0)));
    this.sentOf.set(lane, sent);
    if (committed > 0) this.log.log({ msg: `lane ${lane}: ${step}`, ...progress });
    this.onProgress(progress);
  }

  private async reapply(
    lane: number,
    mark: number,
    progress: RecoveryProgress,
    { session, signal }: { session: number; signal: AbortSignal },
  ): Promise<void> {
    // A store that is slow for a moment costs a page, and not the whole scan; one that was replaced wants another scan.
    const isPassing = (error: unknown): boolean => isRetriable(error) && this.projection.session() === session;
    const windows = await this.windowsKept(signal);
    const others = await this.lanesLeftFor(lane, mark);
    const condition = { lane, version: mark, boardUids: this.boardsFilledAfter(lane, mark), others };
    const run = new RecoveryRun();
    await workOnPages(new LedgerScan(this.database).ofLane(windows, condition), async (page) => {
      signal.throwIfAborted();
      const work = (): Promise<number> => this.applyPage(page, windows, run);
      progress.newer += await retryWhile(work, isPassing, { backoff: RETRY, signal });
      progress.sent += page.rows.length;
      this.tell({ ...progress, step: 'scanning' });
    });
  }

  /**
   * The lanes of players who left this one behind the mark, each with the position up to which it was applied: a row from beyond
   * that is not brought by its lane yet, and what its player had before must not be missing until then.
   */
  private async lanesLeftFor(lane: number, mark: number): Promise<Map<number, number>> {
    const lanes = this.lanes.leftFor(lane, mark);
    const applied = await this.committed.ofAll(lanes);
    return new Map(lanes.map((other, at) => [other, applied[at]!]));
  }

  /**
   * Boards of which more may be missing than what the log brought since the mark: a generation was filled with entries
   * of any age, and that is proven only by a mark from beyond its barrier.
   */
  private boardsFilledAfter(lane: number, mark: number): number[] {
    const isFilledAfter = (board: Board): boolean =>
      everyLayout(board.layouts).some(({ filledAt }) => (filledAt?.[lane] ?? 0) > mark);
    return this.boards
      .all()
      .filter(isFilledAfter)
      .map(({ uid }) => uid);
  }

  /** The windows that the projection still keeps, in the order of their numbers, each with the time until which it does. */
  private async windowsKept(signal: AbortSignal): Promise<WindowsKept> {
    const kept = new Map<number, WindowKept>();
    for (let from = 0; ;) {
      signal.throwIfAborted();
      const page = await livingWindows(this.database, from);
      for (const { windowUid, boardUid, startsAtMs, endsAtMs, nowMs } of page) {
        const board = await this.boards.byUid(boardUid);
        if (board === undefined) continue;
        const keepUntilMs = endsAtMs === null ? null : endsAtMs + keptAfterEndMs(board.definition);
        if (keepUntilMs === null || keepUntilMs > nowMs) kept.set(windowUid, { startsAtMs, endsAtMs, keepUntilMs });
      }
      if (page.length < LIVING_WINDOWS_AT_ONCE) return kept;
      from = page.at(-1)!.windowUid;
    }
  }

  private async applyPage({ isGuild, rows }: ScannedPage, windows: WindowsKept, run: RecoveryRun): Promise<number> {
    const changes = new ChangesByShard();
    const boards = new Map<number, Board | undefined>();
    for (const row of rows) {
      const { boardUid } = row;
      // Asked anew for each page: a board that is deleted meanwhile must not come back.
      if (!boards.has(boardUid)) boards.set(boardUid, await this.boards.byUid(boardUid));
      const board = boards.get(boardUid);
      if (board) changes.add(board, entryOfRow(row, isGuild, windows.get(row.windowUid)!));
    }
    const { projection } = this;
    return changes.apply(({ list, shard, changes, keepUntilMs }) =>
      projection.apply(list, shard, changes, keepUntilMs, run),
    );
  }
}
