import { GuildRegistry } from '@laddercast/ledger';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { DeleteGuildCommand } from '../commands.js';
import { assertMayWritePlayers } from '@laddercast/identity';

@CommandHandler(DeleteGuildCommand)
export class DeleteGuildHandler implements ICommandHandler<DeleteGuildCommand> {
  constructor(private readonly guilds: GuildRegistry) {}

  async execute({ identity, guildId }: DeleteGuildCommand): Promise<void> {
    assertMayWritePlayers(identity);
    await this.guilds.delete(guildId);
  }
}
