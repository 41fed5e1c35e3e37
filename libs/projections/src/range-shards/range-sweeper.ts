import { everyLayout, GLOBAL_SCOPE } from '@laddercast/domain';
import { LeasedTask, type BoardCatalog, type PostgresLeases } from '@laddercast/ledger';
import { rankListOf, type RankList, type RankProjection } from '../ranks/rank-projection.js';
import type { WindowLists } from '../ranks/window-lists.js';

const EVERY_MS = 5000;
/** Whoever moves an entry takes milliseconds: what is older was left. */
const LEFT_AFTER_MS = 5000;
const LEASE_TTL_MS = 15_000;

export interface RangeSweeperOptions {
  boards: Pick<BoardCatalog, 'all'>;
  windowLists: Pick<WindowLists, 'windowsOf'>;
  projection: RankProjection;
  leases: PostgresLeases;
  /** Names this process among the holders of leases. */
  holder: string;
  /** Told of how many moves were finished, where there were any. */
  onFinished: (moves: number) => void;
  onFailure: (error: unknown) => void;
  /** For how long a move has to lie there until somebody else finishes it, ms. */
  leftAfterMs?: number;
}

/**
 * Finishes what a process that died left between two shards of a list by ranges, so that nothing stays estimated: also
 * where nobody delivers its changes again for a while. One process at a time.
 */
export class RangeSweeper {
  private readonly task: LeasedTask;

  constructor(private readonly options: RangeSweeperOptions) {
    const { leases, holder, onFailure } = options;
    const duties = [{ everyMs: EVERY_MS, run: (signal: AbortSignal) => this.sweep(signal) }];
    this.task = new LeasedTask(leases, { name: 'ranges:sweep', holder, ttlMs: LEASE_TTL_MS, duties, onFailure });
  }

  start(): void {
    this.task.start();
  }

  stop(): Promise<void> {
    return this.task.stop();
  }

  /**
   * Looks once at every list by ranges of every window that is kept.
   * @returns how many moves were finished
   */
  async sweep(signal: AbortSignal): Promise<number> {
    const { projection, onFinished, leftAfterMs = LEFT_AFTER_MS } = this.options;
    let finished = 0;
    for await (const { list, keepUntilMs } of this.rangeLists()) {
      if (signal.aborted) break;
      finished += await projection.finishMoves(list, keepUntilMs, leftAfterMs);
    }
    if (finished > 0) onFinished(finished);
    return finished;
  }

  /**
   * Takes out what recovery cannot see: entries that another part of the store knows to have gone.
   * @throws PROJECTION_UNAVAILABLE
   */
  async removeStrays(signal: AbortSignal): Promise<void> {
    for await (const { list, keepUntilMs } of this.rangeLists()) {
      signal.throwIfAborted();
      await this.options.projection.removeStrays(list, keepUntilMs);
    }
  }

  private async *rangeLists(): AsyncGenerator<{ list: RankList; keepUntilMs: number | null }> {
    const { boards, windowLists } = this.options;
    for (const board of boards.all()) {
      const layouts = everyLayout(board.layouts).filter(({ sharding }) => sharding.by === 'range');
      if (layouts.length === 0) continue;
      for (const { uid, keepUntilMs } of await windowLists.windowsOf(board)) {
        for (const layout of layouts) yield { list: rankListOf(board, uid, GLOBAL_SCOPE, layout), keepUntilMs };
      }
    }
  }
}
