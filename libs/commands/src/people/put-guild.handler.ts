import { GuildRegistry, type Guild } from '@laddercast/ledger';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { PutGuildCommand } from '../commands.js';
import { assertMayWritePlayers } from '@laddercast/identity';

@CommandHandler(PutGuildCommand)
export class PutGuildHandler implements ICommandHandler<PutGuildCommand> {
  constructor(private readonly guilds: GuildRegistry) {}

  async execute({ identity, guildId, displayName }: PutGuildCommand): Promise<{ guild: Guild; created: boolean }> {
    assertMayWritePlayers(identity);
    return this.guilds.put(guildId, displayName);
  }
}
