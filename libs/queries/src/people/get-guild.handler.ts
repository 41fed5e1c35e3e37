import { GuildRegistry, type Guild } from '@laddercast/ledger';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { GetGuildQuery } from '../queries.js';

@QueryHandler(GetGuildQuery)
export class GetGuildHandler implements IQueryHandler<GetGuildQuery> {
  constructor(private readonly guilds: GuildRegistry) {}

  execute({ guildId, readerId }: GetGuildQuery): Promise<Guild> {
    return this.guilds.find(guildId, readerId);
  }
}
