import { Injectable } from '@nestjs/common';
import { takeLane } from './lane-locks.js';
import { Lanes, placedAnew, type Place } from './lanes.js';
import { OutboxNotifier } from './outbox-notifier.js';
import { Turns } from './turns.js';
import { PostgresDatabase, type SqlRunner } from '../database/postgres-database.js';

const TURN_WITHIN_MS = 10_000;

/**
 * Writes in a lane beside the runs: profiles, memberships. One transaction at a time for each lane of this process,
 * because one that waits keeps a connection that the lane's holder may need.
 */
@Injectable()
export class LaneQueue {
  private readonly turns = new Map<number, Turns>();

  constructor(
    private readonly database: PostgresDatabase,
    private readonly lanes: Lanes,
    private readonly notifier: OutboxNotifier,
  ) {}

  /**
   * Runs a transaction that holds the lane and wakes the log's consumers after its commit.
   * @param at the id of a player, a guild, a pool, …; or a lane
   * @throws OVERLOADED, LEDGER_UNAVAILABLE when too many wait, or for too long; for a lane, PostgreSQL's refusal where it is of an earlier map
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
    const turns = this.turns.get(lane) ?? new Turns(TURN_WITHIN_MS);
    this.turns.set(lane, turns);
    try {
      return await turns.take(() => this.database.transaction(work));
    } finally {
      this.notifier.wake(lane);
    }
  }
}
