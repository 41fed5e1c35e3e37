import { recordAudit } from '../operators/audit-log.js';
import { byteaArray, float8Array, int4Array, int8Array, textArray } from '../database/postgres-arrays.js';
import type { SqlRunner } from '../database/postgres-database.js';
import { arrayLiteral } from '../entries/entry-rows.js';
import { entryParameters, frozenParameters, runParameters } from '../entries/lane-parameters.js';
import {
  CLEAR_ROLLING_HOURS,
  RENEW_ENTRIES,
  SAVE_FROZEN_ENTRIES_IN_LANE,
  WRITE_ATTEMPTS,
  WRITE_FEED_POSITIONS,
  WRITE_LANE_BATCH,
  WRITE_LANE_BATCH_OF_RUNS,
  WRITE_ROLLING_HOURS,
} from '../entries/lane-sql.js';
import { insertFlags, suspectOfHeld } from '../integrity/flag-rows.js';
import { countPatchUse } from '../patches/patch-uses.js';
import { keepBases, storeRuns, tellRuns } from '../runs/run-rows.js';
import type { AttemptRow } from './attempt-counts.js';
import type { BatchFold } from './batch-fold.js';
import { ownerOf } from './new-runs.js';
import { answerText } from '../entries/stored-answer.js';
import { submissionKeyOf, type SubmissionRow } from './stored-batch.js';

/** Sends what a batch changes, in a transaction that holds its lane. */
export class LaneStore {
  /** @param connection sends what it is asked at once, in this order */
  constructor(
    private readonly connection: SqlRunner,
    private readonly lane: number,
    private readonly nowMs: number,
  ) {}

  /** Everything. */
  all(fold: BatchFold, attempts: readonly AttemptRow[]): Promise<unknown>[] {
    const { connection, lane, nowMs } = this;
    const sent = [
      keepBases(connection, fold.bases),
      storeRuns(connection, nowMs, fold.newRuns),
      tellRuns(connection, lane, nowMs, fold.newRuns),
      countPatchUse(connection, lane, fold.patchUses),
      insertFlags(connection, lane, fold.heldRuns.map(suspectOfHeld), true),
      ...fold.audits.map((audit) => recordAudit(connection, audit)),
      ...this.hours(fold),
      ...this.frozen(fold),
      ...this.feeds(fold),
    ];
    if (fold.newSubmissions.length > 0 || fold.events.length > 0) sent.push(this.batch(fold));
    return [...sent, ...this.renewed(fold), ...this.attempts(attempts)];
  }

  /** Entries as they stood at their window's freeze, before they change. */
  frozen({ frozenEntries }: BatchFold): Promise<unknown>[] {
    const frozen = [...frozenEntries.values()];
    return frozen.length === 0 ? [] : [this.connection.query(SAVE_FROZEN_ENTRIES_IN_LANE, frozenParameters(frozen))];
  }

  /** What only boards with limits have. */
  renewed({ renewedEntries }: BatchFold): Promise<unknown>[] {
    const renewed = [...renewedEntries.values()];
    if (renewed.length === 0) return [];
    const keys = [renewed.map(({ windowUid }) => windowUid), renewed.map(({ playerId }) => playerId)];
    return [this.connection.query(RENEW_ENTRIES, [this.nowMs, ...keys])];
  }

  private batch({ newSubmissions, events, changedEntries }: BatchFold): Promise<unknown> {
    const entries = [...changedEntries.values()];
    const submissions = inOrderOfIds(newSubmissions);
    const parameters = [
      ...submissionParameters(this.lane, this.nowMs, submissions),
      textArray(submissions.map(({ answer }) => answerText(answer))),
      ...entryParameters(entries, events),
    ];
    const restOnRuns = entries.some(({ runPosition, state }) => runPosition !== undefined || state.patchRuns);
    if (!restOnRuns) return this.connection.query(WRITE_LANE_BATCH, parameters);
    return this.connection.query(WRITE_LANE_BATCH_OF_RUNS, [...parameters, ...runParameters(entries)]);
  }

  private hours({ hours: { cleared: clearedHours, changed: changedHours } }: BatchFold): Promise<unknown>[] {
    const sent: Promise<unknown>[] = [];
    const cleared = [...clearedHours.values()];
    if (cleared.length > 0) {
      const keys = [cleared.map(({ windowUid }) => windowUid), cleared.map(({ playerId }) => playerId)];
      sent.push(this.connection.query(CLEAR_ROLLING_HOURS, keys));
    }
    const hours = [...changedHours.values()];
    if (hours.length === 0) return sent;
    const rows = [
      this.lane,
      hours.map((row) => row.windowUid),
      hours.map((row) => row.playerId),
      hours.map((row) => row.hour),
      hours.map((row) => row.state.score),
      hours.map((row) => arrayLiteral(row.state.columns)),
      hours.map((row) => row.state.achievedAtMs),
      hours.map((row) => row.state.metadata),
    ];
    return [...sent, this.connection.query(WRITE_ROLLING_HOURS, rows)];
  }

  private attempts(attempts: readonly AttemptRow[]): Promise<unknown>[] {
    if (attempts.length === 0) return [];
    const rows = [
      attempts.map(({ windowUid }) => windowUid),
      attempts.map(({ playerId }) => playerId),
      attempts.map(({ hour }) => hour),
      attempts.map(({ runs }) => runs),
    ];
    return [this.connection.query(WRITE_ATTEMPTS, rows)];
  }

  /** Also of entries that stay as they are, or are not there: an older feed that is late must not change them. */
  private feeds({ changedFeeds }: BatchFold): Promise<unknown>[] {
    const feeds = [...changedFeeds.values()];
    if (feeds.length === 0) return [];
    const rows = [
      int4Array(feeds.map(({ windowUid }) => windowUid)),
      textArray(feeds.map(({ playerId }) => playerId)),
      int8Array(feeds.map(({ position }) => position)),
    ];
    return [this.connection.query(WRITE_FEED_POSITIONS, rows)];
  }
}

/** Sorted, so that two lanes that carry the same ids wait for each other in one order. */
export const inOrderOfIds = (submissions: readonly SubmissionRow[]): SubmissionRow[] =>
  [...submissions].sort((a, b) => (submissionKeyOf(a.write) < submissionKeyOf(b.write) ? -1 : 1));

/** `$1` to `$11` of WRITE_LANE_BATCH: everything of submissions but their answers. */
export const submissionParameters = (lane: number, nowMs: number, submissions: readonly SubmissionRow[]): unknown[] => [
  lane,
  nowMs,
  int4Array(submissions.map(({ write }) => write.board.uid)),
  textArray(submissions.map(({ write }) => ownerOf(write))),
  textArray(submissions.map(({ write }) => write.submissionId)),
  textArray(submissions.map(({ write }) => write.playerId)),
  byteaArray(submissions.map(({ write }) => write.bodySha256)),
  float8Array(submissions.map(({ write }) => write.score)),
  textArray(submissions.map(({ write }) => arrayLiteral(write.columns))),
  int8Array(submissions.map(({ achievedAtMs }) => achievedAtMs)),
  textArray(submissions.map(({ write }) => write.metadata)),
];
