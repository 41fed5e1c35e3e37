import { LadderError } from '@laddercast/domain';
import { metrics } from '@laddercast/platform';
import type { BoardsWithMetadata } from '../catalogs/boards-with-metadata.js';
import type { ScopeCatalog } from '../catalogs/scope-catalog.js';
import type { WindowCatalog } from '../catalogs/window-catalog.js';
import type { SqlRunner } from '../database/postgres-database.js';
import type { EntryRow } from '../entries/entry-rows.js';
import { StaleBoardError, type WriteResult } from '../entries/ledger-writes.js';
import { openLaneSql } from '../lanes/lane-locks.js';
import type { Place } from '../lanes/lanes.js';
import { BatchFold } from './batch-fold.js';
import { LaneBatchReader } from './lane-batch-reader.js';
import { isRemembered, type LaneMemory } from './lane-memory.js';
import { LaneStore } from './lane-store.js';
import type { PendingWrite } from './lane-writer.js';
import { sendCommit } from './send-commit.js';
import { entryKeyOf, submissionKeyOf, type StoredBatch } from './stored-batch.js';
import { expectedPlace, makeWindowsOfMany, placeWrite, type PlacedWrite } from './window-placement.js';

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
    private readonly at: Place,
    private readonly catalogs: LaneCatalogs,
    private readonly batch: readonly PendingWrite[],
    private readonly memory: LaneMemory,
  ) {}

  /**
   * One result per write, in order; it resolves after the commit.
   * @param connection sends what it is asked at once, in this order
   * @param expectedNowMs about the ledger's time, Unix ms; null: unknown
   */
  async run(connection: SqlRunner, expectedNowMs: number | null): Promise<WriteResult[]> {
    const { windows } = this.catalogs;
    const reading = new LaneBatchReader(connection, this.at.lane, this.batch, this.memory);
    const writes = this.batch.map(({ write }) => write);
    if (expectedNowMs !== null) await makeWindowsOfMany(writes, expectedNowMs, windows);
    const expected = expectedNowMs === null ? [] : writes.map((write) => expectedPlace(write, expectedNowMs, windows));
    await Promise.all([connection.query(openLaneSql(this.at)), reading.begin(expected)]);
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
      if (replayed) return this.asFirstAnswer(replayed, index, stored);
      // Windows, too, are those of this revision: closing or moving one gives its board a new revision.
      if (!reading.isOfNow(write)) return { error: new StaleBoardError(write.board.uid) };
      const placement = placements[index]!;
      if ('error' in placement) return placement;
      const result = fold.apply(placement, positions[index]!);
      if (!('error' in result)) counted.push(this.batch[index]!);
      return write.kind === 'override' ? this.asFirstAnswer(result, index, stored) : result;
    });
    const store = new LaneStore(connection, this.at.lane, nowMs);
    await sendCommit(counted, nowMs, () => [...store.all(fold, stored.attempts.changed), connection.query('COMMIT')]);
    this.remember(reading, placed, fold);
    metrics.patchRunsDropped.inc(fold.patchRunsDropped);
    const toldRuns = fold.heldRuns.length > 0 || fold.newRuns.some(({ examined }) => examined);
    this.wroteEvents = fold.events.length > 0 || toldRuns;
    return results;
  }

  private remember(reading: LaneBatchReader, placed: readonly PlacedWrite[], { changedEntries }: BatchFold): void {
    const entries: EntryRow[] = [];
    const absent: string[] = [];
    // The board may be one again whose entries are remembered: what was so before is not true then.
    const unknown: string[] = [];
    for (const { write, windows } of placed) {
      for (const { uid } of windows) {
        const key = entryKeyOf(uid, write.playerId);
        const row = changedEntries.get(key) ?? reading.read.get(key);
        if (!isRemembered(write.board)) unknown.push(key);
        else if (row) entries.push(row);
        else if (row === null) absent.push(key);
      }
    }
    this.memory.leave({ head: reading.head.left, nowMs: this.nowMs, entries, absent, unknown });
    this.memory.seeIds(this.batch.flatMap(({ write }) => (write.kind === 'submit' ? [write] : [])));
    this.memory.seeSanctioned(reading.sanctioned);
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
  private asFirstAnswer(result: WriteResult, index: number, { remembered }: StoredBatch): WriteResult {
    const { unsettled, unansweredAtMs = [], write } = this.batch[index]!;
    if ('error' in result || !unsettled) return result;
    const { receipt } = result;
    if (receipt.kind === 'submit' && write.kind === 'submit') {
      // One that was handed over knows its own copy by more than its id.
      if (write.handOverId !== undefined) return result;
      // A commit in one trip looks for no id of a client's: another process may have counted it before.
      const atMs = remembered.get(submissionKeyOf(write))!.acceptedAtMs;
      const isOwn = !write.idFromClient || unansweredAtMs.includes(atMs);
      return isOwn ? { receipt: { ...receipt, replayed: false } } : result;
    }
    return receipt.kind === 'override' ? { receipt: { ...receipt, settledBefore: true } } : result;
  }
}
