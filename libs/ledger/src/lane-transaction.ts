import { LadderError, type StoredWindow, type WindowBounds } from '@laddercast/domain';
import type { QueryRunner } from 'typeorm';
import {
  BatchFold,
  entryKeyOf,
  ownerOf,
  placeWrite,
  submissionKeyOf,
  type EntryRow,
  type PlacedWrite,
  type RememberedSubmission,
} from './batch-fold.js';
import { recordAudit } from './audit-log.js';
import type { WindowCatalog } from './board-catalog.js';
import { DRAW_POSITIONS, openLaneSql } from './lanes.js';
import type { PendingWrite } from './lane-writer.js';
import { READ_LANE_BATCH, WRITE_LANE_BATCH } from './lane-sql.js';
import { sqlRunnerOf } from './postgres-database.js';
import { StaleBoardError, type SubmitWrite, type WriteResult } from './writes.js';

type Placement = PlacedWrite | { error: LadderError };

interface ReadRow {
  what: 'entry' | 'submission' | 'board';
  n: number;
  version: number | null;
  gone: boolean | null;
  score: number | null;
  columns: number[] | null;
  achieved_at_ms: number | null;
  text: string | null;
  body_sha256: Buffer | null;
}

/** One group commit of a lane: opens, reads what the batch touches, folds it, and stores the outcome. */
export class LaneTransaction {
  /** Whether the commit put events into the outbox. */
  wroteEvents = false;

  constructor(
    private readonly lane: number,
    private readonly windows: WindowCatalog,
    private readonly batch: readonly PendingWrite[],
  ) {}

  /** One result per write, in order; it resolves after the commit. */
  async run(connection: QueryRunner): Promise<WriteResult[]> {
    const { nowMs, positions } = await this.open(connection);
    const placements = await this.place(nowMs);
    const { fold, revisions } = await this.read(connection, placements);
    const results = this.batch.map(({ write }, index): WriteResult => {
      // A retry gets its first answer even when its window or the definition has changed since.
      const replayed = revisions.has(write.board.uid) && write.kind === 'submit' ? fold.replay(write) : null;
      if (replayed) return this.asFirstAnswer(replayed, index);
      if (revisions.get(write.board.uid) !== write.board.revision)
        return { error: new StaleBoardError(write.board.uid) };
      const placement = placements[index]!;
      if ('error' in placement) return placement;
      const result = fold.apply(placement, positions[index]!);
      return write.kind === 'override' ? this.asFirstAnswer(result, index) : result;
    });
    await this.store(connection, fold, nowMs);
    for (const pending of this.batch) pending.unsettled = true;
    await connection.query('COMMIT');
    this.wroteEvents = fold.events.length > 0;
    return results;
  }

  private async open(connection: QueryRunner): Promise<{ nowMs: number; positions: number[] }> {
    await connection.query(openLaneSql(this.lane));
    const [row] = await sqlRunnerOf(connection).query<{ now_ms: number; positions: number[] }>(DRAW_POSITIONS, [
      this.batch.length,
    ]);
    return { nowMs: row!.now_ms, positions: row!.positions };
  }

  private async place(nowMs: number): Promise<Placement[]> {
    const placements: Placement[] = [];
    for (const { write } of this.batch) {
      try {
        const { atMs, windows } = placeWrite(write, nowMs);
        placements.push({ write, atMs, windows: await this.stored(write.board.uid, windows) });
      } catch (error) {
        if (!(error instanceof LadderError)) throw error;
        placements.push({ error });
      }
    }
    return placements;
  }

  private async stored(boardUid: number, bounds: WindowBounds[]): Promise<StoredWindow[]> {
    const windows: StoredWindow[] = [];
    for (const one of bounds) {
      windows.push(this.windows.cached(boardUid, one.id) ?? (await this.windows.ensure(boardUid, one)));
    }
    return windows;
  }

  private async read(
    connection: QueryRunner,
    placements: Placement[],
  ): Promise<{ fold: BatchFold; revisions: Map<number, number> }> {
    const keys = new Map<string, { boardUid: number; windowUid: number; playerId: string }>();
    for (const placement of placements) {
      if ('error' in placement) continue;
      const { board, playerId } = placement.write;
      for (const window of placement.windows) {
        keys.set(entryKeyOf(window.uid, playerId), { boardUid: board.uid, windowUid: window.uid, playerId });
      }
    }
    const ids = new Map<string, SubmitWrite>();
    for (const { write, unsettled } of this.batch) {
      if (write.kind === 'submit' && (write.idFromClient || unsettled)) ids.set(submissionKeyOf(write), write);
    }
    const entryKeys = [...keys.values()];
    const submits = [...ids.values()];
    const rows = await sqlRunnerOf(connection).query<ReadRow>(READ_LANE_BATCH, [
      entryKeys.map((key) => key.windowUid),
      entryKeys.map((key) => key.playerId),
      submits.map((write) => write.board.uid),
      submits.map(ownerOf),
      submits.map((write) => write.submissionId),
      [...new Set(this.batch.map(({ write }) => write.board.uid))],
    ]);
    const entries = new Map<string, EntryRow>();
    const remembered = new Map<string, RememberedSubmission>();
    const revisions = new Map<number, number>();
    for (const row of rows) {
      if (row.what === 'board') {
        if (!row.gone) revisions.set(row.n, row.version!);
      } else if (row.what === 'entry') {
        const key = entryKeys[row.n - 1]!;
        entries.set(entryKeyOf(key.windowUid, key.playerId), { ...key, state: stateOf(row), removed: row.gone! });
      } else {
        remembered.set(submissionKeyOf(submits[row.n - 1]!), {
          bodySha256: row.body_sha256!,
          answer: JSON.parse(row.text!) as RememberedSubmission['answer'],
        });
      }
    }
    return { fold: new BatchFold(entries, remembered), revisions };
  }

  /** A write whose own commit went unanswered finds itself: that is its first answer, not a replay. */
  private asFirstAnswer(result: WriteResult, index: number): WriteResult {
    if ('error' in result || !this.batch[index]!.unsettled) return result;
    const { receipt } = result;
    return {
      receipt: receipt.kind === 'submit' ? { ...receipt, replayed: false } : { ...receipt, settledBefore: true },
    };
  }

  private async store(connection: QueryRunner, fold: BatchFold, nowMs: number): Promise<void> {
    const { newSubmissions, events, audits } = fold;
    for (const audit of audits) await recordAudit(sqlRunnerOf(connection), audit);
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
      entries.map((row) => row.windowUid),
      entries.map((row) => row.playerId),
      entries.map((row) => row.boardUid),
      entries.map((row) => row.state.version),
      entries.map((row) => row.removed),
      entries.map((row) => row.state.score),
      entries.map((row) => arrayLiteral(row.state.columns)),
      entries.map((row) => row.state.achievedAtMs),
      entries.map((row) => row.state.metadata),
      events.map((event) => event.version),
      events.map((event) => event.type),
      events.map((event) => event.playerId),
      events.map((event) => JSON.stringify(event)),
    ]);
  }
}

const arrayLiteral = (numbers: number[]): string => `{${numbers.join(',')}}`;

function stateOf(row: ReadRow): EntryRow['state'] {
  return {
    score: row.score!,
    columns: row.columns!,
    achievedAtMs: row.achieved_at_ms!,
    metadata: row.text,
    version: row.version!,
  };
}
