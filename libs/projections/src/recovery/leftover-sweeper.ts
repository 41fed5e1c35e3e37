import { everyLayout, fillingOf, type Layout } from '@laddercast/domain';
import { BoardCatalog, BoardLayouts } from '@laddercast/ledger';
import { Inject, Injectable } from '@nestjs/common';
import { ProjectionStore, type ShardKey } from './projection-store.js';

/**
 * Removes what nobody else would: keys of boards that are gone, and of generations that were removed already, which an older
 * dump of the store has brought back.
 */
@Injectable()
export class LeftoverSweeper {
  constructor(
    @Inject(BoardCatalog) private readonly boards: Pick<BoardCatalog, 'refresh' | 'byUid'>,
    @Inject(BoardLayouts) private readonly layouts: Pick<BoardLayouts, 'removalsOf'>,
    private readonly store: ProjectionStore,
  ) {}

  /**
   * Looks at every key once.
   * @returns how many were left over
   */
  async sweep(signal: AbortSignal): Promise<number> {
    let removed = 0;
    for await (const keys of this.store.shardKeys()) {
      signal.throwIfAborted();
      if (keys.length === 0) continue;
      // After the keys were read: a generation is committed before anything is written to it.
      await this.boards.refresh();
      const wanted = new Map<string, boolean>();
      const left: string[] = [];
      for (const key of keys) if (!(await this.isWanted(key, wanted))) left.push(key.key);
      removed += await this.store.remove(left);
    }
    return removed;
  }

  private async isWanted({ boardUid, scope, generation }: ShardKey, known: Map<string, boolean>): Promise<boolean> {
    const name = `${boardUid}.${scope}.${generation}`;
    let isWanted = known.get(name);
    if (isWanted === undefined) {
      const board = await this.boards.byUid(boardUid);
      const isIn = (layouts: readonly Layout[]): boolean =>
        layouts.some((layout) => fillingOf(layout, scope).generation === generation);
      isWanted =
        board !== undefined && (isIn(everyLayout(board.layouts)) || isIn(await this.layouts.removalsOf(boardUid)));
      known.set(name, isWanted);
    }
    return isWanted;
  }
}
