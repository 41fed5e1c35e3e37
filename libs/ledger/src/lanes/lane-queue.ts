import { LadderError } from '@laddercast/domain';
import { Injectable } from '@nestjs/common';
import { takeLane } from './lane-locks.js';
import { Lanes, placedAnew, type Place } from './lanes.js';
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
    private readonly lanes: Lanes,
    private readonly notifier: OutboxNotifier,
  ) {}

  /**
   * Runs a transaction that holds the lane and wakes the log's consumers after its commit.
   * @param at the id of a player, a guild, a pool, …; or a lane
   * @throws OVERLOADED when too many wait; for a lane, PostgreSQL's refusal where it is of an earlier map
   */
  holding<T>(at: string | Place, work: (transaction: SqlRunner, lane: number) => Promise<T>): Promise<T> {
    return this.inTurn(at, async (transaction, place) => {
      await takeLane(transaction, place);
      return work(transaction, place.lane);
    });
  }

  /** As {@link holding}, for a lane that stays the same, however many there are. */
  holdingLane<T>(lane: number, work: (transaction: SqlRunner, lane: number) => Promise<T>): Promise<T> {
    return placedAnew(this.database, this.lanes, () => this.holding(this.lanes.place(lane), work));
  }

  /** As {@link holding}, for work that takes the lane itself, after what it locks before. */
  inTurn<T>(at: string | Place, work: (transaction: SqlRunner, place: Place) => Promise<T>): Promise<T> {
    const { database, lanes } = this;
    if (typeof at === 'object') return this.inTurnOf(at.lane, (transaction) => work(transaction, at));
    return placedAnew(database, lanes, () => {
      const place = lanes.placeOf(at);
      return this.inTurnOf(place.lane, (transaction) => work(transaction, place));
    });
  }

  private async inTurnOf<T>(lane: number, work: (transaction: SqlRunner) => Promise<T>): Promise<T> {
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
