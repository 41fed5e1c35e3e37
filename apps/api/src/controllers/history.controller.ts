import { assertMayRead, holdsScope, type Identity } from '@laddercast/identity';
import { CurrentIdentity, Public, QueryPipe } from '@laddercast/leaderboard';
import { GetHistoryQuery, ListResolver, type PlayerHistory } from '@laddercast/queries';
import { Controller, Get, Param, Query } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { ApiOperation } from '@nestjs/swagger';
import { ConditionalGet } from '../http/conditional-get.js';
import { historyRangeOf } from '../http/history-range.js';
import { TimeRangeParameters } from '../http/time-range.js';
import { unlistedShownTo } from '../http/list-selection.js';
import { NamedIdPipe, playerOf } from '../http/path-parameters.js';

/** A player over time. */
@Controller('v1/boards/:board/players/:player/history')
@ConditionalGet()
export class HistoryController {
  constructor(
    private readonly queries: QueryBus,
    private readonly resolver: ListResolver,
  ) {}

  @Get()
  @ApiOperation({ operationId: 'getPlayerHistory' })
  @Public()
  async history(
    @Param('board', NamedIdPipe) boardId: string,
    @Param('player') player: string,
    @Query(QueryPipe) parameters: TimeRangeParameters,
    @CurrentIdentity() identity: Identity,
  ): Promise<PlayerHistory> {
    assertMayRead(identity, await this.resolver.board(boardId));
    return this.queries.execute(
      new GetHistoryQuery(boardId, parameters.window, playerOf(player, identity), historyRangeOf(parameters), {
        unlistedShown: unlistedShownTo(identity),
        moderates: holdsScope(identity, 'moderate'),
        isAdmin: holdsScope(identity, 'admin'),
      }),
    );
  }
}
