import { actorOf, assertModerate } from '@laddercast/identity';
import { Sanctions, type Sanction } from '@laddercast/ledger';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { LiftSanctionCommand } from './moderation-commands.js';
import { SanctionNews } from './sanction-news.js';

@CommandHandler(LiftSanctionCommand)
export class LiftSanctionHandler implements ICommandHandler<LiftSanctionCommand> {
  constructor(
    private readonly sanctions: Sanctions,
    private readonly news: SanctionNews,
  ) {}

  execute({ identity, playerId, reason }: LiftSanctionCommand): Promise<Sanction | null> {
    assertModerate(identity);
    const begun = (): Promise<void> => this.news.tell(playerId);
    return this.sanctions.lift(playerId, { actor: actorOf(identity), reason }, { begun });
  }
}
