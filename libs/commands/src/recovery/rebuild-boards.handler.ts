import { BoardRebuilds } from '@laddercast/ledger';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { RebuildBoardsCommand } from '../commands.js';
import { actorOf, assertAdmin } from '@laddercast/identity';

@CommandHandler(RebuildBoardsCommand)
export class RebuildBoardsHandler implements ICommandHandler<RebuildBoardsCommand> {
  constructor(private readonly rebuilds: BoardRebuilds) {}

  async execute({ identity }: RebuildBoardsCommand): Promise<void> {
    assertAdmin(identity);
    await this.rebuilds.request(actorOf(identity));
  }
}
