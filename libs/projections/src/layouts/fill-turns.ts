import { monotonicMs, sleep } from '@laddercast/platform';
import type { ShardChanges } from '../ranks/changes-by-shard.js';
import type { RankProjection } from '../ranks/rank-projection.js';
import { chunksOf } from '../redis/chunks.js';

/** The most rows that one call writes: some three milliseconds of Redis. */
const ROWS_AT_ONCE = 150;
/** Redis is busy with one call while the next is made ready. */
const CALLS_AT_ONCE = 2;

/**
 * The turns in which the generations of all boards are filled by this process. Calls are small and few are under way, so that
 * a read of the lists that serve waits for no more than two of them.
 */
export class FillTurns {
  /** Those under way or asked for last, as many as there may be at once. */
  private lastCalls: Promise<unknown>[] = Array.from({ length: CALLS_AT_ONCE }, () => Promise.resolve());
  private freeAtMs = -Infinity;

  constructor(private readonly projection: Pick<RankProjection, 'apply'>) {}

  /**
   * Resolves once so many rows may be written.
   * @param rowsPerSecond 0: no limit
   * @throws the signal's reason
   */
  async untilDue(rows: number, rowsPerSecond: number, signal: AbortSignal): Promise<void> {
    if (rowsPerSecond === 0) return;
    const beginsAtMs = Math.max(monotonicMs(), this.freeAtMs);
    this.freeAtMs = beginsAtMs + (rows / rowsPerSecond) * 1000;
    await sleep(beginsAtMs - monotonicMs(), signal);
    signal.throwIfAborted();
  }

  /**
   * Writes the changes of a shard in parts, each in its turn.
   * @returns how many were newer than what was there
   * @throws what the projection does
   */
  async write({ list, shard, changes }: ShardChanges, keepUntilMs: number | null): Promise<number> {
    const writes = chunksOf(changes, ROWS_AT_ONCE).map((part) =>
      this.inTurn(() => this.projection.apply(list, shard, part, keepUntilMs)),
    );
    let newer = 0;
    for (const count of await Promise.all(writes)) newer += count;
    return newer;
  }

  private inTurn<Done>(call: () => Promise<Done>): Promise<Done> {
    const [before, ...others] = this.lastCalls;
    const done = before!.then(call);
    this.lastCalls = [...others, done.catch(() => undefined)];
    return done;
  }
}
