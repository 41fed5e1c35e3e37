import { mayReadPrivateBoards, type Identity } from '@laddercast/identity';
import { CurrentIdentity, Public, QueryPipe } from '@laddercast/leaderboard';
import { GetStandingsQuery, type StandingsPage } from '@laddercast/queries';
import { Controller, Get, Param, Query } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { ApiOperation } from '@nestjs/swagger';
import { ConditionalGet } from '../http/conditional-get.js';
import { unlistedShownTo } from '../http/list-selection.js';
import { BOARDS_DEFAULT, StandingsParameters } from '../http/parameters.js';
import { playerOf } from '../http/path-parameters.js';

/** A player over all boards. */
@Controller('v1/players/:player/standings')
@ConditionalGet()
export class StandingsController {
  constructor(private readonly queries: QueryBus) {}

  @Get()
  @ApiOperation({ operationId: 'getStandings' })
  @Public()
  read(
    @Param('player') player: string,
    @Query(QueryPipe) { window: windowKind, limit, cursor, template }: StandingsParameters,
    @CurrentIdentity() identity: Identity,
  ): Promise<StandingsPage> {
    const reader = { seesPrivateBoards: mayReadPrivateBoards(identity), unlistedShown: unlistedShownTo(identity) };
    const most = limit ?? (template === undefined ? BOARDS_DEFAULT : undefined);
    return this.queries.execute(
      new GetStandingsQuery(playerOf(player, identity), { windowKind, template }, most, cursor, reader),
    );
  }
}
