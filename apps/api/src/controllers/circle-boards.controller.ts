import { assertMayReadCircles, assertMayReadFriends, type Identity } from '@laddercast/identity';
import { CurrentIdentity, QueryPipe } from '@laddercast/leaderboard';
import { GetCircleQuery, ListResolver, type CircleName, type CirclePage } from '@laddercast/queries';
import { Controller, Get, Param, Query } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { ApiOperation } from '@nestjs/swagger';
import { circleOf } from './circles.controller.js';
import { ConditionalGet } from '../http/conditional-get.js';
import { selectionOf } from '../http/list-selection.js';
import { CircleParameters } from '../http/parameters.js';
import { NamedIdPipe, playerOf } from '../http/path-parameters.js';

const ENTRIES_DEFAULT = 50;

/** Boards of a few players among themselves. */
@Controller('v1/boards/:board')
@ConditionalGet()
export class CircleBoardsController {
  constructor(
    private readonly queries: QueryBus,
    private readonly resolver: ListResolver,
  ) {}

  @Get('friends/:player')
  @ApiOperation({ operationId: 'getFriendsBoard' })
  friends(
    @Param('board', NamedIdPipe) boardId: string,
    @Param('player') player: string,
    @Query(QueryPipe) parameters: CircleParameters,
    @CurrentIdentity() identity: Identity,
  ): Promise<CirclePage> {
    const playerId = ownCircle(player, identity);
    return this.read(boardId, { kind: 'friends', playerId }, parameters, identity);
  }

  @Get('follows/:player')
  @ApiOperation({ operationId: 'getFollowsBoard' })
  follows(
    @Param('board', NamedIdPipe) boardId: string,
    @Param('player') player: string,
    @Query(QueryPipe) parameters: CircleParameters,
    @CurrentIdentity() identity: Identity,
  ): Promise<CirclePage> {
    const playerId = ownCircle(player, identity);
    return this.read(boardId, { kind: 'follows', playerId }, parameters, identity);
  }

  @Get('circles/:circle')
  @ApiOperation({ operationId: 'getCircleBoard' })
  circle(
    @Param('board', NamedIdPipe) boardId: string,
    @Param('circle') circle: string,
    @Query(QueryPipe) parameters: CircleParameters,
    @CurrentIdentity() identity: Identity,
  ): Promise<CirclePage> {
    assertMayReadCircles(identity);
    return this.read(boardId, { kind: 'circle', circleId: circleOf(circle) }, parameters, identity);
  }

  private async read(
    boardId: string,
    circle: CircleName,
    parameters: CircleParameters,
    identity: Identity,
  ): Promise<CirclePage> {
    const { offset = 0, limit = ENTRIES_DEFAULT } = parameters;
    const selection = selectionOf(await this.resolver.board(boardId), parameters, identity);
    // Friends and follows are read by the player, or by a key that asks for it: the player sees itself there.
    const self = circle.kind === 'circle' ? null : circle.playerId;
    const readerId = identity.kind === 'player' ? identity.playerId : self;
    return this.queries.execute(new GetCircleQuery(selection, circle, offset, limit, readerId));
  }
}

/** The `{player}` whose circle it is, when the caller may see whom it knows. */
function ownCircle(player: string, identity: Identity): string {
  const playerId = playerOf(player, identity);
  assertMayReadFriends(identity, playerId);
  return playerId;
}
