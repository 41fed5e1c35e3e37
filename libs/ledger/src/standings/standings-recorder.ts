import { Injectable } from '@nestjs/common';
import { ADVISORY_LOCKS } from '../database/advisory-locks.js';
import {
  EDITION_TIMEOUT_MS,
  EditionOvertakenError,
  sealEdition,
  WINDOW_COLUMNS,
  windowOfRow,
  writeEdition,
  type WindowOfDefinition,
  type WindowRow,
} from './edition-writer.js';
import { takeLane } from '../lanes/lane-locks.js';
import { Lanes, placedAnew } from '../lanes/lanes.js';
import { forgetFailure, SettlementFailures, type AwaitedKind } from './settlement-failures.js';
import { ledgerNowMs } from '../database/ledger-clock.js';
import { PostgresDatabase, type SqlRunner } from '../database/postgres-database.js';
import { tryEach } from '../database/try-each.js';

const MINUTE_MS = 60_000;
/** The most windows that one look finds; the next look finds the others. */
const WINDOWS_AT_ONCE = 1000;

/** The clock as a value: a volatile function in a condition would be asked for each row, and no index would be used. */
const NOW = '(SELECT ladder_now())';

/** Frozen windows of which the standings are not written. */
const FROZEN_WINDOWS = `
  SELECT ${WINDOW_COLUMNS}, w.freeze_at::text AS as_of FROM windows w JOIN boards b USING (board_uid)
  WHERE w.state = 'open' AND w.ends_at > ${NOW} AND w.freeze_at <= ${NOW} AND b.board_id IS NOT NULL
    AND NOT EXISTS (
      SELECT FROM editions e WHERE e.window_uid = w.window_uid AND e.kind = 'frozen' AND e.as_of = w.freeze_at)`;

/** The beginning of the present stretch of `keepEveryMinutes`, all of which count from 1970. */
const STRETCH = `to_timestamp(floor(extract(epoch FROM ${NOW}) / stretch.seconds) * stretch.seconds)`;

/** Running windows of boards that keep how they stood, of which the present stretch has no standings yet. */
const WINDOWS_TO_KEEP = `
  SELECT ${WINDOW_COLUMNS}, date_trunc('milliseconds', ${NOW})::text AS as_of
  FROM boards b JOIN windows w USING (board_uid)
  CROSS JOIN LATERAL (
    SELECT 60 * (b.definition->'snapshot'->>'keepEveryMinutes')::float8 AS seconds) AS stretch
  WHERE w.state = 'open' AND b.board_id IS NOT NULL AND stretch.seconds IS NOT NULL
    AND (w.starts_at IS NULL OR w.starts_at <= ${NOW}) AND (w.ends_at IS NULL OR w.ends_at > ${NOW})
    AND (w.freeze_at IS NULL OR w.freeze_at > ${NOW})
    AND NOT EXISTS (
      SELECT FROM editions e WHERE e.window_uid = w.window_uid AND e.kind = 'kept' AND e.as_of >= ${STRETCH})`;

/** Those that failed have a turn of their own. */
const neverFailed = (kind: AwaitedKind): string => `
  AND NOT EXISTS (SELECT FROM settlement_failures f WHERE f.window_uid = w.window_uid AND f.kind = '${kind}')`;

/** Frozen windows whose standings are to be written, the first to freeze first. */
export const FROZEN_WINDOWS_TO_WRITE = `
  ${FROZEN_WINDOWS} ${neverFailed('frozen')} ORDER BY w.freeze_at, w.window_uid LIMIT ${WINDOWS_AT_ONCE}`;

/** Windows whose next try is due; frozen ones first, because nobody can read them until then. */
export const FAILED_STANDINGS = `
  SELECT window_uid, kind FROM settlement_failures WHERE kind IN ('frozen', 'kept') AND retry_at <= ${NOW}
  ORDER BY kind, window_uid LIMIT ${WINDOWS_AT_ONCE}`;

type DatedRow = WindowRow & { as_of: string };

/** Writes the standings of windows that froze, and of boards that keep how they stood. */
@Injectable()
export class StandingsRecorder {
  /** The minute, by the database's clock, for which everything due has been kept. */
  private keptMinute: number | null = null;

  constructor(
    private readonly database: PostgresDatabase,
    private readonly lanes: Lanes,
    private readonly failures: SettlementFailures,
  ) {}

  /**
   * Writes the frozen standings that are missing, as of their freeze however late it is; one that fails holds up no other,
   * and is left to {@link keepFailed}.
   * @throws AggregateError of what failed
   */
  async keepFrozen(signal: AbortSignal): Promise<void> {
    const frozen = await this.database.query<DatedRow>(FROZEN_WINDOWS_TO_WRITE);
    if (frozen.length === 0) return;
    await this.passLanes();
    await tryEach(frozen, signal, (row) => this.writeFrozen(row, signal));
  }

  /** Whether everything that is to be kept of this minute since 1970 is. */
  hasKept(minute: number): boolean {
    return this.keptMinute === minute;
  }

  /**
   * Writes what is to be kept of the present stretch of time; what was missed is missing. One that fails holds up no other,
   * and is left to {@link keepFailed}.
   * @throws AggregateError of what failed
   */
  async keepSnapshots(signal: AbortSignal): Promise<void> {
    const minute = Math.floor((await ledgerNowMs(this.database)) / MINUTE_MS);
    // Stretches are whole minutes: nothing new is due within one.
    if (this.hasKept(minute)) return;
    const due = await this.database.query<DatedRow>(
      `${WINDOWS_TO_KEEP} ${neverFailed('kept')} ORDER BY w.window_uid LIMIT ${WINDOWS_AT_ONCE}`,
    );
    await tryEach(due, signal, ({ window_uid }) => this.writeKept(window_uid, signal));
    if (due.length < WINDOWS_AT_ONCE && !signal.aborted) this.keptMinute = minute;
  }

  /**
   * The same of standings that could not be written before, each once its wait is over; the waits grow.
   * @throws AggregateError of what failed
   */
  async keepFailed(signal: AbortSignal): Promise<void> {
    const failed = await this.database.query<{ window_uid: number; kind: AwaitedKind }>(FAILED_STANDINGS);
    if (failed.length === 0) return;
    if (failed.some(({ kind }) => kind === 'frozen')) await this.passLanes();
    await tryEach(failed, signal, async ({ window_uid, kind }) => {
      if (kind === 'kept') return this.writeKept(window_uid, signal);
      const [row] = await this.database.query<DatedRow>(`${FROZEN_WINDOWS} AND w.window_uid = $1`, [window_uid]);
      if (row === undefined) return forgetFailure(this.database, window_uid, kind);
      await this.writeFrozen(row, signal);
    });
  }

  private writeFrozen(row: DatedRow, signal: AbortSignal): Promise<void> {
    return this.write(row.window_uid, 'frozen', signal, (transaction) =>
      this.writeSealed(transaction, windowOfRow(row), 'frozen', { asOf: row.as_of, top: null }),
    );
  }

  private writeKept(windowUid: number, signal: AbortSignal): Promise<void> {
    return this.write(windowUid, 'kept', signal, async (transaction) => {
      // Looked at again behind the lock: another process may be keeping it, or have kept it.
      const [lock] = await transaction.query<{ taken: boolean }>('SELECT pg_try_advisory_xact_lock($1, $2) AS taken', [
        ADVISORY_LOCKS.keptStandings,
        windowUid,
      ]);
      if (!lock!.taken) return;
      const [row] = await transaction.query<DatedRow>(`${WINDOWS_TO_KEEP} AND w.window_uid = $1`, [windowUid]);
      if (row === undefined) return forgetFailure(transaction, windowUid, 'kept');
      const window = windowOfRow(row);
      await this.writeSealed(transaction, window, 'kept', { asOf: row.as_of, top: window.definition.snapshot.top });
    });
  }

  /** Once this resolves, every run whose time was taken under its lane before the freeze is committed. */
  private async passLanes(): Promise<void> {
    const { database, lanes } = this;
    await placedAnew(database, lanes, async () => {
      for (const lane of lanes.all)
        await database.transaction((transaction) => takeLane(transaction, lanes.place(lane)));
    });
  }

  private async write(
    windowUid: number,
    kind: AwaitedKind,
    signal: AbortSignal,
    work: (transaction: SqlRunner) => Promise<void>,
  ): Promise<void> {
    const write = (): Promise<void> => this.database.longTransaction(EDITION_TIMEOUT_MS, work, signal);
    await this.failures.recording({ windowUid, kind, signal }, write).catch((error: unknown) => {
      // The window is looked at anew if it is still due.
      if (!(error instanceof EditionOvertakenError)) throw error;
    });
  }

  private async writeSealed(
    transaction: SqlRunner,
    window: WindowOfDefinition,
    kind: AwaitedKind,
    options: { asOf: string; top: number | null },
  ): Promise<void> {
    const written = await writeEdition(transaction, window, kind, options);
    if (written !== null) await sealEdition(transaction, window, { uid: written.uid, kind });
    await forgetFailure(transaction, window.windowUid, kind);
  }
}
