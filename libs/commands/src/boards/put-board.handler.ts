import { type Board } from '@laddercast/domain';
import { Extensions } from '@laddercast/extension';
import { BoardCatalog, BoardRegistry } from '@laddercast/ledger';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { PutBoardCommand } from '../commands.js';
import { actorOf, assertAdmin } from '@laddercast/identity';
import { assertRulesKnown } from './known-rules.js';

@CommandHandler(PutBoardCommand)
export class PutBoardHandler implements ICommandHandler<PutBoardCommand> {
  constructor(
    private readonly registry: BoardRegistry,
    private readonly boards: BoardCatalog,
    private readonly extensions: Extensions,
  ) {}

  async execute({
    identity,
    boardId,
    definition,
    ifMatch,
    onlyCreate,
  }: PutBoardCommand): Promise<{ board: Board; created: boolean }> {
    assertAdmin(identity);
    assertRulesKnown(this.extensions, definition);
    const result = await this.registry.put(boardId, definition, { ifMatch, onlyCreate }, actorOf(identity));
    await this.boards.refresh().catch(() => undefined);
    return result;
  }
}
