import { GuildRegistry, GuildTotals, type Guild } from '@laddercast/ledger';
import { toTimestamp } from '@laddercast/platform';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import {
  DeleteGuildCommand,
  JoinGuildCommand,
  LeaveGuildCommand,
  PutGuildCommand,
  RecomputeGuildTotalsCommand,
  type Membership,
} from '../commands.js';
import { assertMayLeaveGuild, assertMayWritePlayers } from '@laddercast/identity';

@CommandHandler(PutGuildCommand)
export class PutGuildHandler implements ICommandHandler<PutGuildCommand> {
  constructor(private readonly guilds: GuildRegistry) {}

  async execute({ identity, guildId, displayName }: PutGuildCommand): Promise<{ guild: Guild; created: boolean }> {
    assertMayWritePlayers(identity);
    return this.guilds.put(guildId, displayName);
  }
}

@CommandHandler(DeleteGuildCommand)
export class DeleteGuildHandler implements ICommandHandler<DeleteGuildCommand> {
  constructor(private readonly guilds: GuildRegistry) {}

  async execute({ identity, guildId }: DeleteGuildCommand): Promise<void> {
    assertMayWritePlayers(identity);
    await this.guilds.delete(guildId);
  }
}

@CommandHandler(JoinGuildCommand)
export class JoinGuildHandler implements ICommandHandler<JoinGuildCommand> {
  constructor(private readonly guilds: GuildRegistry) {}

  async execute({ identity, guildId, playerId }: JoinGuildCommand): Promise<Membership> {
    assertMayWritePlayers(identity);
    const { joinedAtMs, leftGuildId } = await this.guilds.join(guildId, playerId);
    return { guildId, playerId, joinedAt: toTimestamp(joinedAtMs), leftGuildId };
  }
}

@CommandHandler(LeaveGuildCommand)
export class LeaveGuildHandler implements ICommandHandler<LeaveGuildCommand> {
  constructor(private readonly guilds: GuildRegistry) {}

  async execute({ identity, guildId, playerId }: LeaveGuildCommand): Promise<void> {
    assertMayLeaveGuild(identity, playerId);
    await this.guilds.leave(guildId, playerId);
  }
}

@CommandHandler(RecomputeGuildTotalsCommand)
export class RecomputeGuildTotalsHandler implements ICommandHandler<RecomputeGuildTotalsCommand> {
  constructor(private readonly totals: GuildTotals) {}

  async execute({ targets }: RecomputeGuildTotalsCommand): Promise<void> {
    await this.totals.recompute(targets);
  }
}
