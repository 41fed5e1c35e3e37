import { GuildRegistry } from '@laddercast/ledger';
import { toTimestamp } from '@laddercast/platform';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { GetGuildMembersQuery, type GuildMembersPage } from '../queries.js';
import { EntryDetails } from '../rows/entry-details.js';
import { cutPage } from '../shared/cut-page.js';

@QueryHandler(GetGuildMembersQuery)
export class GetGuildMembersHandler implements IQueryHandler<GetGuildMembersQuery> {
  constructor(
    private readonly guilds: GuildRegistry,
    private readonly details: EntryDetails,
  ) {}

  async execute({ guildId, limit, after, reader, withPlayers }: GetGuildMembersQuery): Promise<GuildMembersPage> {
    const found = await this.guilds.members(guildId, { limit: limit + 1, after, reader });
    const { page, next } = cutPage(found, limit, ({ playerId }) => playerId);
    const faces = withPlayers ? await this.details.facesOf(page.map(({ playerId }) => playerId)) : null;
    return {
      guildId,
      members: page.map(({ playerId, displayName, joinedAtMs }, at) => ({
        playerId,
        displayName,
        ...(faces && { player: faces[at]! }),
        joinedAt: toTimestamp(joinedAtMs),
      })),
      next,
    };
  }
}
