import { type Board } from '@laddercast/domain';
import { BoardCatalog, BoardRegistry } from '@laddercast/ledger';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { PutBoardCommand } from '../commands.js';
import { actorOf, assertAdmin } from '@laddercast/identity';

@CommandHandler(PutBoardCommand)
export class PutBoardHandler implements ICommandHandler<PutBoardCommand> {
  constructor(
    private readonly registry: BoardRegistry,
    private readonly boards: BoardCatalog,
  ) {}

  async execute({
    identity,
    boardId,
    definition,
    ifMatch,
    onlyCreate,
  }: PutBoardCommand): Promise<{ board: Board; created: boolean }> {
    assertAdmin(identity);
    const result = await this.registry.put(boardId, definition, { ifMatch, onlyCreate }, actorOf(identity));
    await this.boards.refresh().catch(() => undefined);
    return result;
  }
}
