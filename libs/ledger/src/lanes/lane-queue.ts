import { LadderError } from '@laddercast/domain';
import { Injectable } from '@nestjs/common';
import { takeLane } from './lanes.js';
import { OutboxNotifier } from './outbox-notifier.js';
import { PostgresDatabase, type SqlRunner } from '../database/postgres-database.js';

/** The most transactions of this process that wait for their turn in one lane. */
const WAITING_MAX = 1000;

/**
 * Writes in a lane beside the runs: profiles, memberships. One transaction at a time for each lane of this process,
 * because one that waits keeps a connection that the lane's holder may need.
 */
@Injectable()
export class LaneQueue {
  private readonly last = new Map<number, Promise<unknown>>();
  private readonly waiting = new Map<number, number>();

  constructor(
    private readonly database: PostgresDatabase,
    private readonly notifier: OutboxNotifier,
  ) {}

  /**
   * Runs a transaction that holds the lane, and wakes the log's consumers after its commit.
   * @throws OVERLOADED when too many wait
   */
  holding<T>(lane: number, work: (transaction: SqlRunner) => Promise<T>): Promise<T> {
    return this.inTurn(lane, async (transaction) => {
      await takeLane(transaction, lane);
      return work(transaction);
    });
  }

  /** As {@link holding}, for work that takes the lane itself, after what it locks before. */
  async inTurn<T>(lane: number, work: (transaction: SqlRunner) => Promise<T>): Promise<T> {
    const waiting = this.waiting.get(lane) ?? 0;
    if (waiting >= WAITING_MAX) {
      throw new LadderError('OVERLOADED', 'Too many changes are waiting; send it again shortly.', {
        retryAfterSeconds: 1,
      });
    }
    this.waiting.set(lane, waiting + 1);
    const turn = (this.last.get(lane) ?? Promise.resolve()).then(() => this.database.transaction(work));
    this.last.set(
      lane,
      turn.catch(() => undefined),
    );
    try {
      return await turn;
    } finally {
      this.waiting.set(lane, this.waiting.get(lane)! - 1);
      this.notifier.wake(lane);
    }
  }
}
