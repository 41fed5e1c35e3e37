import { withBoardDefaults, type BoardDefinition } from '@laddercast/domain';
import { Environment, monotonicMs } from '@laddercast/platform';
import { Inject, Injectable } from '@nestjs/common';
import { COUNT_SINCE, entriesBehindSql, WINDOW_OF_LIMITS, WINDOWS_TO_TRIM } from './entry-limits-sql.js';
import { EntryRemoval } from './entry-removal.js';
import { Lanes } from '../lanes/lanes.js';
import { ledgerNowMs } from '../database/ledger-clock.js';
import { outboxBacklog } from '../lanes/outbox-backlog.js';
import { OutboxNotifier } from '../lanes/outbox-notifier.js';
import { PostgresDatabase } from '../database/postgres-database.js';
import { tryEach } from '../database/try-each.js';

/** A window is trimmed when it holds so much more than its limit. */
const SLACK = 1.02;
/** How often a window is counted completely; then everything over its limit goes, however little. */
const COUNT_EVERY_MS = 60_000;
/** How long after a run's time was taken the run may be committed. */
const COMMITTED_WITHIN_MS = 1000;
/** The most entries that one look at a window's order removes: some seconds, in which others may leave too. */
const CUT_AT_ONCE = 5_000;
/** The longest that counting or sorting one window may take: some fifty million entries. */
const CUT_TIMEOUT_MS = 60_000;
/** The most windows that one statement counts. */
const WINDOWS_AT_ONCE = 500;
/** Windows of up to so many entries are counted within the time-outs of ordinary statements. */
const QUICK_ENTRIES_MAX = 200_000;

interface TrimmedWindow {
  window_uid: number;
  definition_revision: number;
  entries_max: number;
  expired_until_ms: number;
}

/** How many entries stood in a window, at a time of the ledger; `atMs` is the process's own (monotonic). */
interface CountedWindow {
  entries: number;
  sinceMs: number;
  atMs: number;
}

/**
 * Keeps of each running window the best `limits.entriesMax`, by the board's own order. The number of entries is
 * estimated from the last count and from the entries begun since, which costs an index scan over the latter. Which
 * entries go is decided by one look at the whole order, and again for each entry under its lane.
 */
@Injectable()
export class EntryTrimmer {
  private readonly counted = new Map<number, CountedWindow>();
  private readonly removal: EntryRemoval;

  /** @param limits nothing is trimmed while half of `OUTBOX_EVENTS_MAX` events wait in the outbox */
  constructor(
    private readonly database: PostgresDatabase,
    private readonly lanes: Lanes,
    notifier: OutboxNotifier,
    @Inject(Environment) private readonly limits: Pick<Environment, 'OUTBOX_EVENTS_MAX'>,
  ) {
    this.removal = new EntryRemoval(database, lanes, notifier);
  }

  /**
   * Trims every window that is over its limit by 2 %, or, once a minute, by anything; returns how many entries went.
   * @throws AggregateError of what failed; it holds up no other window
   */
  async run(signal: AbortSignal): Promise<number> {
    const windows = await this.database.query<TrimmedWindow>(WINDOWS_TO_TRIM);
    const uids = new Set(windows.map(({ window_uid }) => window_uid));
    for (const uid of this.counted.keys()) if (!uids.has(uid)) this.counted.delete(uid);
    if (windows.length === 0 || (await this.isLogBehind())) return 0;
    const begun = await this.begunSince(windows.filter((window) => !this.isDue(window)));
    let trimmed = 0;
    await tryEach(windows, signal, async (window) => {
      const isDue = this.isDue(window);
      const most = isDue ? window.entries_max : window.entries_max * SLACK;
      const known = this.counted.get(window.window_uid);
      if (!isDue && known!.entries + (begun.get(window.window_uid) ?? 0) <= most) return;
      trimmed += await this.trim(window, most, signal);
    });
    return trimmed;
  }

  private async trim(window: TrimmedWindow, most: number, signal: AbortSignal): Promise<number> {
    let trimmed = 0;
    while (!signal.aborted) {
      const entries = await this.count(window);
      if (entries <= most || (trimmed > 0 && (await this.isLogBehind()))) break;
      const removed = await this.cut(window, signal);
      trimmed += removed;
      const known = this.counted.get(window.window_uid)!;
      this.counted.set(window.window_uid, { ...known, entries: entries - removed });
      if (entries - window.entries_max <= CUT_AT_ONCE || removed === 0) break;
    }
    return trimmed;
  }

  private isDue({ window_uid }: TrimmedWindow): boolean {
    const known = this.counted.get(window_uid);
    return known === undefined || monotonicMs() - known.atMs >= COUNT_EVERY_MS;
  }

  private async count({ window_uid, entries_max, expired_until_ms }: TrimmedWindow): Promise<number> {
    const sinceMs = (await ledgerNowMs(this.database)) - COMMITTED_WITHIN_MS;
    const [row] = await this.patiently<{ entries: number }>(entries_max, COUNT_SINCE, [
      [window_uid],
      [expired_until_ms + 1],
    ]);
    this.counted.set(window_uid, { entries: row!.entries, sinceMs, atMs: monotonicMs() });
    return row!.entries;
  }

  /** An upper bound: entries with a lifetime that were renewed are counted twice. */
  private async begunSince(windows: readonly TrimmedWindow[]): Promise<Map<number, number>> {
    const begun = new Map<number, number>();
    for (let from = 0; from < windows.length; from += WINDOWS_AT_ONCE) {
      const uids = windows.slice(from, from + WINDOWS_AT_ONCE).map(({ window_uid }) => window_uid);
      const rows = await this.database.query<{ window_uid: number; entries: number }>(COUNT_SINCE, [
        uids,
        uids.map((uid) => this.counted.get(uid)!.sinceMs),
      ]);
      for (const { window_uid, entries } of rows) begun.set(window_uid, entries);
    }
    return begun;
  }

  private async cut(window: TrimmedWindow, signal: AbortSignal): Promise<number> {
    const { window_uid: windowUid, definition_revision: definitionRevision, entries_max, expired_until_ms } = window;
    const [board] = await this.database.query<{ definition: BoardDefinition }>(WINDOW_OF_LIMITS, [
      windowUid,
      definitionRevision,
    ]);
    if (board === undefined) return 0;
    const behind = await this.patiently<{ player_id: string; version: number }>(
      entries_max,
      entriesBehindSql(withBoardDefaults(board.definition)),
      [windowUid, entries_max, CUT_AT_ONCE, expired_until_ms],
    );
    const seen = behind.map(({ player_id, version }) => ({ playerId: player_id, version, renewedAtMs: null }));
    return this.removal.remove({ windowUid, definitionRevision }, seen, signal);
  }

  /** On a connection of its own if a window may take longer than an ordinary statement may. */
  private patiently<Row>(entriesMax: number, sql: string, parameters: unknown[]): Promise<Row[]> {
    if (entriesMax <= QUICK_ENTRIES_MAX) return this.database.query<Row>(sql, parameters);
    return this.database.longTransaction(CUT_TIMEOUT_MS, (transaction) => transaction.query<Row>(sql, parameters));
  }

  private async isLogBehind(): Promise<boolean> {
    return (await outboxBacklog(this.database, this.lanes)) > this.limits.OUTBOX_EVENTS_MAX / 2;
  }
}
