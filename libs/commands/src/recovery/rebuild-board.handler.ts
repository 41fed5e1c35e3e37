import { BoardCatalog, BoardLayouts } from '@laddercast/ledger';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { RebuildBoardCommand } from '../commands.js';
import { actorOf, assertAdmin } from '@laddercast/identity';

@CommandHandler(RebuildBoardCommand)
export class RebuildBoardHandler implements ICommandHandler<RebuildBoardCommand> {
  constructor(
    private readonly layouts: BoardLayouts,
    private readonly boards: BoardCatalog,
  ) {}

  async execute({ identity, boardId }: RebuildBoardCommand): Promise<{ generation: number }> {
    assertAdmin(identity);
    const generation = await this.layouts.rebuild(boardId, actorOf(identity));
    await this.boards.refresh().catch(() => undefined);
    return { generation };
  }
}
