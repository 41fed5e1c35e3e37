import { everyLayout, fillingOf, type Board, type Layout } from '@laddercast/domain';
import { BoardCatalog, BoardLayouts, type LayoutRemoval } from '@laddercast/ledger';
import { nowMs, sleep } from '@laddercast/platform';
import { Injectable, Logger, Optional } from '@nestjs/common';
import { lastWritersOf } from '../recovery/drain-writers.js';
import { RankProjection, type RankList } from '../ranks/rank-projection.js';
import { WindowLists } from '../ranks/window-lists.js';

export interface LayoutRemoverOptions {
  /** Told of failures; the generation is looked at again. */
  onFailure?: (error: unknown) => void;
  /** How long a generation that another took the place of is still fed, for readers that have not heard, ms. */
  feedMs?: number;
  /** How long after that its keys are kept at most, for readers of its checkpoints, ms. */
  keepMs?: number;
  /** How often it is looked whether they have ended, ms. */
  lookEveryMs?: number;
}

const FEED_MS = 30_000;
/** Longer than any checkpoint lives. */
const KEEP_MS = 330_000;
const LOOK_EVERY_MS = 5000;
const AFTER_FAILURE_MS = 1000;
/** Generations that are on their way out side by side: most of the time they wait. */
const REMOVALS_AT_ONCE = 16;

/**
 * Takes generations out of the projection that serve no more. One that has served is fed for a while, since processes hear
 * of the change one after another; then its lists are retired, so that whoever still has not heard gets an error and never
 * a list that stands still; then it is fed no more; and when no checkpoint of it is open its keys go. What is still to be
 * done stands in the ledger: any process may go on where another ended, and each step may be repeated.
 */
@Injectable()
export class LayoutRemover {
  private readonly log = new Logger('layouts');
  private readonly removing = new Map<string, Promise<void>>();

  constructor(
    private readonly boards: BoardCatalog,
    private readonly layouts: BoardLayouts,
    private readonly projection: RankProjection,
    private readonly windowLists: WindowLists,
    @Optional() private readonly options: LayoutRemoverOptions = {},
  ) {}

  /** Begins with what is to be removed and nobody works on here; it does not wait for it. */
  async look(signal: AbortSignal): Promise<void> {
    for (const removal of await this.layouts.removals()) {
      if (this.removing.size >= REMOVALS_AT_ONCE) return;
      const name = `${removal.boardUid}.${removal.layout.generation}`;
      if (this.removing.has(name)) continue;
      // All of them wait at once: on one signal Node would take so many listeners for a leak.
      const ending = AbortSignal.any([signal]);
      const work = this.remove(removal, ending)
        .catch(async (error: unknown) => {
          if (!ending.aborted) this.failed(error);
          await sleep(AFTER_FAILURE_MS, ending);
        })
        .finally(() => this.removing.delete(name));
      this.removing.set(name, work);
    }
  }

  /** Resolves once nothing is under way; to be called after the signal of the looks aborted. */
  async settled(): Promise<void> {
    await Promise.all(this.removing.values());
  }

  /** @throws PROJECTION_UNAVAILABLE, a database error, or the signal's reason; what was done until then stays */
  async remove(removal: LayoutRemoval, signal: AbortSignal): Promise<void> {
    const { boards, layouts, projection } = this;
    const { boardUid, layout } = removal;
    await boards.refresh();
    const board = await boards.byUid(boardUid);
    // With a board that is gone go all its keys, those of its generations among them.
    if (!board) return;
    if (removal.hasServed) {
      await this.retire(board, removal, signal);
    } else {
      // Nobody has read it. Its keys go first: the store may have run out of memory because of it.
      await lastWritersOf(boards);
      for (const list of await this.listsOf(board, layout)) {
        signal.throwIfAborted();
        await projection.drop(list);
        // A process that slept might write to it still.
        await projection.retire(list);
      }
    }
    await layouts.removed(boardUid, layout.generation);
  }

  private async retire(board: Board, { layout, ageMs }: LayoutRemoval, signal: AbortSignal): Promise<void> {
    const { feedMs = FEED_MS, keepMs = KEEP_MS, lookEveryMs = LOOK_EVERY_MS } = this.options;
    const { boards, layouts, projection } = this;
    const bornMs = nowMs() - ageMs;
    await sleep(feedMs - ageMs, signal);
    signal.throwIfAborted();
    const retireAll = async (): Promise<RankList[]> => {
      const lists = await this.listsOf(board, layout);
      for (const list of lists) {
        signal.throwIfAborted();
        await projection.retire(list);
      }
      return lists;
    };
    // Before the feeding ends: nobody reads a list that stands still.
    await retireAll();
    await layouts.stopFeeding(board.uid, layout.generation);
    await lastWritersOf(boards);
    // Lists that were made meanwhile are among these.
    let left = await retireAll();
    while (left.length > 0) {
      const isOver = nowMs() >= bornMs + feedMs + keepMs;
      const kept: RankList[] = [];
      for (const list of left) {
        signal.throwIfAborted();
        if (!isOver && (await projection.hasOpenCheckpoints(list, nowMs()))) kept.push(list);
        else await projection.drop(list);
      }
      left = kept;
      if (left.length > 0) await sleep(lookEveryMs, signal);
    }
  }

  private failed(error: unknown): void {
    this.log.warn(`A board's lists wait: ${(error as Error).message}`);
    this.options.onFailure?.(error);
  }

  /** The lists of a generation that no other one goes on with. */
  private async listsOf({ uid: boardUid }: Board, layout: Layout): Promise<RankList[]> {
    await this.boards.refresh();
    const board = await this.boards.byUid(boardUid);
    if (!board) return [];
    const others = everyLayout(board.layouts).filter(({ generation }) => generation !== layout.generation);
    const isShared = ({ scope, generation }: RankList): boolean =>
      others.some((other) => fillingOf(other, scope).generation === generation);
    const lists: RankList[] = [];
    for (const { uid } of await this.windowLists.windowsOf(board)) {
      const all = await this.windowLists.listsOf(board, uid, [layout]);
      lists.push(...all.filter((list) => !isShared(list)));
    }
    return lists;
  }
}
