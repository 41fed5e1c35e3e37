import { windowAt } from '@laddercast/domain';
import { Injectable } from '@nestjs/common';
import { ADVISORY_LOCKS } from '../database/advisory-locks.js';
import { deleteEdition } from '../standings/edition-removal.js';
import {
  EDITION_TIMEOUT_MS,
  WINDOW_COLUMNS,
  windowOfRow,
  writeEdition,
  type WindowRow,
} from '../standings/edition-writer.js';
import { ledgerNowMs } from '../database/ledger-clock.js';
import { PostgresDatabase, type SqlRunner } from '../database/postgres-database.js';

const MINUTE_MS = 60_000;
/** Places that are read later than this after the start of a day are not those of its start. */
export const DAY_READ_WITHIN_MS = MINUTE_MS;
/** The most rows of a day's edition: the best. */
const PLACES_MAX = 1_000_000;
/** The most windows of one transaction; the next look finds the others. */
const WINDOWS_AT_ONCE = 1000;

const ASKING_BOARDS = `
  SELECT board_uid, definition->>'timeZone' AS time_zone FROM boards
  WHERE board_id IS NOT NULL AND definition->'change' = 'true'`;

/** Windows of boards `$1` that ran at the starts of their days, `$2`, run still, and of which the day is not kept. */
const WINDOWS_DUE = `
  SELECT ${WINDOW_COLUMNS}, day.as_of::text AS as_of
  FROM (SELECT board_uid, to_timestamp(ms / 1000) AS as_of FROM unnest($1::int[], $2::float8[]) AS d (board_uid, ms)) AS day
  JOIN boards b ON b.board_uid = day.board_uid AND b.board_id IS NOT NULL
  CROSS JOIN LATERAL (SELECT * FROM windows WHERE board_uid = day.board_uid AND state = 'open' OFFSET 0) AS w
  CROSS JOIN (SELECT to_timestamp($3::float8 / 1000) AS now) AS clock
  WHERE (w.starts_at IS NULL OR w.starts_at < day.as_of) AND (w.ends_at IS NULL OR w.ends_at > clock.now)
    AND (w.freeze_at IS NULL OR w.freeze_at > clock.now)
    AND NOT EXISTS (
      SELECT FROM editions e WHERE e.window_uid = w.window_uid AND e.kind = 'day' AND e.as_of = day.as_of)
  ORDER BY w.window_uid LIMIT ${WINDOWS_AT_ONCE}`;

type DueRow = WindowRow & { as_of: string };

/** When the present day of a zone began (Unix ms); null in one that has no day of that date. */
export function dayStartOf(timeZone: string, nowMs: number): number | null {
  return windowAt('daily', timeZone, nowMs)?.startsAtMs ?? null;
}

/**
 * Keeps where everybody stood when a day began, for the running windows of boards that ask for `change`: an edition of
 * the kind `day`, dated to the start of the day in the board's zone. All that are due are read at one moment, a fraction
 * of a second after the start, however long it takes to write them. A day whose start was missed has none.
 */
@Injectable()
export class DayStartRecorder {
  /** The minute, by the database's clock, for which all days have been recorded. */
  private keptMinute: number | null = null;

  constructor(private readonly database: PostgresDatabase) {}

  /** Whether all days that began in this minute since 1970 are recorded. */
  hasKept(minute: number): boolean {
    return this.keptMinute === minute;
  }

  /**
   * Writes the days that have just begun, and deletes those before.
   * @param placesMax the most places that a day keeps: the best
   * @throws AggregateError of what failed; it holds up no other window
   */
  async keepDays(signal: AbortSignal, placesMax = PLACES_MAX): Promise<void> {
    const nowMs = await ledgerNowMs(this.database);
    const minute = Math.floor(nowMs / MINUTE_MS);
    // Days begin with whole minutes: within one no other can have begun.
    if (this.hasKept(minute)) return;
    const begun = await this.begunAt(nowMs);
    const isDone = begun.length === 0 || (await this.keep(begun, placesMax, signal));
    if (isDone && !signal.aborted) this.keptMinute = minute;
  }

  /** The boards whose day began within the last minute. */
  private async begunAt(nowMs: number): Promise<{ boardUid: number; startMs: number }[]> {
    const boards = await this.database.query<{ board_uid: number; time_zone: string }>(ASKING_BOARDS);
    return boards
      .map(({ board_uid, time_zone }) => ({ boardUid: board_uid, startMs: dayStartOf(time_zone, nowMs) ?? -Infinity }))
      .filter(({ startMs }) => nowMs - startMs < DAY_READ_WITHIN_MS);
  }

  /** @returns whether nothing is left to do */
  private async keep(
    begun: readonly { boardUid: number; startMs: number }[],
    placesMax: number,
    signal: AbortSignal,
  ): Promise<boolean> {
    const kept: DueRow[] = [];
    const failures: unknown[] = [];
    let isDone = false;
    await this.database.longTransaction(
      EDITION_TIMEOUT_MS,
      async (transaction) => {
        // Every statement reads what the first one saw.
        await transaction.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ');
        const [first] = await transaction.query<{ taken: boolean; now_ms: number }>(
          `SELECT pg_try_advisory_xact_lock(${ADVISORY_LOCKS.days}) AS taken,
             (extract(epoch FROM ladder_now()) * 1000)::float8 AS now_ms`,
        );
        const { taken, now_ms } = first!;
        // Another process is writing them.
        if (!taken) return;
        const inTime = begun.filter(({ startMs }) => now_ms - startMs < DAY_READ_WITHIN_MS);
        const due = await transaction.query<DueRow>(WINDOWS_DUE, [
          inTime.map(({ boardUid }) => boardUid),
          inTime.map(({ startMs }) => startMs),
          now_ms,
        ]);
        for (const row of due) {
          signal.throwIfAborted();
          const failure = await writeDay(transaction, row, placesMax);
          if (failure === null) kept.push(row);
          else failures.push(failure.error);
        }
        isDone = due.length < WINDOWS_AT_ONCE && failures.length === 0;
      },
      signal,
    );
    for (const row of kept) await this.deleteBefore(row, signal);
    if (failures.length > 0) throw new AggregateError(failures, (failures[0] as Error).message);
    return isDone;
  }

  private async deleteBefore({ window_uid, as_of }: DueRow, signal: AbortSignal): Promise<void> {
    const past = await this.database.query<{ edition_uid: number }>(
      `SELECT edition_uid FROM editions WHERE window_uid = $1 AND kind = 'day' AND as_of < $2`,
      [window_uid, as_of],
    );
    for (const { edition_uid } of past) await deleteEdition(this.database, edition_uid, signal);
  }
}

/** Writes one window's; what fails is taken back alone. @throws when the connection is gone */
async function writeDay(transaction: SqlRunner, row: DueRow, top: number): Promise<{ error: unknown } | null> {
  await transaction.query('SAVEPOINT day');
  try {
    await writeEdition(transaction, windowOfRow(row), 'day', { asOf: row.as_of, top });
    await transaction.query('RELEASE SAVEPOINT day');
    return null;
  } catch (error) {
    await transaction.query('ROLLBACK TO SAVEPOINT day');
    return { error };
  }
}
