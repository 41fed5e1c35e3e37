import { BoardCatalog, BoardRegistry } from '@laddercast/ledger';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { DeleteBoardCommand } from '../commands.js';
import { actorOf, assertAdmin } from '@laddercast/identity';

@CommandHandler(DeleteBoardCommand)
export class DeleteBoardHandler implements ICommandHandler<DeleteBoardCommand> {
  constructor(
    private readonly registry: BoardRegistry,
    private readonly boards: BoardCatalog,
  ) {}

  async execute({ identity, boardId, ifMatch }: DeleteBoardCommand): Promise<void> {
    assertAdmin(identity);
    await this.registry.delete(boardId, ifMatch, actorOf(identity));
    await this.boards.refresh().catch(() => undefined);
  }
}
