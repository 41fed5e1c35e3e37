import type { Board } from '@laddercast/domain';
import { BoardCatalog, keptAfterEndMs } from '@laddercast/ledger';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { LRUCache } from 'lru-cache';
import { KeepWindowsCommand } from './commands.js';
import { lastWritersOf } from '../recovery/drain-writers.js';
import { RankProjection } from '../ranks/rank-projection.js';
import { WindowLists, type KeptWindow } from '../ranks/window-lists.js';

/** What this process knows to hold for the keys of a board's windows. */
interface KnownBoard {
  /** The newest revision that was looked at; 0: none. */
  revision: number;
  /** How long ended windows were kept then, ms; NaN: nobody looked. */
  keptAfterEndMs: number;
  keptUntilMs: Map<number, number>;
}

/** The most boards that a process remembers; one that it forgot is kept once more than needed. */
const BOARDS_KNOWN_MAX = 5000;

/**
 * Boards are announced at every closing of a window, and their ends seldom move: what was kept already is not looked
 * for again.
 */
@CommandHandler(KeepWindowsCommand)
export class KeepWindowsHandler implements ICommandHandler<KeepWindowsCommand> {
  private readonly known = new LRUCache<number, KnownBoard>({ max: BOARDS_KNOWN_MAX });
  private last: Promise<void> = Promise.resolve();

  constructor(
    private readonly boards: BoardCatalog,
    private readonly windowLists: WindowLists,
    private readonly projection: RankProjection,
  ) {}

  /** One at a time: each lane brings the same change, and the first has done it for all. */
  execute({ boardUids }: KeepWindowsCommand): Promise<void> {
    const work = this.last.then(() => this.keep(boardUids));
    this.last = work.catch(() => undefined);
    return work;
  }

  private async keep(boardUids: readonly number[]): Promise<void> {
    await this.boards.refresh();
    const due: { board: Board; windows: KeptWindow[] }[] = [];
    for (const boardUid of new Set(boardUids)) {
      const board = await this.boards.byUid(boardUid);
      if (!board || this.knownOf(board).revision === board.revision) continue;
      const windows = await this.windowsMoved(board);
      if (windows.length === 0) this.settle(board);
      else due.push({ board, windows });
    }
    if (due.length === 0) return;
    // Lists that are made meanwhile by the old bounds are among those that are kept.
    await lastWritersOf(this.boards);
    for (const { board, windows } of due) {
      for (const window of windows) await this.keepWindow(board, window.uid, window.keepUntilMs!);
      this.settle(board);
    }
  }

  private async windowsMoved(board: Board): Promise<KeptWindow[]> {
    const { keptUntilMs, keptAfterEndMs: before } = this.knownOf(board);
    const ending = (await this.windowLists.windowsOf(board)).filter(({ keepUntilMs }) => keepUntilMs !== null);
    const present = new Set(ending.map(({ uid }) => uid));
    for (const uid of keptUntilMs.keys()) if (!present.has(uid)) keptUntilMs.delete(uid);
    const moved: KeptWindow[] = [];
    for (const window of ending) {
      const kept = keptUntilMs.get(window.uid);
      // Of windows that came since the last look only the ends of seasons can have moved after they were made.
      const isSettled = window.kind !== 'season' && before === keptAfterEndMs(board.definition);
      if (kept === undefined ? !isSettled : kept < window.keepUntilMs!) moved.push(window);
      else keptUntilMs.set(window.uid, window.keepUntilMs!);
    }
    return moved;
  }

  private async keepWindow(board: Board, windowUid: number, keepUntilMs: number): Promise<void> {
    for (const list of await this.windowLists.listsOf(board, windowUid)) await this.projection.keep(list, keepUntilMs);
    this.knownOf(board).keptUntilMs.set(windowUid, keepUntilMs);
  }

  private settle(board: Board): void {
    const known = this.knownOf(board);
    known.revision = board.revision;
    known.keptAfterEndMs = keptAfterEndMs(board.definition);
  }

  private knownOf({ uid }: Board): KnownBoard {
    const known = this.known.get(uid);
    if (known !== undefined) return known;
    const unknown = { revision: 0, keptAfterEndMs: NaN, keptUntilMs: new Map<number, number>() };
    this.known.set(uid, unknown);
    return unknown;
  }
}
