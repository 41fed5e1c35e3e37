import { indexBucketsFor, shardCountOf, GLOBAL_SCOPE, type Board } from '@laddercast/domain';
import { BoardCatalog, BoardLayouts } from '@laddercast/ledger';
import { monotonicMs } from '@laddercast/platform';
import { Inject, Injectable, Logger, Optional } from '@nestjs/common';
import { ProjectionStore } from '../recovery/projection-store.js';
import { rankListOf, RankProjection } from '../ranks/rank-projection.js';
import { WindowLists } from '../ranks/window-lists.js';

const LOOK_EVERY_MS = 30_000;
const BOARDS_AT_ONCE = 50;
/** Of those that end, the newest; the others are as many as the board is defined with. */
const ENDING_WINDOWS_AT_ONCE = 100;
/** Of the memory. Growth holds a board twice, begins by itself, and is never given up: where more is used it could fill the store. */
const MEMORY_USE_MAX = 0.45;

/** Gives boards that have outgrown the index of their lists another generation, with more buckets. */
@Injectable()
export class LayoutGrowth {
  private readonly log = new Logger('layouts');
  private lookedAtMs = -Infinity;
  private nextUid = 0;
  private hadRoom = true;

  constructor(
    private readonly boards: BoardCatalog,
    private readonly layouts: BoardLayouts,
    @Inject(RankProjection) private readonly projection: Pick<RankProjection, 'total'>,
    @Inject(ProjectionStore) private readonly store: Pick<ProjectionStore, 'memoryUse'>,
    private readonly windowLists: WindowLists,
    @Optional() private readonly lookEveryMs = LOOK_EVERY_MS,
  ) {}

  /**
   * Looks at some boards when it is time to, the next ones at the next look.
   * @throws PROJECTION_UNAVAILABLE, LEDGER_UNAVAILABLE
   */
  async look(signal: AbortSignal): Promise<void> {
    if (monotonicMs() - this.lookedAtMs < this.lookEveryMs) return;
    this.lookedAtMs = monotonicMs();
    const boards = this.boards.all().sort((a, b) => a.uid - b.uid);
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
    const totals = await Promise.all(lists.map(async (list) => (await this.projection.total(list)).total));
    const wanted = indexBucketsFor(Math.max(0, ...totals) / shardCountOf(serving.sharding));
    if (wanted <= serving.indexBuckets || !(await this.hasRoom(board))) return;
    await this.layouts.grow(board.uid, wanted);
  }

  private async hasRoom({ id }: Board): Promise<boolean> {
    const use = await this.store.memoryUse();
    const hasRoom = use <= MEMORY_USE_MAX;
    if (!hasRoom && this.hadRoom) {
      const msg = 'A board waits for memory of Redis to have its lists made anew, larger.';
      this.log.warn({ msg, board: id, memoryUse: use });
    }
    this.hadRoom = hasRoom;
    return hasRoom;
  }
}
