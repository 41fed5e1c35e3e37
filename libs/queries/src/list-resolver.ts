import {
  kindOfWindowId,
  LadderError,
  parseWindowId,
  windowAt,
  type Board,
  type StoredWindow,
  type WindowBounds,
  type WindowKind,
} from '@laddercast/domain';
import { keptAfterEndMs, type BoardCatalog, type WindowCatalog } from '@laddercast/ledger';
import { nowMs } from '@laddercast/platform';
import type { ListRef, RankList } from '@laddercast/projections';

/** A list that can be read: its board, its window and where the projection keeps it. */
export interface ResolvedList {
  board: Board;
  window: StoredWindow;
  list: RankList;
}

/** Finds the list that a board id and a window name mean. */
export class ListResolver {
  constructor(
    private readonly boards: BoardCatalog,
    private readonly windows: WindowCatalog,
  ) {}

  /** @throws BOARD_NOT_FOUND */
  board(boardId: string): Board {
    const board = this.boards.byId(boardId);
    if (!board) throw new LadderError('BOARD_NOT_FOUND', `There is no board "${boardId}".`);
    return board;
  }

  /**
   * @param windowName `daily` (the running one), `daily:2026-11-20` (that one), or undefined: `alltime`, else the board's first
   * @throws BOARD_NOT_FOUND, WINDOW_NOT_FOUND, NOT_SUPPORTED
   */
  async resolve(boardId: string, windowName: string | undefined): Promise<ResolvedList> {
    const board = this.board(boardId);
    const bounds = this.boundsOf(board, windowName);
    const running = isRunning(bounds);
    const window = running
      ? await this.windows.ensure(board.uid, bounds)
      : await this.windows.find(board.uid, bounds.id);
    if (!window) throw windowNotFound(board, bounds.id);
    if (window.endsAtMs !== null && nowMs() > window.endsAtMs + keptAfterEndMs(board.definition)) {
      throw new LadderError(
        'NOT_SUPPORTED',
        `Reading "${window.id}" after its time in the projection is not built yet.`,
        {
          option: 'window',
        },
      );
    }
    return { board, window, list: listOf(board, window.uid) };
  }

  /** The list behind a reference, undefined when its board or window is gone. */
  async byRef(ref: ListRef): Promise<ResolvedList | undefined> {
    const board = await this.boards.byUid(ref.boardUid);
    const window = board && (await this.windows.byUid(ref.windowUid));
    return board && window ? { board, window, list: listOf(board, window.uid) } : undefined;
  }

  private boundsOf(board: Board, windowName: string | undefined): WindowBounds {
    const kinds = board.definition.windows;
    if (windowName === undefined) return windowAt(kinds.includes('alltime') ? 'alltime' : kinds[0]!, nowMs());
    if (/^(season|rolling|cron):/.test(windowName)) {
      throw new LadderError('NOT_SUPPORTED', `Windows like "${windowName}" are not built yet.`, { option: 'window' });
    }
    if (kinds.includes(windowName as WindowKind)) return windowAt(windowName as WindowKind, nowMs());
    const bounds = parseWindowId(windowName);
    const kind = kindOfWindowId(windowName);
    if (!bounds || !kind || !kinds.includes(kind)) throw windowNotFound(board, windowName);
    return bounds;
  }
}

const isRunning = (window: WindowBounds): boolean =>
  (window.startsAtMs ?? 0) <= nowMs() && nowMs() < (window.endsAtMs ?? Infinity);

export const listOf = (board: Board, windowUid: number): RankList => ({
  boardUid: board.uid,
  windowUid,
  ordering: board.definition,
  shards: board.definition.sharding.count,
});

const windowNotFound = (board: Board, name: string): LadderError =>
  new LadderError(
    'WINDOW_NOT_FOUND',
    `Board "${board.id}" has no window "${name}"; it has ${board.definition.windows.join(', ')}.`,
  );
