import { PostgresDatabase, ratedPositions } from '@laddercast/ledger';
import { monotonicMs, sleep } from '@laddercast/platform';
import { Injectable } from '@nestjs/common';

const LOOK_EVERY_MS = 20;

interface Wait {
  poolUid: number;
  position: number;
  /** By the monotonic clock. */
  untilMs: number;
  end: () => void;
}

/** Waits until games are rated: with one look at PostgreSQL for all who wait in this process. */
@Injectable()
export class RatingWaits {
  private readonly waits = new Set<Wait>();
  private isLooking = false;

  constructor(private readonly database: PostgresDatabase) {}

  /** Resolves once the pool is rated up to the position or is gone, at `untilMs` (monotonic) at the latest. */
  rated(poolUid: number, position: number, untilMs: number): Promise<void> {
    return new Promise((end) => {
      this.waits.add({ poolUid, position, untilMs, end });
      if (!this.isLooking) void this.look();
    });
  }

  private async look(): Promise<void> {
    this.isLooking = true;
    while (this.waits.size > 0) {
      const asked = [...this.waits];
      const uids = [...new Set(asked.map(({ poolUid }) => poolUid))];
      // While PostgreSQL is away nobody knows more; the waits end by their time.
      const positions = await ratedPositions(this.database, uids).catch(() => null);
      const nowMs = monotonicMs();
      for (const wait of asked) {
        const isRated = positions !== null && (positions.get(wait.poolUid) ?? Infinity) >= wait.position;
        if (!isRated && wait.untilMs > nowMs) continue;
        this.waits.delete(wait);
        wait.end();
      }
      if (this.waits.size > 0) await sleep(LOOK_EVERY_MS);
    }
    this.isLooking = false;
  }
}
