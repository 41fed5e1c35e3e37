import { beginHistory, LANES_MAX, ledgerReach, PostgresDatabase, raiseStamp, type SqlRunner } from '@laddercast/ledger';
import { Inject, Injectable } from '@nestjs/common';
import { ProjectionStore } from './projection-store.js';
import { RedisLaneMarks } from '../redis/redis-lane-marks.js';

/** Also those that the ledger, as it was restored to, has not got yet. */
const EVERY_LANE = Array.from({ length: LANES_MAX }, (_, lane) => lane);

/**
 * Notices that the projection is ahead of the ledger: that PostgreSQL was restored from a back-up, or lost its last commits,
 * and Redis shows what was never submitted. Versions would hide that for ever: all that is newer than Redis is older in
 * PostgreSQL, or has the same number.
 *
 * The ledger is stamped with a growing number, then the store with the same one. Hence a store never has a later stamp than
 * the ledger, unless the ledger went back; and none has a mark beyond the last position that was drawn.
 */
@Injectable()
export class RestoredLedgerCheck {
  constructor(
    @Inject(PostgresDatabase) private readonly database: SqlRunner,
    private readonly store: ProjectionStore,
    @Inject(RedisLaneMarks) private readonly marks: Pick<RedisLaneMarks, 'readLanes' | 'drop'>,
  ) {}

  /** @throws PROJECTION_UNAVAILABLE, or a database error */
  async isAhead(): Promise<boolean> {
    const { database, store, marks } = this;
    // The store first: what it has was in the ledger by then.
    const stamp = await store.stamp();
    const positions = await marks.readLanes(EVERY_LANE);
    const ledger = await ledgerReach(database);
    return stamp > ledger.stamp || positions.some((mark) => (mark ?? 0) > ledger.position);
  }

  /** Stamps the ledger and the store. To be called only where the store is not ahead. */
  async advance(): Promise<void> {
    await this.store.setStamp(await raiseStamp(this.database));
  }

  /**
   * Empties a store that is ahead, so that recovery brings everything back. Until it is empty it stays ahead, for whoever
   * looks: who begins anew after a failure begins at the start, and no lane is recovered into what is being emptied.
   * At the end the ledger begins another history, at which every process ends that knew the one before (BoardCatalog).
   * @returns how many keys went
   */
  async empty(signal: AbortSignal): Promise<number> {
    const { database, store, marks } = this;
    const ahead = Math.max(await store.stamp(), (await raiseStamp(database)) + 1);
    await store.setStamp(ahead);
    for (const lane of EVERY_LANE) await marks.drop(lane);
    // Twice: what was written while the first pass went by has no mark, and is written again.
    let removed = 0;
    try {
      for (let pass = 0; pass < 2; pass += 1) removed += await store.empty(signal);
    } finally {
      // Whoever slept beyond its lease may have removed what another brought back: what was marked meanwhile is not whole.
      for (const lane of EVERY_LANE) await marks.drop(lane);
    }
    signal.throwIfAborted();
    await beginHistory(database, ahead);
    return removed;
  }
}
