import { actorOf, assertModerate } from '@laddercast/identity';
import { EditionCatalog, FlagDecisions, type Flag } from '@laddercast/ledger';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { DecideFlagCommand } from './integrity-commands.js';

@CommandHandler(DecideFlagCommand)
export class DecideFlagHandler implements ICommandHandler<DecideFlagCommand> {
  constructor(
    private readonly decisions: FlagDecisions,
    private readonly editions: EditionCatalog,
  ) {}

  async execute({ identity, flagId, decision, reason }: DecideFlagCommand): Promise<Flag> {
    assertModerate(identity);
    const flag = await this.decisions.decide(flagId, { decision, reason, actor: actorOf(identity) });
    // Who reads a window that has ended after this answer sees that it is being revised.
    this.editions.forget(null);
    return flag;
  }
}
