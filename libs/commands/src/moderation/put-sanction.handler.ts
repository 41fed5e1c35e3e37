import { actorOf, assertModerate } from '@laddercast/identity';
import { EditionCatalog, Sanctions, type Sanction } from '@laddercast/ledger';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { PutSanctionCommand } from './moderation-commands.js';
import { SanctionNews } from './sanction-news.js';

@CommandHandler(PutSanctionCommand)
export class PutSanctionHandler implements ICommandHandler<PutSanctionCommand> {
  constructor(
    private readonly sanctions: Sanctions,
    private readonly news: SanctionNews,
    private readonly editions: EditionCatalog,
  ) {}

  async execute({ identity, playerId, sanction }: PutSanctionCommand): Promise<Sanction> {
    assertModerate(identity);
    const put = await this.sanctions.put(playerId, sanction, actorOf(identity), () => this.news.tell(playerId));
    // Who reads a window that has ended after this answer sees that it is being revised.
    this.editions.forget(null);
    return put;
  }
}
