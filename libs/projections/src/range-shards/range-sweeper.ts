import { everyLayout, GLOBAL_SCOPE } from '@laddercast/domain';
import { BoardCatalog } from '@laddercast/ledger';
import { Inject, Injectable, Logger, Optional } from '@nestjs/common';
import { listOfWindow, RankProjection, type RankList } from '../ranks/rank-projection.js';
import { WindowLists } from '../ranks/window-lists.js';

/** Whoever moves an entry takes milliseconds: what is older was left. */
const LEFT_AFTER_MS = 5000;

/**
 * Finishes what a process that died left between two shards of a list by ranges, so that nothing stays estimated: also
 * where nobody delivers its changes again for a while.
 */
@Injectable()
export class RangeSweeper {
  private readonly log = new Logger('ranges');

  /** @param leftAfterMs for how long a move has to lie there until somebody else finishes it */
  constructor(
    @Inject(BoardCatalog) private readonly boards: Pick<BoardCatalog, 'all'>,
    @Inject(WindowLists) private readonly windowLists: Pick<WindowLists, 'windowsOf'>,
    private readonly projection: RankProjection,
    @Optional() private readonly leftAfterMs = LEFT_AFTER_MS,
  ) {}

  /**
   * Looks once at every list by ranges of every window that is kept.
   * @returns how many moves were finished
   */
  async sweep(signal: AbortSignal): Promise<number> {
    let finished = 0;
    for await (const { list, keepUntilMs } of this.rangeLists()) {
      if (signal.aborted) break;
      finished += await this.projection.finishMoves(list, keepUntilMs, this.leftAfterMs);
    }
    if (finished > 0) this.log.warn(`${finished} entries had been left between two shards, and are in their place.`);
    return finished;
  }

  /**
   * Takes out what recovery cannot see: entries that another part of the store knows to have gone.
   * @throws PROJECTION_UNAVAILABLE
   */
  async removeStrays(signal: AbortSignal): Promise<void> {
    for await (const { list, keepUntilMs } of this.rangeLists()) {
      signal.throwIfAborted();
      await this.projection.removeStrays(list, keepUntilMs);
    }
  }

  private async *rangeLists(): AsyncGenerator<{ list: RankList; keepUntilMs: number | null }> {
    for (const board of this.boards.all()) {
      const layouts = everyLayout(board.layouts).filter(({ sharding }) => sharding.by === 'range');
      if (layouts.length === 0) continue;
      for (const window of await this.windowLists.windowsOf(board)) {
        const { keepUntilMs } = window;
        for (const layout of layouts) yield { list: listOfWindow(board, window, GLOBAL_SCOPE, layout), keepUntilMs };
      }
    }
  }
}
