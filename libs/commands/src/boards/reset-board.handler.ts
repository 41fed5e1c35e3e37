import { type Board } from '@laddercast/domain';
import { BoardCatalog, BoardRegistry } from '@laddercast/ledger';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { ResetBoardCommand } from '../commands.js';
import { actorOf, assertAdmin } from '@laddercast/identity';

@CommandHandler(ResetBoardCommand)
export class ResetBoardHandler implements ICommandHandler<ResetBoardCommand> {
  constructor(
    private readonly registry: BoardRegistry,
    private readonly boards: BoardCatalog,
  ) {}

  async execute({ identity, boardId }: ResetBoardCommand): Promise<Board> {
    assertAdmin(identity);
    const board = await this.registry.reset(boardId, actorOf(identity));
    await this.boards.refresh().catch(() => undefined);
    return board;
  }
}
