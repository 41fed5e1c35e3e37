import { GuildRegistry } from '@laddercast/ledger';
import { toTimestamp } from '@laddercast/platform';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { JoinGuildCommand, type Membership } from '../commands.js';
import { assertMayWritePlayers } from '@laddercast/identity';

@CommandHandler(JoinGuildCommand)
export class JoinGuildHandler implements ICommandHandler<JoinGuildCommand> {
  constructor(private readonly guilds: GuildRegistry) {}

  async execute({ identity, guildId, playerId }: JoinGuildCommand): Promise<Membership> {
    assertMayWritePlayers(identity);
    const { joinedAtMs, leftGuildId } = await this.guilds.join(guildId, playerId);
    return { guildId, playerId, joinedAt: toTimestamp(joinedAtMs), leftGuildId };
  }
}
