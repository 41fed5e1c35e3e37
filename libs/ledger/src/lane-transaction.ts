import { hasCircles, LadderError } from '@laddercast/domain';
import type { AttemptRow } from './attempt-counts.js';
import { recordAudit } from './audit-log.js';
import { BatchFold, ownerOf, submissionKeyOf } from './batch-fold.js';
import { arrayLiteral } from './entry-rows.js';
import { readStoredBatch } from './lane-reading.js';
import {
  CLEAR_ROLLING_HOURS,
  RENEW_ENTRIES,
  SAVE_FROZEN_ENTRIES,
  WRITE_ATTEMPTS,
  WRITE_LANE_BATCH,
  WRITE_ROLLING_HOURS,
} from './lane-sql.js';
import { entryParameters, frozenParameters } from './lane-parameters.js';
import { DRAW_POSITIONS, openLaneSql } from './lanes.js';
import type { PendingWrite } from './lane-writer.js';
import type { SqlRunner } from './postgres-database.js';
import type { ScopeCatalog } from './scope-catalog.js';
import type { WindowCatalog } from './window-catalog.js';
import { placeWrite, type PlacedWrite } from './write-placement.js';
import { StaleBoardError, type WriteResult } from './writes.js';

type Placement = PlacedWrite | { error: LadderError | StaleBoardError };

/** What a lane's writers look up beside the lane's own rows. */
export interface LaneCatalogs {
  windows: WindowCatalog;
  scopes: ScopeCatalog;
}

/** One group commit of a lane: opens, reads what the batch touches, folds it, and stores the outcome. */
export class LaneTransaction {
  /** Whether the commit put events into the outbox. */
  wroteEvents = false;

  constructor(
    private readonly lane: number,
    private readonly catalogs: LaneCatalogs,
    private readonly batch: readonly PendingWrite[],
  ) {}

  /** One result per write, in order; it resolves after the commit. */
  async run(connection: SqlRunner): Promise<WriteResult[]> {
    const { nowMs, positions } = await this.open(connection);
    const placements = await this.place(nowMs);
    const placed = placements.filter((placement): placement is PlacedWrite => !('error' in placement));
    const { stored, revisions } = await readStoredBatch(connection, this.catalogs.scopes, {
      batch: this.batch,
      placed,
      withScopes: placed.filter(({ write }) => hasCircles(write.board.definition.scopes)),
    });
    const fold = new BatchFold(stored);
    const counted: PendingWrite[] = [];
    const results = this.batch.map(({ write }, index): WriteResult => {
      // A retry gets its first answer even when its window or the definition has changed since.
      const replayed = revisions.has(write.board.uid) && write.kind === 'submit' ? fold.replay(write) : null;
      if (replayed) return this.asFirstAnswer(replayed, index);
      // Windows too are those of this revision: what closes or moves one gives its board a new one.
      if (revisions.get(write.board.uid) !== write.board.revision)
        return { error: new StaleBoardError(write.board.uid) };
      const placement = placements[index]!;
      if ('error' in placement) return placement;
      const result = fold.apply(placement, positions[index]!);
      if (!('error' in result)) counted.push(this.batch[index]!);
      return write.kind === 'override' ? this.asFirstAnswer(result, index) : result;
    });
    await this.store(connection, fold, nowMs);
    await this.storeLimited(connection, fold, stored.attempts.changed, nowMs);
    for (const pending of counted) pending.unsettled = true;
    await connection.query('COMMIT');
    this.wroteEvents = fold.events.length > 0;
    return results;
  }

  private async open(connection: SqlRunner): Promise<{ nowMs: number; positions: number[] }> {
    await connection.query(openLaneSql(this.lane));
    const [row] = await connection.query<{ now_ms: number; positions: number[] }>(DRAW_POSITIONS, [this.batch.length]);
    return { nowMs: row!.now_ms, positions: row!.positions };
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
    if ('error' in result || !this.batch[index]!.unsettled) return result;
    const { receipt } = result;
    return {
      receipt: receipt.kind === 'submit' ? { ...receipt, replayed: false } : { ...receipt, settledBefore: true },
    };
  }

  private async store(connection: SqlRunner, fold: BatchFold, nowMs: number): Promise<void> {
    const { newSubmissions, events, audits } = fold;
    for (const audit of audits) await recordAudit(connection, audit);
    await this.storeHours(connection, fold);
    await this.storeFrozen(connection, fold);
    if (newSubmissions.length === 0 && events.length === 0) return;
    // Sorted, so that two lanes that carry the same ids wait for each other in one order.
    const submissions = [...newSubmissions].sort((a, b) =>
      submissionKeyOf(a.write) < submissionKeyOf(b.write) ? -1 : 1,
    );
    const entries = [...fold.changedEntries.values()];
    await connection.query(WRITE_LANE_BATCH, [
      this.lane,
      nowMs,
      submissions.map(({ write }) => write.board.uid),
      submissions.map(({ write }) => ownerOf(write)),
      submissions.map(({ write }) => write.submissionId),
      submissions.map(({ write }) => write.playerId),
      submissions.map(({ write }) => write.bodySha256),
      submissions.map(({ write }) => write.score),
      submissions.map(({ write }) => arrayLiteral(write.columns)),
      submissions.map(({ achievedAtMs }) => achievedAtMs),
      submissions.map(({ write }) => write.metadata),
      submissions.map(({ answer }) => JSON.stringify(answer)),
      ...entryParameters(entries, events),
    ]);
  }

  private async storeHours(connection: SqlRunner, { clearedHours, changedHours }: BatchFold): Promise<void> {
    const cleared = [...clearedHours.values()];
    if (cleared.length > 0) {
      await connection.query(CLEAR_ROLLING_HOURS, [
        cleared.map(({ windowUid }) => windowUid),
        cleared.map(({ playerId }) => playerId),
      ]);
    }
    const hours = [...changedHours.values()];
    if (hours.length === 0) return;
    await connection.query(WRITE_ROLLING_HOURS, [
      this.lane,
      hours.map((row) => row.windowUid),
      hours.map((row) => row.playerId),
      hours.map((row) => row.hour),
      hours.map((row) => row.state.score),
      hours.map((row) => arrayLiteral(row.state.columns)),
      hours.map((row) => row.state.achievedAtMs),
      hours.map((row) => row.state.metadata),
    ]);
  }

  /** What only boards with limits have. */
  private async storeLimited(
    connection: SqlRunner,
    { renewedEntries }: BatchFold,
    attempts: readonly AttemptRow[],
    nowMs: number,
  ): Promise<void> {
    const renewed = [...renewedEntries.values()];
    if (renewed.length > 0) {
      await connection.query(RENEW_ENTRIES, [
        nowMs,
        renewed.map(({ windowUid }) => windowUid),
        renewed.map(({ playerId }) => playerId),
      ]);
    }
    if (attempts.length === 0) return;
    await connection.query(WRITE_ATTEMPTS, [
      attempts.map(({ windowUid }) => windowUid),
      attempts.map(({ playerId }) => playerId),
      attempts.map(({ hour }) => hour),
      attempts.map(({ runs }) => runs),
    ]);
  }

  private async storeFrozen(connection: SqlRunner, { frozenEntries }: BatchFold): Promise<void> {
    const frozen = [...frozenEntries.values()];
    if (frozen.length === 0) return;
    await connection.query(SAVE_FROZEN_ENTRIES, frozenParameters(frozen));
  }
}
