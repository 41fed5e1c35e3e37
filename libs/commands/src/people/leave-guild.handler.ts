import { GuildRegistry } from '@laddercast/ledger';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { LeaveGuildCommand } from '../commands.js';
import { assertMayLeaveGuild } from '@laddercast/identity';

@CommandHandler(LeaveGuildCommand)
export class LeaveGuildHandler implements ICommandHandler<LeaveGuildCommand> {
  constructor(private readonly guilds: GuildRegistry) {}

  async execute({ identity, guildId, playerId }: LeaveGuildCommand): Promise<void> {
    assertMayLeaveGuild(identity, playerId);
    await this.guilds.leave(guildId, playerId);
  }
}
