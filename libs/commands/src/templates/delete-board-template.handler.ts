import { actorOf, assertAdmin } from '@laddercast/identity';
import { BoardCatalog, BoardTemplates } from '@laddercast/ledger';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { DeleteBoardTemplateCommand } from './template-commands.js';

@CommandHandler(DeleteBoardTemplateCommand)
export class DeleteBoardTemplateHandler implements ICommandHandler<DeleteBoardTemplateCommand> {
  constructor(
    private readonly templates: BoardTemplates,
    private readonly boards: BoardCatalog,
  ) {}

  async execute({ identity, templateId, ifMatch, withBoards }: DeleteBoardTemplateCommand): Promise<void> {
    assertAdmin(identity);
    try {
      await this.templates.delete(templateId, ifMatch, actorOf(identity), withBoards);
    } finally {
      await this.boards.refresh().catch(() => undefined);
    }
  }
}
