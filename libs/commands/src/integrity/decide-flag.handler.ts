import { actorOf, assertModerate } from '@laddercast/identity';
import { FlagDecisions, type Flag } from '@laddercast/ledger';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { DecideFlagCommand } from './integrity-commands.js';

@CommandHandler(DecideFlagCommand)
export class DecideFlagHandler implements ICommandHandler<DecideFlagCommand> {
  constructor(private readonly decisions: FlagDecisions) {}

  execute({ identity, flagId, decision, reason }: DecideFlagCommand): Promise<Flag> {
    assertModerate(identity);
    return this.decisions.decide(flagId, { decision, reason, actor: actorOf(identity) });
  }
}
