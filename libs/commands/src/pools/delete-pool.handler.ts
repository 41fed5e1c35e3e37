import { actorOf, assertAdmin } from '@laddercast/identity';
import { BoardCatalog, PoolRegistry } from '@laddercast/ledger';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { DeletePoolCommand } from './pool-commands.js';

@CommandHandler(DeletePoolCommand)
export class DeletePoolHandler implements ICommandHandler<DeletePoolCommand> {
  constructor(
    private readonly registry: PoolRegistry,
    private readonly boards: BoardCatalog,
  ) {}

  async execute({ identity, poolId, ifMatch }: DeletePoolCommand): Promise<void> {
    assertAdmin(identity);
    await this.registry.delete(poolId, ifMatch, actorOf(identity));
    await this.boards.refresh().catch(() => undefined);
  }
}
