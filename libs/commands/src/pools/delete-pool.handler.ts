import { actorOf, assertAdmin } from '@laddercast/identity';
import { PoolRegistry } from '@laddercast/ledger';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { DeletePoolCommand } from './pool-commands.js';

@CommandHandler(DeletePoolCommand)
export class DeletePoolHandler implements ICommandHandler<DeletePoolCommand> {
  constructor(private readonly registry: PoolRegistry) {}

  execute({ identity, poolId, ifMatch }: DeletePoolCommand): Promise<void> {
    assertAdmin(identity);
    return this.registry.delete(poolId, ifMatch, actorOf(identity));
  }
}
