import { Injectable } from '@nestjs/common';
import { takeAllLanes } from './lane-locks.js';
import { Lanes } from './lanes.js';
import { Turns } from './turns.js';
import { PostgresDatabase, type SqlRunner } from '../database/postgres-database.js';

/** Some hundred boards may be put at once. */
const TURN_WITHIN_MS = 30_000;

/** Transactions on whole boards: while one runs, no entry is written anywhere. */
@Injectable()
export class AllLanes {
  private readonly turns = new Turns(TURN_WITHIN_MS);

  constructor(
    private readonly database: PostgresDatabase,
    private readonly lanes: Lanes,
  ) {}

  /**
   * Runs a transaction that holds every lane. Be quick: everybody waits. One at a time in this process: while one waits
   * for the lanes, it keeps a connection that their writers may need.
   * @param before what is locked before the lanes
   * @throws OVERLOADED, LEDGER_UNAVAILABLE when too many wait, or for too long
   */
  change<T>(
    work: (transaction: SqlRunner) => Promise<T>,
    before: (transaction: SqlRunner) => Promise<void> = () => Promise.resolve(),
  ): Promise<T> {
    return this.turns.take(() =>
      this.database.transaction(async (transaction) => {
        await before(transaction);
        await takeAllLanes(transaction, this.lanes);
        return work(transaction);
      }),
    );
  }
}
