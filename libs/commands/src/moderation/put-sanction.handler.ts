import { actorOf, assertModerate } from '@laddercast/identity';
import { Sanctions, type Sanction } from '@laddercast/ledger';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { PutSanctionCommand } from './moderation-commands.js';
import { SanctionNews } from './sanction-news.js';

@CommandHandler(PutSanctionCommand)
export class PutSanctionHandler implements ICommandHandler<PutSanctionCommand> {
  constructor(
    private readonly sanctions: Sanctions,
    private readonly news: SanctionNews,
  ) {}

  execute({ identity, playerId, sanction }: PutSanctionCommand): Promise<Sanction> {
    assertModerate(identity);
    return this.sanctions.put(playerId, sanction, actorOf(identity), () => this.news.tell(playerId));
  }
}
