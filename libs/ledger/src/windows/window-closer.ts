import { LadderError, type BoardChanged, type WindowClosed } from '@laddercast/domain';
import { monotonicMs, sleep } from '@laddercast/platform';
import { Injectable } from '@nestjs/common';
import { AllLanes } from '../lanes/all-lanes.js';
import { recordAudit, type AuditRecord } from '../operators/audit-log.js';
import { deleteAttempts, deleteFrozenRows } from '../standings/edition-removal.js';
import {
  EDITION_TIMEOUT_MS,
  EditionOvertakenError,
  previewStandings,
  sealEdition,
  startOfEdition,
  WINDOW_COLUMNS,
  windowOfRow,
  writeEdition,
  type StandingsPreview,
  type WindowOfDefinition,
  type WindowRow,
} from '../standings/edition-writer.js';
import { appendEvent, drawPositions } from '../lanes/lane-events.js';
import { Lanes } from '../lanes/lanes.js';
import { OutboxNotifier } from '../lanes/outbox-notifier.js';
import { PostgresDatabase, type SqlRunner } from '../database/postgres-database.js';
import { isDatabaseUnavailable } from '../database/postgres-errors.js';
import { forgetFailure, settlementFailed, SettlementFailures } from '../standings/settlement-failures.js';
import { tryEach } from '../database/try-each.js';
import {
  ANNOUNCE_BOARDS,
  CLOSE_WINDOWS,
  CLOSED_AT_ONCE,
  FAILED_WINDOWS,
  UNSETTLED_WINDOWS,
  WINDOWS_TO_CLOSE,
} from './window-closing-sql.js';

/** How long an operator's call waits for standings that another process is writing. */
const SETTLED_WITHIN_MS = 60_000;
const SETTLE_AGAIN_EVERY_MS = 250;

/** A window that an operator closes: which, who, and whether really. */
export interface CloseRequest {
  windowUid: number;
  dryRun: boolean;
  audit: AuditRecord;
}

/**
 * Ends windows exactly once, in two steps, each noted in the window's row. First, under all lanes, it is closed, so
 * that nothing enters any more. Then, with nothing moving, its final standings are written with their event, and it is
 * settled. Any process may continue where another stopped.
 */
@Injectable()
export class WindowCloser {
  constructor(
    private readonly database: PostgresDatabase,
    private readonly lanes: Lanes,
    private readonly allLanes: AllLanes,
    private readonly notifier: OutboxNotifier,
    private readonly failures: SettlementFailures,
  ) {}

  /** Closes and settles what is due, in the order of the ends; returns how many windows were settled. */
  async run(signal: AbortSignal): Promise<number> {
    await this.closeDue(signal);
    return (await this.settleClosed(signal)) + (await this.settleFailed(signal));
  }

  /** Closes the windows whose end and grace are over; returns how many. */
  async closeDue(signal: AbortSignal): Promise<number> {
    let closed = 0;
    while (!signal.aborted) {
      // First a look without the locks: there is hardly ever a window to close.
      if ((await this.database.query(WINDOWS_TO_CLOSE)).length === 0) return closed;
      const due = await this.allLanes.change(async (transaction) => {
        const rows = await transaction.query<WindowRow>(WINDOWS_TO_CLOSE);
        await this.close(transaction, rows.map(windowOfRow));
        return rows.length;
      });
      this.wakeAll();
      closed += due;
      if (due < CLOSED_AT_ONCE) return closed;
    }
    return closed;
  }

  /**
   * Writes the standings of closed windows; one that fails holds up no other, and is left to {@link settleFailed}.
   * @returns how many windows were settled
   * @throws AggregateError of what failed
   */
  settleClosed(signal: AbortSignal): Promise<number> {
    return this.settleWindows(UNSETTLED_WINDOWS, signal);
  }

  /** The same of windows whose standings could not be written before, each once its wait is over; the waits grow. */
  settleFailed(signal: AbortSignal): Promise<number> {
    return this.settleWindows(FAILED_WINDOWS, signal);
  }

  private async settleWindows(sql: string, signal: AbortSignal): Promise<number> {
    const tried: number[] = [];
    let settled = 0;
    for (;;) {
      const waiting = await this.database.query<WindowRow>(sql, [tried]);
      await tryEach(waiting, signal, async (row) => {
        tried.push(row.window_uid);
        if ((await this.settleIfThere(windowOfRow(row), signal)) !== null) settled += 1;
      });
      if (waiting.length < CLOSED_AT_ONCE || signal.aborted) return settled;
    }
  }

  /**
   * Closes one window now, without grace, and settles it, also where that failed before; or only says what would be written.
   * @throws WINDOW_CLOSED when it is settled already, PROJECTION_BEHIND when writing its standings takes too long,
   *   SETTLEMENT_FAILED when they cannot be written
   */
  async closeNow({ windowUid, dryRun, audit }: CloseRequest): Promise<StandingsPreview[]> {
    const { database, allLanes } = this;
    if (dryRun) {
      const window = await unsettledWindow(database, windowUid);
      return database
        .longTransaction(EDITION_TIMEOUT_MS, (transaction) => previewStandings(transaction, window))
        .catch((error: unknown) => {
          throw isDatabaseUnavailable(error) ? error : settlementFailed(window.windowId, error);
        });
    }
    const window = await allLanes.change(async (transaction) => {
      const { isOpen, ...unsettled } = await unsettledWindow(transaction, windowUid);
      await recordAudit(transaction, audit);
      if (!isOpen) return unsettled;
      await transaction.query(
        `UPDATE windows SET ends_at = least(ends_at, date_trunc('milliseconds', ladder_now())) WHERE window_uid = $1`,
        [windowUid],
      );
      await this.close(transaction, [unsettled]);
      return unsettled;
    });
    this.wakeAll();
    return startOfEdition(database, await this.settled(window), window.definition.rankStyle);
  }

  /** Under all lanes, so everything written before is in, and nothing comes after. */
  private async close(transaction: SqlRunner, windows: readonly WindowOfDefinition[]): Promise<void> {
    if (windows.length === 0) return;
    await transaction.query(CLOSE_WINDOWS, [windows.map(({ windowUid }) => windowUid)]);
    const boards = [...new Map(windows.map(({ boardUid, boardId }) => [boardUid, boardId]))];
    const lanes = this.lanes.all;
    const positions = await drawPositions(transaction, boards.length * (1 + lanes.length));
    const revisions = boards.map(([boardUid, boardId]) => ({ boardUid, boardId, revision: positions.shift()! }));
    const events = revisions.flatMap((changed) =>
      lanes.map((lane) => ({
        lane,
        position: positions.shift()!,
        event: { type: 'board-changed', ...changed } as BoardChanged,
      })),
    );
    await transaction.query(ANNOUNCE_BOARDS, [
      revisions.map(({ boardUid }) => boardUid),
      revisions.map(({ revision }) => revision),
      events.map(({ lane }) => lane),
      events.map(({ position }) => position),
      events.map(({ event }) => String(event.boardUid)),
      events.map(({ event }) => JSON.stringify(event)),
    ]);
  }

  /** The number of the final edition, once it is written by this process or another. */
  private async settled(window: WindowOfDefinition): Promise<number> {
    const untilMs = monotonicMs() + SETTLED_WITHIN_MS;
    while (monotonicMs() < untilMs) {
      const uid = await this.settle(window).catch((error: unknown) => {
        if (error instanceof EditionOvertakenError) {
          throw new LadderError('BOARD_NOT_FOUND', `Board "${window.boardId}" was deleted or reset meanwhile.`);
        }
        if (!isDatabaseUnavailable(error)) throw settlementFailed(window.windowId, error);
        return null;
      });
      if (uid !== null) return uid;
      const [edition] = await this.database.query<{ edition_uid: number }>(
        `SELECT edition_uid FROM editions WHERE window_uid = $1 AND kind = 'final' AND number = 1`,
        [window.windowUid],
      );
      if (edition) return edition.edition_uid;
      await sleep(SETTLE_AGAIN_EVERY_MS);
    }
    const detail = `"${window.windowId}" is closed; its final standings are still being written.`;
    throw new LadderError('PROJECTION_BEHIND', detail, { retryAfterSeconds: 5 });
  }

  /** @returns null also while another process writes them */
  private settleIfThere(window: WindowOfDefinition, signal: AbortSignal): Promise<number | null> {
    return this.settle(window, signal).catch((error: unknown) => {
      // Its board is gone.
      if (error instanceof EditionOvertakenError) return null;
      throw error;
    });
  }

  /**
   * Writes the final standings and their event, once; a failure is recorded.
   * @returns the edition; null when there is nothing to be done, or another process is at it
   */
  private settle(window: WindowOfDefinition, signal?: AbortSignal): Promise<number | null> {
    const { windowUid } = window;
    return this.failures.recording({ windowUid, kind: 'final', signal }, () => this.writeStandings(window, signal));
  }

  private async writeStandings(window: WindowOfDefinition, signal?: AbortSignal): Promise<number | null> {
    const { database } = this;
    const { windowUid, boardUid } = window;
    // Nobody reads them since the end. After a crash this is done again, as long as the window is not settled.
    await deleteFrozenRows(database, windowUid);
    await deleteAttempts(database, windowUid);
    const sealed = await database.longTransaction(
      EDITION_TIMEOUT_MS,
      async (transaction) => {
        // A process that settles the same window holds its row.
        const [row] = await transaction.query<{ as_of: string }>(
          `SELECT closed_at::text AS as_of FROM windows WHERE window_uid = $1 AND state = 'closed'
           FOR NO KEY UPDATE SKIP LOCKED`,
          [windowUid],
        );
        if (row === undefined) return null;
        const written = await writeEdition(transaction, window, 'final', { asOf: row.as_of, top: null });
        if (written === null) throw new Error(`Window ${windowUid} has final standings and is not settled.`);
        const { uid } = written;
        const { version, lane } = await sealEdition(transaction, window, { uid, kind: 'final' });
        await transaction.query(`UPDATE windows SET state = 'settled' WHERE window_uid = $1`, [windowUid]);
        await forgetFailure(transaction, windowUid, 'final');
        const event = eventOf(window, version);
        await appendEvent(transaction, lane, version, String(boardUid), event);
        return { uid, lane };
      },
      signal,
    );
    if (sealed !== null) this.notifier.wake(sealed.lane);
    return sealed?.uid ?? null;
  }

  private wakeAll(): void {
    for (const lane of this.lanes.all) this.notifier.wake(lane);
  }
}

const eventOf = ({ boardUid, windowUid, windowId }: WindowOfDefinition, version: number): WindowClosed => ({
  type: 'window-closed',
  boardUid,
  windowUid,
  windowId,
  version,
});

/** @throws WINDOW_CLOSED */
async function unsettledWindow(
  runner: SqlRunner,
  windowUid: number,
): Promise<WindowOfDefinition & { isOpen: boolean }> {
  const [row] = await runner.query<WindowRow & { is_open: boolean }>(
    `SELECT ${WINDOW_COLUMNS}, w.state = 'open' AS is_open FROM windows w JOIN boards b USING (board_uid)
     WHERE w.window_uid = $1 AND w.state <> 'settled' AND b.board_id IS NOT NULL`,
    [windowUid],
  );
  if (row) return { ...windowOfRow(row), isOpen: row.is_open };
  throw new LadderError('WINDOW_CLOSED', 'The window is closed already: its final standings are what it shows.');
}
