import { LadderError } from '@laddercast/domain';
import { Inject, Injectable } from '@nestjs/common';
import type { EditionKind } from '../catalogs/edition-catalog.js';
import { PostgresDatabase, type SqlRunner } from '../database/postgres-database.js';
import { EditionOvertakenError } from './edition-writer.js';

/** How long the next try waits: so long after the first failure, twice as long after each, and at most so long. */
const RETRY_FIRST_MS = 1000;
const RETRY_MAX_MS = 600_000;
const ERROR_LENGTH_MAX = 1000;

/** The standings that a window waits for: there is one kind of them at a time, so a row a window. */
const AWAITED = `
  CASE w.state WHEN 'closed' THEN 'final'
    WHEN 'open' THEN CASE WHEN w.freeze_at <= (SELECT ladder_now()) THEN 'frozen' ELSE 'kept' END END`;

const RECORD = `
  INSERT INTO settlement_failures AS f (window_uid, kind, failures, error, failed_at, retry_at)
  SELECT w.window_uid, $2, 1, $3, clock.now, clock.now + ${RETRY_FIRST_MS} * interval '1 millisecond'
  FROM windows w, (SELECT ladder_now() AS now) AS clock
  WHERE w.window_uid = $1 AND ${AWAITED} = $2
  ON CONFLICT (window_uid) DO UPDATE SET kind = excluded.kind, error = excluded.error, failed_at = excluded.failed_at,
    failures = CASE WHEN f.kind = excluded.kind THEN f.failures + 1 ELSE 1 END,
    retry_at = CASE WHEN f.kind = excluded.kind THEN excluded.failed_at
      + least(${RETRY_MAX_MS}, ${RETRY_FIRST_MS} * 2 ^ least(f.failures, 20)) * interval '1 millisecond'
      ELSE excluded.retry_at END`;

/** Those of boards that are gone wait for nothing. */
const FAILURES = `
  FROM settlement_failures f JOIN windows w USING (window_uid) JOIN boards b USING (board_uid)
  WHERE b.board_id IS NOT NULL AND f.kind = ${AWAITED}`;

const LIST = `
  SELECT f.window_uid AS "windowUid", b.board_id AS "boardId", w.window_id AS "windowId", f.kind, f.failures, f.error,
    (extract(epoch FROM w.closed_at) * 1000)::float8 AS "closedAtMs",
    (extract(epoch FROM f.failed_at) * 1000)::float8 AS "failedAtMs",
    (extract(epoch FROM f.retry_at) * 1000)::float8 AS "retryAtMs"
  ${FAILURES} AND f.window_uid > $1::bigint ORDER BY f.window_uid LIMIT $2`;

/** Standings that are written when they are due, and tried again where that fails: those of days are not. */
export type AwaitedKind = Exclude<EditionKind, 'day'>;

/** A window whose standings could not be written at the last try. */
export interface SettlementFailure {
  windowUid: number;
  boardId: string;
  windowId: string;
  kind: AwaitedKind;
  /** null: it is open. */
  closedAtMs: number | null;
  /** How many tries have failed in a row. */
  failures: number;
  /** Why the last one did. */
  error: string;
  failedAtMs: number;
  /** When the next one is due. */
  retryAtMs: number;
}

/** Standings that failed: kept in PostgreSQL, so that every process waits for them alike, and operators see them. */
@Injectable()
export class SettlementFailures {
  constructor(@Inject(PostgresDatabase) private readonly database: SqlRunner) {}

  /** Puts off the next try of a window that waits for these standings still. */
  async record(windowUid: number, kind: AwaitedKind, error: unknown): Promise<void> {
    await this.database.query(RECORD, [windowUid, kind, messageOf(error)]);
  }

  /** Does the work of writing standings; where it fails, that is recorded. One that was ended or overtaken did not fail. */
  async recording<Result>(
    { windowUid, kind, signal }: { windowUid: number; kind: AwaitedKind; signal?: AbortSignal },
    work: () => Promise<Result>,
  ): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      const isFailure = !(error instanceof EditionOvertakenError) && !signal?.aborted;
      if (isFailure) await this.record(windowUid, kind, error);
      throw error;
    }
  }

  /** At most `limit` of the windows after `afterUid`, in the order of their numbers. */
  list(limit: number, afterUid = 0): Promise<SettlementFailure[]> {
    return this.database.query<SettlementFailure>(LIST, [afterUid, limit]);
  }

  async count(): Promise<number> {
    const [row] = await this.database.query<{ count: number }>(`SELECT count(*)::int AS count ${FAILURES}`);
    return row!.count;
  }
}

/** Of standings that are written, or that the window waits for no more. */
export async function forgetFailure(runner: SqlRunner, windowUid: number, kind: AwaitedKind): Promise<void> {
  await runner.query('DELETE FROM settlement_failures WHERE window_uid = $1 AND kind = $2', [windowUid, kind]);
}

/** What an operator is told whose call could not have the standings of a window written. */
export const settlementFailed = (windowId: string, error: unknown): LadderError =>
  new LadderError(
    'SETTLEMENT_FAILED',
    `The final standings of "${windowId}" cannot be written: ${messageOf(error)}. Where the window is closed, it is tried ` +
      'again by itself, and by this call; GET /v1/admin/settlement-failures tells how it stands.',
    { retryAfterSeconds: 5 },
    { cause: error },
  );

const messageOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).slice(0, ERROR_LENGTH_MAX);
