import { hasCircles, type Board, type StoredWindow } from '@laddercast/domain';
import { metrics } from '@laddercast/platform';
import type { LedgerClock } from '../database/ledger-clock.js';
import { int4Array, int8Array, textArray } from '../database/postgres-arrays.js';
import type { SqlRunner } from '../database/postgres-database.js';
import type { EntryRow } from '../entries/entry-rows.js';
import { entryParameters } from '../entries/lane-parameters.js';
import { CONTINUE_LANE } from '../entries/lane-sql.js';
import type { LedgerWrite, SubmitWrite, WriteResult } from '../entries/ledger-writes.js';
import { headSequence } from '../lanes/lane-heads.js';
import { openKnownLaneSql } from '../lanes/lane-locks.js';
import { AttemptCounts } from './attempt-counts.js';
import { BatchFold } from './batch-fold.js';
import { mayHaveCounted } from './lane-batch-reader.js';
import type { LaneCatalogs } from './lane-transaction.js';
import { isRemembered, type LaneMemory } from './lane-memory.js';
import { inOrderOfIds, LaneStore, submissionParameters } from './lane-store.js';
import type { PendingWrite } from './lane-writer.js';
import { sendCommit } from './send-commit.js';
import { answerBehindVersion } from '../entries/stored-answer.js';
import { entryKeyOf, type StoredBatch } from './stored-batch.js';
import { placeAhead, type PlacedWrite } from './window-placement.js';

/** How long after the assumed time a commit may find itself: a lane is seldom waited for longer. */
const ASSUMED_FOR_MS = 100;

/** What a batch is folded by. */
interface Known {
  /** By {@link entryKeyOf}. */
  entries: ReadonlyMap<string, EntryRow | null>;
  /** Of boards, by uid. */
  revisions: ReadonlyMap<number, number>;
}

/**
 * A group commit in one trip to PostgreSQL: the batch is folded by what the lane's writer remembers, before the lane is taken.
 * PostgreSQL refuses it where the lane's head has moved, a board or a sanction is not as assumed, or an id is taken; then it
 * is committed as any other. Log positions are drawn by the statement that writes them, under the lane: until its answer the
 * n-th write of the batch stands under the position -n.
 */
export class AheadCommit {
  /** The ledger's time in the transaction, Unix ms. */
  nowMs = 0;
  private readonly fold: BatchFold;
  private readonly results: WriteResult[];

  private constructor(
    private readonly lane: number,
    private readonly memory: LaneMemory,
    private readonly batch: readonly PendingWrite[],
    private readonly placed: readonly PlacedWrite<SubmitWrite>[],
    private readonly known: Known,
  ) {
    this.fold = new BatchFold(storedOf(known.entries));
    this.results = placed.map((place, index) => this.fold.apply(place, -1 - index));
  }

  /** @returns null where something of the batch has to be read */
  static of(
    lane: number,
    { windows: catalog }: LaneCatalogs,
    memory: LaneMemory,
    batch: readonly PendingWrite[],
    clock: LedgerClock,
  ): AheadCommit | null {
    if (memory.head === null || !clock.isKnown) return null;
    const fromMs = Math.max(Math.floor(clock.earliestMs()), memory.lastMs);
    const times = { fromMs, untilMs: fromMs + ASSUMED_FOR_MS };
    const placed: PlacedWrite<SubmitWrite>[] = [];
    /** Where runs of now go: all of a board the same way. */
    const ofNow = new Map<Board, StoredWindow[]>();
    const entries = new Map<string, EntryRow | null>();
    const revisions = new Map<number, number>();
    for (const { write } of batch) {
      const { uid, revision } = write.board;
      // Of two revisions one is not of now.
      if (revisions.has(uid) && revisions.get(uid) !== revision) return null;
      revisions.set(uid, revision);
      if (!isPlain(write) || memory.hasSeen(write)) return null;
      const isOfNow = write.achievedAtMs === null && write.windowId === null && write.refusal === null;
      const windows = isOfNow ? ofNow.get(write.board) : undefined;
      const place = windows ? { write, atMs: fromMs, nowMs: fromMs, windows } : placeAhead(write, times, catalog);
      if (place === null) return null;
      if (isOfNow) ofNow.set(write.board, place.windows);
      for (const { uid } of place.windows) {
        const key = entryKeyOf(uid, write.playerId);
        const row = memory.entry(key);
        if (row === undefined) return null;
        entries.set(key, row);
      }
      placed.push(place);
    }
    const commit = new AheadCommit(lane, memory, batch, placed, { entries, revisions });
    return commit.fold.newSubmissions.length === 0 || commit.refusesCounted ? null : commit;
  }

  /** Whether one is refused that may have counted before: no insert of it finds out. */
  private get refusesCounted(): boolean {
    return this.batch.some((pending, index) => mayHaveCounted(pending) && 'error' in this.results[index]!);
  }

  get wroteEvents(): boolean {
    return this.fold.events.length > 0;
  }

  /**
   * One result per write, in order; it resolves after the commit.
   * @param connection sends what it is asked at once, in this order
   * @throws PostgreSQL's refusal, where something is not as assumed (LC001) or an id is taken: nothing was stored
   */
  async run(connection: SqlRunner): Promise<WriteResult[]> {
    const { fold, lane, placed } = this;
    const { nowMs: fromMs } = placed[0]!;
    const store = new LaneStore(connection, lane, fromMs);
    const counted = this.batch.filter((_, index) => !('error' in this.results[index]!));
    let written: Promise<{ nowMs: number; positions: number[] }[]> = Promise.resolve([]);
    await sendCommit(counted, fromMs, () => [
      connection.query(openKnownLaneSql(lane)),
      ...store.frozen(fold),
      (written = connection.query(CONTINUE_LANE, [...this.changes(fromMs), ...this.assumed(fromMs)])),
      ...store.renewed(fold),
      connection.query('COMMIT'),
    ]);
    const [{ nowMs, positions }] = (await written) as [{ nowMs: number; positions: number[] }];
    this.nowMs = nowMs;
    this.number(positions);
    const { memory } = this;
    memory.leave({ head: memory.head, nowMs, entries: fold.changedEntries.values(), absent: [] });
    memory.seeIds(fold.newSubmissions.map(({ write }) => write));
    metrics.laneEntries.inc(
      { from: 'memory' },
      placed.reduce((sum, { windows }) => sum + windows.length, 0),
    );
    return this.results;
  }

  private assumed(fromMs: number): unknown[] {
    const { revisions } = this.known;
    const players = new Set(this.placed.map(({ write }) => write.playerId));
    return [
      headSequence(this.lane),
      this.memory.head,
      int4Array([...revisions.keys()]),
      int8Array([...revisions.values()]),
      textArray([...players]),
      fromMs,
      fromMs + ASSUMED_FOR_MS,
    ];
  }

  private changes(fromMs: number): unknown[] {
    const { newSubmissions, changedEntries, events } = this.fold;
    const submissions = inOrderOfIds(newSubmissions);
    const numbers = new Map(events.map(({ version }, index) => [version, index + 1]));
    const numberOf = (position: number): number => numbers.get(position) ?? 0;
    return [
      ...submissionParameters(this.lane, fromMs, submissions),
      textArray(submissions.map(({ answer }) => answerBehindVersion(answer))),
      ...entryParameters([...changedEntries.values()], events, numberOf),
      int8Array(submissions.map(({ answer: { version } }) => (version < 0 ? -numberOf(version) : version))),
    ];
  }

  /** Gives everything the log positions that were drawn, in the order of the events. */
  private number(positions: readonly number[]): void {
    const { events, changedEntries } = this.fold;
    const drawn = new Map(events.map(({ version }, index) => [version, positions[index]!]));
    const settle = (one: { version: number } | null): void => {
      if (one && one.version < 0) one.version = drawn.get(one.version)!;
    };
    for (const { state } of changedEntries.values()) settle(state);
    for (const result of this.results) {
      if ('error' in result || result.receipt.kind !== 'submit') continue;
      const { answer, movement } = result.receipt;
      settle(answer);
      settle(movement!.before);
      settle(movement!.after);
    }
  }
}

/** A submission that needs no more than entries. */
const isPlain = (write: LedgerWrite): write is SubmitWrite =>
  write.kind === 'submit' &&
  isRemembered(write.board) &&
  write.board.definition.limits.attemptsMax === null &&
  !hasCircles(write.board.definition.scopes) &&
  write.hold === undefined;

const storedOf = (entries: ReadonlyMap<string, EntryRow | null>): StoredBatch => ({
  entries,
  remembered: new Map(),
  hours: new Map(),
  scopes: new Map(),
  attempts: new AttemptCounts([]),
  standing: new Map(),
  feedPositions: new Map(),
  sanctions: new Map(),
});
