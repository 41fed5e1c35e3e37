import { monotonicMs } from '@laddercast/platform';
import type { SqlRunner } from '../database/postgres-database.js';
import { prepared } from '../database/postgres-statements.js';
import { WINDOWS_WITH_LEFT_HOURS } from '../entries/rolling-sql.js';
import { FAILED_STANDINGS, FROZEN_WINDOWS_TO_WRITE } from '../standings/standings-recorder.js';
import { DUE_WINDOWS, NO_WINDOWS, unsettledWindows, UNTRIED, TRIED_AND_DUE } from './window-closing-sql.js';

/** What one look found. */
export interface DueWork {
  /** The minute since 1970, by the database's clock. */
  minute: number;
  toClose: boolean;
  toSettle: boolean;
  toSettleAgain: boolean;
  toFreeze: boolean;
  toKeepAgain: boolean;
  toExpire: boolean;
}

const DUE_WORK = prepared(`
  SELECT floor(extract(epoch FROM ladder_now()) / 60)::float8 AS minute,
    EXISTS (${DUE_WINDOWS}) AS "toClose",
    EXISTS (${unsettledWindows(UNTRIED, NO_WINDOWS)}) AS "toSettle",
    EXISTS (${unsettledWindows(TRIED_AND_DUE, NO_WINDOWS)}) AS "toSettleAgain",
    EXISTS (${FROZEN_WINDOWS_TO_WRITE}) AS "toFreeze",
    EXISTS (${FAILED_STANDINGS}) AS "toKeepAgain",
    EXISTS (${WINDOWS_WITH_LEFT_HOURS}) AS "toExpire"`);

/** Those who ask within this time after a look share its answer. */
const GOOD_FOR_MS = 20;

/** Asks in one statement for all who do windows' work whether there is any: hardly ever is. */
export class DueLook {
  private last: { answer: Promise<DueWork | null>; atMs: number } | null = null;

  constructor(private readonly database: SqlRunner) {}

  /**
   * What is due at this moment, or was some milliseconds ago.
   * @returns null if that cannot be told: let each look for itself then, so that what fails holds up nothing else
   */
  work(): Promise<DueWork | null> {
    if (this.last === null || monotonicMs() - this.last.atMs > GOOD_FOR_MS) {
      this.last = { answer: this.ask(), atMs: monotonicMs() };
    }
    return this.last.answer;
  }

  private async ask(): Promise<DueWork | null> {
    // The one whose part of it fails meets the failure again, and says so.
    const rows = await this.database.query<DueWork>(DUE_WORK).catch(() => null);
    return rows?.[0] ?? null;
  }
}
