import { GuildRegistry } from '@laddercast/ledger';
import { toTimestamp } from '@laddercast/platform';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { GetGuildMembersQuery, type GuildMembersPage } from '../queries.js';
import { cutPage } from '../shared/cut-page.js';

@QueryHandler(GetGuildMembersQuery)
export class GetGuildMembersHandler implements IQueryHandler<GetGuildMembersQuery> {
  constructor(private readonly guilds: GuildRegistry) {}

  async execute({ guildId, limit, after, reader }: GetGuildMembersQuery): Promise<GuildMembersPage> {
    const found = await this.guilds.members(guildId, { limit: limit + 1, after, reader });
    const { page, next } = cutPage(found, limit, ({ playerId }) => playerId);
    return {
      guildId,
      members: page.map(({ playerId, displayName, joinedAtMs }) => ({
        playerId,
        displayName,
        joinedAt: toTimestamp(joinedAtMs),
      })),
      next,
    };
  }
}
