import { randomUUID } from 'node:crypto';
import { DRAWN_SQL, HISTORY, Lanes, PostgresDatabase, type SqlRunner } from '@laddercast/ledger';
import { Inject, Injectable } from '@nestjs/common';
import { ProjectionStore } from './projection-store.js';
import { RedisLaneMarks } from '../redis/redis-lane-marks.js';

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
    @Inject(RedisLaneMarks) private readonly marks: Pick<RedisLaneMarks, 'readMark' | 'drop'>,
    private readonly lanes: Lanes,
  ) {}

  /** @throws PROJECTION_UNAVAILABLE, or a database error */
  async isAhead(): Promise<boolean> {
    const { database, store, marks, lanes } = this;
    // The store first: what it has was in the ledger by then.
    const stamp = await store.stamp();
    const positions = await Promise.all(lanes.all.map((lane) => marks.readMark(lane)));
    const [ledger] = await database.query<{ stamp: number; position: number }>(
      `SELECT coalesce((SELECT value::bigint FROM installation WHERE name = 'stamp'), 0) AS stamp,
         drawn.position FROM (${DRAWN_SQL}) AS drawn`,
    );
    return stamp > ledger!.stamp || positions.some((mark) => (mark ?? 0) > ledger!.position);
  }

  /** Stamps the ledger and the store. To be called only where the store is not ahead. */
  async advance(): Promise<void> {
    await this.store.setStamp(await this.stampLedger());
  }

  /**
   * Empties a store that is ahead, so that recovery brings everything back. Until it is empty it stays ahead, for whoever
   * looks: who begins anew after a failure begins at the start, and no lane is recovered into what is being emptied.
   * At the end the ledger begins another history, at which every process ends that knew the one before (BoardCatalog).
   * @returns how many keys went
   */
  async empty(signal: AbortSignal): Promise<number> {
    const { store, marks, lanes } = this;
    const ahead = Math.max(await store.stamp(), (await this.stampLedger()) + 1);
    await store.setStamp(ahead);
    for (const lane of lanes.all) await marks.drop(lane);
    // Twice: what was written while the first pass went by has no mark, and is written again.
    let removed = 0;
    try {
      for (let pass = 0; pass < 2; pass += 1) removed += await store.empty(signal);
    } finally {
      // Whoever slept beyond its lease may have removed what another brought back: what was marked meanwhile is not whole.
      for (const lane of lanes.all) await marks.drop(lane);
    }
    signal.throwIfAborted();
    await this.beginHistory(ahead);
    return removed;
  }

  /**
   * One statement: when the store is not ahead any more, every process that remembers what is gone is on its way out, and no
   * position is recorded that was not drawn (of a consumer that outlived the ledger).
   */
  private async beginHistory(stamp: number): Promise<void> {
    await this.database.query(
      `WITH drawn AS MATERIALIZED (${DRAWN_SQL}), lowered AS (
         UPDATE projected_positions AS known SET position = drawn.position FROM drawn
         WHERE known.position > drawn.position)
       INSERT INTO installation AS known (name, value) VALUES ('stamp', $1), ('${HISTORY}', $2)
       ON CONFLICT (name) DO UPDATE SET value = CASE known.name
         WHEN 'stamp' THEN greatest(known.value::bigint, excluded.value::bigint)::text ELSE excluded.value END`,
      [String(stamp), randomUUID()],
    );
  }

  private async stampLedger(): Promise<number> {
    const [row] = await this.database.query<{ stamp: string }>(
      `INSERT INTO installation AS known (name, value) VALUES ('stamp', '1')
       ON CONFLICT (name) DO UPDATE SET value = (known.value::bigint + 1)::text RETURNING value AS stamp`,
    );
    return Number(row!.stamp);
  }
}
