import { actorOf, assertAdmin } from '@laddercast/identity';
import { BoardCatalog, PoolRegistry, type Pool } from '@laddercast/ledger';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { PutPoolCommand } from './pool-commands.js';

@CommandHandler(PutPoolCommand)
export class PutPoolHandler implements ICommandHandler<PutPoolCommand> {
  constructor(
    private readonly registry: PoolRegistry,
    private readonly boards: BoardCatalog,
  ) {}

  async execute({
    identity,
    poolId,
    definition,
    ifMatch,
    onlyCreate,
  }: PutPoolCommand): Promise<{ pool: Pool; created: boolean }> {
    assertAdmin(identity);
    const result = await this.registry.put(poolId, definition, { ifMatch, onlyCreate }, actorOf(identity));
    await this.boards.refresh().catch(() => undefined);
    return result;
  }
}
