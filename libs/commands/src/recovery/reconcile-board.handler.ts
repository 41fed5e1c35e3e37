import { Reconciliations, type Reconciliation } from '@laddercast/ledger';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { ReconcileBoardCommand } from '../commands.js';
import { actorOf, assertAdmin } from '@laddercast/identity';

@CommandHandler(ReconcileBoardCommand)
export class ReconcileBoardHandler implements ICommandHandler<ReconcileBoardCommand> {
  constructor(private readonly reconciliations: Reconciliations) {}

  async execute({ identity, boardId }: ReconcileBoardCommand): Promise<Reconciliation> {
    assertAdmin(identity);
    return this.reconciliations.request(boardId, actorOf(identity));
  }
}
