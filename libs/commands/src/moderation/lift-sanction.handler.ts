import { actorOf, assertModerate } from '@laddercast/identity';
import { EditionCatalog, Sanctions, type Sanction } from '@laddercast/ledger';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { LiftSanctionCommand } from './moderation-commands.js';
import { SanctionNews } from './sanction-news.js';

@CommandHandler(LiftSanctionCommand)
export class LiftSanctionHandler implements ICommandHandler<LiftSanctionCommand> {
  constructor(
    private readonly sanctions: Sanctions,
    private readonly news: SanctionNews,
    private readonly editions: EditionCatalog,
  ) {}

  async execute({ identity, playerId, reason }: LiftSanctionCommand): Promise<Sanction | null> {
    assertModerate(identity);
    const begun = (): Promise<void> => this.news.tell(playerId);
    const lifted = await this.sanctions.lift(playerId, { actor: actorOf(identity), reason }, { begun });
    // Who reads a window that has ended after this answer sees that it is being revised.
    this.editions.forget(null);
    return lifted;
  }
}
