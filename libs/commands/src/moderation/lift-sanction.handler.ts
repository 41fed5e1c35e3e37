import { actorOf, assertModerate } from '@laddercast/identity';
import { Sanctions, type Sanction } from '@laddercast/ledger';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { LiftSanctionCommand } from './moderation-commands.js';

@CommandHandler(LiftSanctionCommand)
export class LiftSanctionHandler implements ICommandHandler<LiftSanctionCommand> {
  constructor(private readonly sanctions: Sanctions) {}

  execute({ identity, playerId, reason }: LiftSanctionCommand): Promise<Sanction | null> {
    assertModerate(identity);
    return this.sanctions.lift(playerId, { actor: actorOf(identity), reason });
  }
}
