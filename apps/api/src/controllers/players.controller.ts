import { parseBody, PlayerBody, PutPlayerCommand } from '@laddercast/commands';
import { assertIdentified, assertMayWritePlayers, holdsScope, type Identity } from '@laddercast/identity';
import { CurrentIdentity } from '@laddercast/leaderboard';
import type { StoredPlayer } from '@laddercast/ledger';
import { GetPlayerProfileQuery } from '@laddercast/queries';
import { Body, Controller, Get, Param, Put } from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import { ApiOperation } from '@nestjs/swagger';
import { unlistedShownTo } from '../http/list-selection.js';
import { playerOf } from '../http/path-parameters.js';

/** A player as others see it lacks `listed`. */
type ShownPlayer = Omit<StoredPlayer, 'listed'> & { listed?: boolean };

/** What is known of players beside their scores. */
@Controller('v1/players/:player')
export class PlayersController {
  constructor(
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
  ) {}

  @Get()
  @ApiOperation({ operationId: 'getPlayerProfile' })
  async read(@Param('player') player: string, @CurrentIdentity() identity: Identity): Promise<ShownPlayer> {
    assertIdentified(identity);
    const playerId = playerOf(player, identity);
    const shown = unlistedShownTo(identity);
    const isItself = shown !== 'all' && shown.includes(playerId);
    const seesUnlisted = shown === 'all' || isItself;
    const seesSanctioned = isItself || holdsScope(identity, 'moderate');
    const query = new GetPlayerProfileQuery(playerId, seesUnlisted, seesSanctioned);
    const { listed, ...profile } = await this.queries.execute(query);
    return seesUnlisted ? { ...profile, listed } : profile;
  }

  @Put()
  @ApiOperation({ operationId: 'putPlayer' })
  put(
    @Param('player') player: string,
    @Body() body: unknown,
    @CurrentIdentity() identity: Identity,
  ): Promise<StoredPlayer> {
    assertMayWritePlayers(identity);
    return this.commands.execute(
      new PutPlayerCommand(identity, playerOf(player, identity), parseBody(PlayerBody, body)),
    );
  }
}
