import { metrics, monotonicMs, sleep, startSpan, type OpenSpan } from '@laddercast/platform';
import type { QueryRunner } from 'typeorm';
import { LedgerClock } from '../database/ledger-clock.js';
import { AheadCommit } from './ahead-commit.js';
import type { LaneMemory } from './lane-memory.js';
import { LaneTransaction, type LaneCatalogs } from './lane-transaction.js';
import type { PostgresDatabase } from '../database/postgres-database.js';
import { pipelineOf, rollBack } from '../database/postgres-runners.js';
import { isDatabaseUnavailable, sqlStateOf, UNIQUE_VIOLATION } from '../database/postgres-errors.js';
import {
  commitHalves,
  RETRY_EVERY_MS,
  unavailable,
  WRITE_DEADLINE_MS,
  type AwaitedCommit,
  type WriteWords,
} from '../lanes/commit-tries.js';
import { noteFailure, noteReceipt, refuseOverload } from './submission-outcomes.js';
import { isOfEarlierMap, type Lanes, type Place } from '../lanes/lanes.js';
import type { LedgerReceipt, LedgerWrite, WriteResult } from '../entries/ledger-writes.js';

/** The most writes in one transaction. */
export const LANE_BATCH_MAX = 512;
/** An id that two lanes carry at once is settled by the second look; more looks would be a bug. */
const COLLISION_RETRIES_MAX = 5;

/** How a write that another way was tried for, or that comes from another process, is tried here. */
export interface WriteAttempt extends AwaitedCommit {
  /** Since when it waits, by the monotonic clock. */
  sinceMs: number;
  /** Whether another process handed it over, which makes it itself once it has expired here. */
  isHandedOver: boolean;
  /** The ledger's times of those commits of it here whose outcome is not known, Unix ms; absent: there is none. */
  unansweredAtMs?: number[];
}

/** A write on its way. */
export interface PendingWrite extends WriteAttempt {
  write: LedgerWrite;
  /** The span from here to the commit; null: not traced, or by who handed it over. */
  span: OpenSpan | null;
  resolve(receipt: LedgerReceipt): void;
  reject(error: unknown): void;
}

/** Thrown for a write that was handed over and has waited too long: nothing of it was stored, or will be. */
export class WriteNotTaken extends Error {}

export interface LaneWriterOptions {
  lane: number;
  lanes: Lanes;
  /** Takes a write whose player is in another lane by now. */
  place: (pending: PendingWrite) => void;
  queueMax: number;
  memory: LaneMemory;
  /** Called after each commit that put events into the outbox. */
  onCommitted: (lane: number) => void;
}

/**
 * One lane's writes: whatever waits when the connection is free is committed together (group commit, no timer).
 */
export class LaneWriter {
  private queue: PendingWrite[] = [];
  /** What was placed anew and stays here: it comes before all that waits. */
  private readonly again: PendingWrite[] = [];
  private connection: QueryRunner | null = null;
  private running: Promise<void> | null = null;
  private readonly clock = new LedgerClock();
  private readonly memory: LaneMemory;
  /** The map by which it is of this lane. */
  private memoryMap: number;

  constructor(
    private readonly database: PostgresDatabase,
    private readonly catalogs: LaneCatalogs,
    private readonly options: LaneWriterOptions,
  ) {
    this.memory = options.memory;
    this.memoryMap = options.lanes.number;
  }

  /**
   * Resolves once the write is durable.
   * @param attempt absent: a new write of this process
   * @throws OVERLOADED, LEDGER_UNAVAILABLE, StaleBoardError, WriteNotTaken, and what the write itself is refused for
   */
  write(write: LedgerWrite, attempt?: WriteAttempt): Promise<LedgerReceipt> {
    // Of what another process may have counted it is not said that it was not: there is little of that.
    if (this.queue.length >= this.options.queueMax && !attempt?.unsettled) refuseOverload(write);
    const span = attempt ? null : startSpan('ledger commit');
    const traced = span === null ? write : { ...write, traceparent: span.traceparents[0]! };
    const tried = attempt ?? newAttempt();
    return new Promise((resolve, reject) => {
      this.take({ write: traced, ...tried, span, resolve, reject });
    });
  }

  /** Takes a write that waited elsewhere. */
  take(pending: PendingWrite): void {
    this.queue.push(pending);
    this.running ??= this.drain();
  }

  get waiting(): number {
    return this.queue.length;
  }

  /** Commits what waits, then lets the connection go. */
  async close(): Promise<void> {
    await this.running;
    const { connection } = this;
    this.connection = null;
    if (connection && !connection.isReleased) await connection.release();
  }

  private async drain(): Promise<void> {
    // Every write of this turn of the event loop joins the batch.
    await Promise.resolve();
    while (this.queue.length > 0) {
      const batch = this.queue
        .splice(0, LANE_BATCH_MAX)
        .filter((pending) => isTaken(pending) && this.isPlaced(pending));
      // The map by which they are here, whatever becomes known meanwhile.
      const at = this.options.lanes.place(this.options.lane);
      if (at.map !== this.memoryMap) {
        // Lanes were raised, which moved the head: what was remembered is of no use.
        this.memory.forget();
        this.memoryMap = at.map;
      }
      if (batch.length > 0) await this.commit(batch, at);
      this.queue.unshift(...this.again.splice(0));
    }
    // In the same turn as the last look at the queue, or a write could slip in between and wait for ever.
    this.running = null;
  }

  /** Settles every write of the batch, whatever happens. */
  private async commit(batch: PendingWrite[], at: Place, tried = { ahead: false, collisions: 0 }): Promise<void> {
    const { lane } = at;
    let ahead: AheadCommit | null = null;
    try {
      // A connection that broke, or was discarded, is replaced.
      if (this.connection?.isReleased) this.connection = null;
      this.connection ??= await this.connect();
      await this.catalogs.metadata.note(batch.map(({ write }) => write));
      const pipeline = await pipelineOf(this.connection);
      const beganAtMs = monotonicMs();
      if (!tried.ahead) ahead = AheadCommit.of(lane, this.catalogs, this.memory, batch, this.clock);
      const transaction = ahead ?? new LaneTransaction(at, this.catalogs, batch, this.memory);
      const results = await transaction.run(pipeline, this.clock.isKnown ? this.clock.nowMs() : null);
      const now = monotonicMs();
      this.database.reach.seen();
      this.clock.learn(transaction.nowMs, beganAtMs, now);
      laneCommits[ahead ? 'one' : 'two'].inc();
      metrics.commitSeconds.observe((now - beganAtMs) / 1000);
      metrics.groupCommitSubmissions.observe(batch.length);
      if (transaction.wroteEvents) this.options.onCommitted(lane);
      for (const { span } of batch) {
        span?.set({ 'laddercast.lane': lane, 'laddercast.commit.submissions': batch.length });
      }
      batch.forEach((pending, index) => settle(pending, results[index]!, now));
    } catch (error) {
      if (this.connection) await rollBack(this.connection, error);
      if (isDatabaseUnavailable(error)) return this.retryUntilDeadline(batch, at, error);
      if (ahead) {
        laneCommits.inVain.inc();
        return this.commit(batch, at, { ahead: true, collisions: 0 });
      }
      if (isOfEarlierMap(error)) return this.placeAnew(batch, at, error);
      if (sqlStateOf(error) === UNIQUE_VIOLATION && tried.collisions < COLLISION_RETRIES_MAX) {
        return this.commit(batch, at, { ahead: true, collisions: tried.collisions + 1 });
      }
      if (batch.length === 1) return refuse(batch[0]!, error, monotonicMs());
      return commitHalves(batch, (half) => this.commitHalf(half, at, error));
    }
  }

  /** Without what has expired: what came before it may have to be sent again, and is to count first. */
  private async commitHalf(half: PendingWrite[], at: Place, cause: unknown): Promise<void> {
    const now = monotonicMs();
    const left = half.filter((pending) => isTaken(pending) && isInTime(pending, cause, now));
    if (left.length > 0) await this.commit(left, at, { ahead: true, collisions: 0 });
  }

  private async connect(): Promise<QueryRunner> {
    const connection = await this.database.dedicatedConnection();
    this.catalogs.metadata.forget();
    // Another server may have taken over.
    this.memory.forget();
    return connection;
  }

  private async retryUntilDeadline(batch: PendingWrite[], at: Place, cause: unknown): Promise<void> {
    const now = monotonicMs();
    const left = batch.filter((pending) => isInTime(pending, cause, now));
    // The writes behind the batch have waited for the same server.
    this.queue = this.queue.filter((pending) => isInTime(pending, cause, now));
    if (left.length === 0) return;
    await sleep(RETRY_EVERY_MS);
    await this.commit(left, at);
  }

  /** Lanes were raised: nothing of the batch was stored. In its order, each goes to where its player is now; who stays, before what came behind. */
  private async placeAnew(batch: PendingWrite[], at: Place, refusal: unknown): Promise<void> {
    const { lanes, place } = this.options;
    try {
      await lanes.refresh(this.database);
      // A server that lacks the raise has taken over: who knows of it must not write there.
      if (lanes.number === at.map) throw refusal;
    } catch (error) {
      return this.retryUntilDeadline(batch, at, error);
    }
    for (const pending of batch) {
      if (lanes.of(pending.write.playerId) === at.lane) this.again.push(pending);
      else place(pending);
    }
  }

  private isPlaced(pending: PendingWrite): boolean {
    const { lanes, lane, place } = this.options;
    if (lanes.of(pending.write.playerId) === lane) return true;
    place(pending);
    return false;
  }
}

function newAttempt(): WriteAttempt {
  const sinceMs = monotonicMs();
  return { sinceMs, expiresAtMs: sinceMs + WRITE_DEADLINE_MS, unsettled: false, isHandedOver: false };
}

/** Who handed over what has expired makes it itself: here it is not begun any more. */
function isTaken(pending: PendingWrite): boolean {
  const { isHandedOver, expiresAtMs, unsettled, reject } = pending;
  if (!isHandedOver || expiresAtMs > monotonicMs()) return true;
  const notTaken = new WriteNotTaken();
  reject(unsettled ? unavailable(pending, notTaken, WORDS) : notTaken);
  return false;
}

/** What waited too long for PostgreSQL is refused. */
function isInTime(pending: PendingWrite, cause: unknown, now: number): boolean {
  if (pending.expiresAtMs > now) return true;
  refuse(pending, unavailable(pending, cause, WORDS), now);
  return false;
}

function settle(pending: PendingWrite, result: WriteResult, now: number): void {
  if ('error' in result) return refuse(pending, result.error, now);
  noteReceipt(result.receipt, waitedMs(pending, now));
  pending.span?.end();
  pending.resolve(result.receipt);
}

function refuse(pending: PendingWrite, error: unknown, now: number): void {
  if (pending.write.kind === 'submit') noteFailure(error, waitedMs(pending, now));
  pending.span?.end(error);
  pending.reject(error);
}

const laneCommits = {
  one: metrics.laneCommits.labels('one'),
  two: metrics.laneCommits.labels('two'),
  inVain: metrics.laneCommits.labels('in vain'),
};

const waitedMs = ({ sinceMs }: PendingWrite, now: number): number => now - sinceMs;

const WORDS: WriteWords = { notKnown: 'this counted', id: 'submissionId' };
