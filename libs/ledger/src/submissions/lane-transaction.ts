import { LadderError } from '@laddercast/domain';
import { metrics } from '@laddercast/platform';
import type { AttemptRow } from './attempt-counts.js';
import { recordAudit } from '../operators/audit-log.js';
import { BatchFold } from './batch-fold.js';
import type { HeldRun } from './held-runs.js';
import { submissionKeyOf } from './stored-batch.js';
import { ownerOf } from './new-runs.js';
import { arrayLiteral } from '../entries/entry-rows.js';
import { LaneBatchReader } from './lane-batch-reader.js';
import {
  CLEAR_ROLLING_HOURS,
  RENEW_ENTRIES,
  SAVE_FROZEN_ENTRIES,
  WRITE_ATTEMPTS,
  WRITE_FEED_POSITIONS,
  WRITE_LANE_BATCH,
  WRITE_LANE_BATCH_OF_RUNS,
  WRITE_ROLLING_HOURS,
} from '../entries/lane-sql.js';
import { entryParameters, frozenParameters, runParameters } from '../entries/lane-parameters.js';
import { openLaneSql } from '../lanes/lanes.js';
import type { BoardsWithMetadata } from '../catalogs/boards-with-metadata.js';
import { countPatchUse } from '../patches/patch-uses.js';
import { insertFlags } from '../integrity/flag-rows.js';
import type { Suspect } from '../integrity/flag.js';
import { keepBases, storeRuns, tellRuns } from '../runs/run-rows.js';
import type { PendingWrite } from './lane-writer.js';
import type { SqlRunner } from '../database/postgres-database.js';
import { byteaArray, float8Array, int4Array, int8Array, textArray } from '../database/postgres-arrays.js';
import { isServersAnswer } from '../database/postgres-errors.js';
import type { ScopeCatalog } from '../catalogs/scope-catalog.js';
import type { WindowCatalog } from '../catalogs/window-catalog.js';
import { expectedPlace, placeWrite, type PlacedWrite } from './window-placement.js';
import { StaleBoardError, type WriteResult } from '../entries/ledger-writes.js';

type Placement = PlacedWrite | { error: LadderError | StaleBoardError };

/** The look-ups of a lane's writers beside the lane's own rows. */
export interface LaneCatalogs {
  windows: WindowCatalog;
  scopes: ScopeCatalog;
  metadata: BoardsWithMetadata;
}

/**
 * One group commit of a lane: opens, reads what the batch touches, folds it, and stores the outcome. Two trips to PostgreSQL,
 * since a lane waits for each of them: the lock and what is read under it, then what is stored and the commit.
 */
export class LaneTransaction {
  /** Whether the commit put events into the outbox. */
  wroteEvents = false;
  /** The ledger's time in this transaction, Unix ms. */
  nowMs = 0;

  constructor(
    private readonly lane: number,
    private readonly catalogs: LaneCatalogs,
    private readonly batch: readonly PendingWrite[],
  ) {}

  /**
   * One result per write, in order; it resolves after the commit.
   * @param connection sends what it is asked at once, in this order
   * @param expectedNowMs about the ledger's time, Unix ms; null: unknown
   */
  async run(connection: SqlRunner, expectedNowMs: number | null): Promise<WriteResult[]> {
    const reading = new LaneBatchReader(connection, this.batch);
    const expected =
      expectedNowMs === null
        ? []
        : this.batch.map(({ write }) => expectedPlace(write, expectedNowMs, this.catalogs.windows));
    await Promise.all([connection.query(openLaneSql(this.lane)), reading.begin(expected)]);
    const { nowMs, positions, revisions } = reading;
    this.nowMs = nowMs;
    const placements = await this.place(nowMs);
    const placed = placements.filter((placement): placement is PlacedWrite => !('error' in placement));
    const stored = await reading.complete(placed, this.catalogs.scopes);
    const fold = new BatchFold(stored);
    const counted: PendingWrite[] = [];
    const results = this.batch.map(({ write }, index): WriteResult => {
      // A retry gets its first answer even when its window or the definition has changed since.
      const replayed = revisions.has(write.board.uid) && write.kind === 'submit' ? fold.replay(write) : null;
      if (replayed) return this.asFirstAnswer(replayed, index);
      // Windows, too, are those of this revision: closing or moving one gives its board a new revision.
      if (!reading.isOfNow(write)) return { error: new StaleBoardError(write.board.uid) };
      const placement = placements[index]!;
      if ('error' in placement) return placement;
      const result = fold.apply(placement, positions[index]!);
      if (!('error' in result)) counted.push(this.batch[index]!);
      return write.kind === 'override' ? this.asFirstAnswer(result, index) : result;
    });
    await commit(counted, () => [
      ...this.store(connection, fold, nowMs),
      ...this.storeLimited(connection, fold, stored.attempts.changed, nowMs),
      connection.query('COMMIT'),
    ]);
    metrics.patchRunsDropped.inc(fold.patchRunsDropped);
    const toldRuns = fold.heldRuns.length > 0 || fold.newRuns.some(({ examined }) => examined);
    this.wroteEvents = fold.events.length > 0 || toldRuns;
    return results;
  }

  private async place(nowMs: number): Promise<Placement[]> {
    const placements: Placement[] = [];
    for (const { write } of this.batch) {
      try {
        placements.push(await placeWrite(write, nowMs, this.catalogs.windows));
      } catch (error) {
        if (!(error instanceof LadderError || error instanceof StaleBoardError)) throw error;
        placements.push({ error });
      }
    }
    return placements;
  }

  /** A write whose own commit went unanswered finds itself: that is its first answer, not a replay. */
  private asFirstAnswer(result: WriteResult, index: number): WriteResult {
    const { unsettled, write } = this.batch[index]!;
    if ('error' in result || !unsettled) return result;
    const { receipt } = result;
    // One that was handed over knows its own copy by more than its id.
    if (write.kind === 'submit' && write.handOverId !== undefined) return result;
    if (receipt.kind === 'submit') return { receipt: { ...receipt, replayed: false } };
    return receipt.kind === 'override' ? { receipt: { ...receipt, settledBefore: true } } : result;
  }

  private store(connection: SqlRunner, fold: BatchFold, nowMs: number): Promise<unknown>[] {
    const { newSubmissions, events, audits } = fold;
    const sent: Promise<unknown>[] = [
      keepBases(connection, fold.bases),
      storeRuns(connection, nowMs, fold.newRuns),
      tellRuns(connection, this.lane, nowMs, fold.newRuns),
      countPatchUse(connection, this.lane, fold.patchUses),
      insertFlags(connection, this.lane, fold.heldRuns.map(suspectOf), true),
      ...audits.map((audit) => recordAudit(connection, audit)),
      ...this.storeHours(connection, fold),
      ...this.storeFrozen(connection, fold),
      ...storeFeeds(connection, fold),
    ];
    if (newSubmissions.length > 0 || events.length > 0) sent.push(this.storeBatch(connection, fold, nowMs));
    return sent;
  }

  private storeBatch(
    connection: SqlRunner,
    { newSubmissions, events, changedEntries }: BatchFold,
    nowMs: number,
  ): Promise<unknown> {
    // Sorted, so that two lanes that carry the same ids wait for each other in one order.
    const submissions = [...newSubmissions].sort((a, b) =>
      submissionKeyOf(a.write) < submissionKeyOf(b.write) ? -1 : 1,
    );
    const entries = [...changedEntries.values()];
    const parameters = [
      this.lane,
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
      textArray(submissions.map(({ answer }) => JSON.stringify(answer))),
      ...entryParameters(entries, events),
    ];
    const restOnRuns = entries.some(({ runPosition, state }) => runPosition !== undefined || state.patchRuns);
    if (!restOnRuns) return connection.query(WRITE_LANE_BATCH, parameters);
    return connection.query(WRITE_LANE_BATCH_OF_RUNS, [...parameters, ...runParameters(entries)]);
  }

  private storeHours(
    connection: SqlRunner,
    { hours: { cleared: clearedHours, changed: changedHours } }: BatchFold,
  ): Promise<unknown>[] {
    const sent: Promise<unknown>[] = [];
    const cleared = [...clearedHours.values()];
    if (cleared.length > 0) {
      const keys = [cleared.map(({ windowUid }) => windowUid), cleared.map(({ playerId }) => playerId)];
      sent.push(connection.query(CLEAR_ROLLING_HOURS, keys));
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
    return [...sent, connection.query(WRITE_ROLLING_HOURS, rows)];
  }

  /** What only boards with limits have. */
  private storeLimited(
    connection: SqlRunner,
    { renewedEntries }: BatchFold,
    attempts: readonly AttemptRow[],
    nowMs: number,
  ): Promise<unknown>[] {
    const sent: Promise<unknown>[] = [];
    const renewed = [...renewedEntries.values()];
    if (renewed.length > 0) {
      const keys = [renewed.map(({ windowUid }) => windowUid), renewed.map(({ playerId }) => playerId)];
      sent.push(connection.query(RENEW_ENTRIES, [nowMs, ...keys]));
    }
    if (attempts.length === 0) return sent;
    const rows = [
      attempts.map(({ windowUid }) => windowUid),
      attempts.map(({ playerId }) => playerId),
      attempts.map(({ hour }) => hour),
      attempts.map(({ runs }) => runs),
    ];
    return [...sent, connection.query(WRITE_ATTEMPTS, rows)];
  }

  private storeFrozen(connection: SqlRunner, { frozenEntries }: BatchFold): Promise<unknown>[] {
    const frozen = [...frozenEntries.values()];
    return frozen.length === 0 ? [] : [connection.query(SAVE_FROZEN_ENTRIES, frozenParameters(frozen))];
  }
}

/** Also of entries that stay as they are, or are not there: an older feed that is late must not change them. */
function storeFeeds(connection: SqlRunner, { changedFeeds }: BatchFold): Promise<unknown>[] {
  const feeds = [...changedFeeds.values()];
  if (feeds.length === 0) return [];
  const rows = [
    int4Array(feeds.map(({ windowUid }) => windowUid)),
    textArray(feeds.map(({ playerId }) => playerId)),
    int8Array(feeds.map(({ position }) => position)),
  ];
  return [connection.query(WRITE_FEED_POSITIONS, rows)];
}

/**
 * Sends the statements and the commit all at once: a commit behind a failed statement rolls back.
 * @param counted the writes that are counted in it: `unsettled` from when it is sent until PostgreSQL says that it was
 * not
 */
async function commit(counted: readonly PendingWrite[], send: () => Promise<unknown>[]): Promise<void> {
  const before = counted.map(({ unsettled }) => unsettled);
  for (const pending of counted) pending.unsettled = true;
  const answers = await Promise.allSettled(send());
  const refused = answers.find((answer) => answer.status === 'rejected');
  if (!refused) return;
  const isCommits = refused === answers.at(-1);
  if (!isCommits && isServersAnswer(refused.reason)) {
    counted.forEach((pending, index) => (pending.unsettled = before[index]!));
  }
  throw refused.reason;
}

/** A run that waits for a moderator, as its flag says it. */
const suspectOf = ({ rule, why, boardUid, playerId, position, submissionId, score, columns }: HeldRun): Suspect => ({
  ...{ rule, severity: 'medium', boardUid, playerId, subject: playerId, key: String(position) },
  summary: why,
  details: { score, columns },
  runs: [{ playerId, position, submissionId }],
});
