import { indexBucketsFor, shardCountOf, GLOBAL_SCOPE, type Board } from '@laddercast/domain';
import type { BoardCatalog, BoardLayouts, SqlRunner } from '@laddercast/ledger';
import { monotonicMs } from '@laddercast/platform';
import type { ProjectionStore } from '../recovery/projection-store.js';
import { rankListOf, type RankProjection } from '../ranks/rank-projection.js';
import { WindowLists } from '../ranks/window-lists.js';

export interface LayoutGrowthParts {
  database: SqlRunner;
  boards: BoardCatalog;
  layouts: BoardLayouts;
  projection: Pick<RankProjection, 'total'>;
  store: Pick<ProjectionStore, 'memoryUse'>;
}

export interface LayoutGrowthOptions {
  lookEveryMs?: number;
  /** Told that a board waits for memory, and how much of it is used (0 to 1); once until there was room again. */
  onNoRoom?: (board: string, memoryUse: number) => void;
}

const LOOK_EVERY_MS = 30_000;
const BOARDS_AT_ONCE = 50;
/** Of those that end, the newest; the others are as many as the board is defined with. */
const ENDING_WINDOWS_AT_ONCE = 100;
/** Of the memory. Growth holds a board twice, begins by itself, and is never given up: where more is used it could fill the store. */
const MEMORY_USE_MAX = 0.45;

/** Gives boards that have outgrown the index of their lists another generation, with more buckets. */
export class LayoutGrowth {
  private readonly windowLists: WindowLists;
  private lookedAtMs = -Infinity;
  private nextUid = 0;
  private hadRoom = true;

  constructor(
    private readonly parts: LayoutGrowthParts,
    private readonly options: LayoutGrowthOptions = {},
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
    const all = await this.windowLists.windowsOf(board);
    const windows = [
      ...all.filter(({ keepUntilMs }) => keepUntilMs === null),
      ...all.filter(({ keepUntilMs }) => keepUntilMs !== null).slice(-ENDING_WINDOWS_AT_ONCE),
    ];
    const lists = windows.map(({ uid }) => rankListOf(board, uid, GLOBAL_SCOPE));
    const totals = await Promise.all(lists.map(async (list) => (await this.parts.projection.total(list)).total));
    const wanted = indexBucketsFor(Math.max(0, ...totals) / shardCountOf(serving.sharding));
    if (wanted <= serving.indexBuckets || !(await this.hasRoom(board))) return;
    await this.parts.layouts.grow(board.uid, wanted);
  }

  private async hasRoom({ id }: Board): Promise<boolean> {
    const use = await this.parts.store.memoryUse();
    const hasRoom = use <= MEMORY_USE_MAX;
    if (!hasRoom && this.hadRoom) this.options.onNoRoom?.(id, use);
    this.hadRoom = hasRoom;
    return hasRoom;
  }
}
