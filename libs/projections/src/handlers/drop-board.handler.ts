import { everyLayout } from '@laddercast/domain';
import { BoardCatalog, BoardLayouts, BoardRegistry } from '@laddercast/ledger';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { DropBoardCommand } from './commands.js';
import { lastWritersOf } from '../recovery/drain-writers.js';
import { RankProjection } from '../ranks/rank-projection.js';
import { WindowLists } from '../ranks/window-lists.js';

@CommandHandler(DropBoardCommand)
export class DropBoardHandler implements ICommandHandler<DropBoardCommand> {
  constructor(
    private readonly boards: BoardCatalog,
    private readonly registry: BoardRegistry,
    private readonly layouts: BoardLayouts,
    private readonly windowLists: WindowLists,
    private readonly projection: RankProjection,
  ) {}

  async execute({ boardUid }: DropBoardCommand): Promise<void> {
    const board = await this.registry.boardThatIsGone(boardUid);
    if (!board) return;
    await lastWritersOf(this.boards);
    const removals = await this.layouts.removalsOf(boardUid);
    const layouts = [...everyLayout(board.layouts), ...removals];
    // Keys of windows that ended long ago have expired; snapshots expire by themselves.
    for (const window of await this.windowLists.windowsOf(board)) {
      for (const list of await this.windowLists.listsOf(board, window.uid, layouts)) {
        // A slow or paused process may still write what it read before: it must not make the keys again.
        await this.projection.retire(list);
        await this.projection.drop(list);
      }
    }
    await this.layouts.forget(boardUid);
    await this.registry.purgeRows(boardUid);
  }
}
