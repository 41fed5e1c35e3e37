import { LadderError } from '@laddercast/domain';
import { PlayerRegistry, type StoredPlayer } from '@laddercast/ledger';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { GetPlayerProfileQuery } from '../queries.js';

@QueryHandler(GetPlayerProfileQuery)
export class GetPlayerProfileHandler implements IQueryHandler<GetPlayerProfileQuery> {
  constructor(private readonly players: PlayerRegistry) {}

  async execute({ playerId, seesUnlisted, seesSanctioned }: GetPlayerProfileQuery): Promise<StoredPlayer> {
    const player = await this.players.find(playerId);
    const isSanctioned = !seesSanctioned && (await this.players.sanctionOf(playerId))?.boards === null;
    if (player && !isSanctioned && (player.listed || seesUnlisted)) return player;
    throw new LadderError('PLAYER_NOT_FOUND', `Nothing is known of a player "${playerId}".`);
  }
}
