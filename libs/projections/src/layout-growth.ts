import { indexBucketsFor, shardCountOf, GLOBAL_SCOPE, type Board } from '@laddercast/domain';
import type { BoardCatalog, BoardLayouts, SqlRunner } from '@laddercast/ledger';
import { monotonicMs } from '@laddercast/platform';
import { rankListOf, type RankProjection } from './rank-projection.js';
import { WindowLists } from './window-lists.js';

export interface LayoutGrowthParts {
  database: SqlRunner;
  boards: BoardCatalog;
  layouts: BoardLayouts;
  projection: RankProjection;
}

const LOOK_EVERY_MS = 30_000;
const BOARDS_AT_ONCE = 50;
const WINDOWS_AT_ONCE = 100;

/** Gives boards that have outgrown the index of their lists another generation, with more buckets. */
export class LayoutGrowth {
  private readonly windowLists: WindowLists;
  private lookedAtMs = -Infinity;
  private nextUid = 0;

  constructor(
    private readonly parts: LayoutGrowthParts,
    private readonly options: { lookEveryMs?: number } = {},
  ) {
    this.windowLists = new WindowLists(parts.database);
  }

  /**
   * Looks at some boards when it is time to, the next ones at the next look.
   * @throws PROJECTION_UNAVAILABLE, LEDGER_UNAVAILABLE
   */
  async look(signal: AbortSignal): Promise<void> {
    if (monotonicMs() - this.lookedAtMs < (this.options.lookEveryMs ?? LOOK_EVERY_MS)) return;
    this.lookedAtMs = monotonicMs();
    const boards = this.parts.boards.all().sort((a, b) => a.uid - b.uid);
    const next = boards.filter(({ uid }) => uid >= this.nextUid).slice(0, BOARDS_AT_ONCE);
    this.nextUid = next.length === BOARDS_AT_ONCE ? next.at(-1)!.uid + 1 : 0;
    for (const board of next) {
      signal.throwIfAborted();
      await this.lookAt(board);
    }
  }

  private async lookAt(board: Board): Promise<void> {
    const { serving, opening, retiring } = board.layouts;
    if (opening !== null || retiring !== null) return;
    const windows = (await this.windowLists.windowsOf(board)).slice(-WINDOWS_AT_ONCE);
    const lists = windows.map(({ uid }) => rankListOf(board, uid, GLOBAL_SCOPE));
    const totals = await Promise.all(lists.map(async (list) => (await this.parts.projection.total(list)).total));
    const wanted = indexBucketsFor(Math.max(0, ...totals) / shardCountOf(serving.sharding));
    if (wanted > serving.indexBuckets) await this.parts.layouts.grow(board.uid, wanted);
  }
}
