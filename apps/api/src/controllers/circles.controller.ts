import {
  AddCircleMemberCommand,
  AddFriendCommand,
  ChangeFollowCommand,
  RemoveCircleMemberCommand,
  RemoveFriendCommand,
} from '@laddercast/commands';
import {
  assertMayChangeFriends,
  assertMayReadCircles,
  assertMayReadFriends,
  playerOfIdentity,
  type Identity,
} from '@laddercast/identity';
import { faultOfNamedId, faultOfOpaqueId, validationFailed } from '@laddercast/domain';
import { CurrentIdentity, TakesNothing } from '@laddercast/leaderboard';
import { GetCircleMembersQuery, GetFollowsQuery, GetFriendsQuery } from '@laddercast/queries';
import { Controller, Delete, Get, HttpCode, Param, Put } from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import { ApiOperation } from '@nestjs/swagger';
import { playerOf } from '../http/path-parameters.js';

/** Who is whose friend, who follows whom, and who is in which named circle. */
@Controller('v1')
export class CirclesController {
  constructor(
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
  ) {}

  @Get('players/:player/friends')
  @ApiOperation({ operationId: 'getFriends' })
  @TakesNothing()
  async friends(@Param('player') player: string, @CurrentIdentity() identity: Identity): Promise<object> {
    const playerId = playerOf(player, identity);
    assertMayReadFriends(identity, playerId);
    return { playerId, ...(await this.queries.execute(new GetFriendsQuery(playerId))) };
  }

  @Put('players/:player/friends/:other')
  @ApiOperation({ operationId: 'addFriend' })
  @TakesNothing()
  async addFriend(
    @Param('player') player: string,
    @Param('other') other: string,
    @CurrentIdentity() identity: Identity,
  ): Promise<{ playerId: string; otherId: string; state: 'friends' | 'asked' }> {
    const [playerId, otherId] = pairOf(player, other, identity);
    const state = await this.commands.execute(new AddFriendCommand(identity, playerId, otherId));
    return { playerId, otherId, state };
  }

  @Delete('players/:player/friends/:other')
  @ApiOperation({ operationId: 'removeFriend' })
  @TakesNothing()
  @HttpCode(204)
  async removeFriend(
    @Param('player') player: string,
    @Param('other') other: string,
    @CurrentIdentity() identity: Identity,
  ): Promise<void> {
    await this.commands.execute(new RemoveFriendCommand(identity, ...pairOf(player, other, identity)));
  }

  @Get('players/:player/follows')
  @ApiOperation({ operationId: 'getFollows' })
  @TakesNothing()
  async follows(
    @Param('player') player: string,
    @CurrentIdentity() identity: Identity,
  ): Promise<{ playerId: string; follows: string[] }> {
    const playerId = playerOf(player, identity);
    assertMayReadFriends(identity, playerId);
    return { playerId, follows: await this.queries.execute(new GetFollowsQuery(playerId)) };
  }

  @Put('players/:player/follows/:other')
  @ApiOperation({ operationId: 'follow' })
  @TakesNothing()
  async follow(
    @Param('player') player: string,
    @Param('other') other: string,
    @CurrentIdentity() identity: Identity,
  ): Promise<{ playerId: string; otherId: string; state: 'follows' }> {
    const [playerId, otherId] = pairOf(player, other, identity);
    await this.commands.execute(new ChangeFollowCommand(identity, playerId, otherId, true));
    return { playerId, otherId, state: 'follows' };
  }

  @Delete('players/:player/follows/:other')
  @ApiOperation({ operationId: 'unfollow' })
  @TakesNothing()
  @HttpCode(204)
  async unfollow(
    @Param('player') player: string,
    @Param('other') other: string,
    @CurrentIdentity() identity: Identity,
  ): Promise<void> {
    await this.commands.execute(new ChangeFollowCommand(identity, ...pairOf(player, other, identity), false));
  }

  @Get('circles/:circle/members')
  @ApiOperation({ operationId: 'getCircleMembers' })
  @TakesNothing()
  async members(
    @Param('circle') circle: string,
    @CurrentIdentity() identity: Identity,
  ): Promise<{ circle: string; members: string[] }> {
    assertMayReadCircles(identity);
    const circleId = circleOf(circle);
    const readerId = playerOfIdentity(identity);
    return { circle: circleId, members: await this.queries.execute(new GetCircleMembersQuery(circleId, readerId)) };
  }

  @Put('circles/:circle/members/:player')
  @ApiOperation({ operationId: 'addCircleMember' })
  @TakesNothing()
  async addMember(
    @Param('circle') circle: string,
    @Param('player') player: string,
    @CurrentIdentity() identity: Identity,
  ): Promise<{ circle: string; playerId: string; members: number }> {
    const circleId = circleOf(circle);
    const playerId = playerOf(player, identity);
    const members = await this.commands.execute(new AddCircleMemberCommand(identity, circleId, playerId));
    return { circle: circleId, playerId, members };
  }

  @Delete('circles/:circle/members/:player')
  @ApiOperation({ operationId: 'removeCircleMember' })
  @TakesNothing()
  @HttpCode(204)
  async removeMember(
    @Param('circle') circle: string,
    @Param('player') player: string,
    @CurrentIdentity() identity: Identity,
  ): Promise<void> {
    const circleId = circleOf(circle);
    await this.commands.execute(new RemoveCircleMemberCommand(identity, circleId, playerOf(player, identity)));
  }
}

/** The two players of a path, when the caller may change the first one's lists. */
function pairOf(player: string, other: string, identity: Identity): [playerId: string, otherId: string] {
  const playerId = playerOf(player, identity);
  assertMayChangeFriends(identity, playerId);
  const fault = faultOfOpaqueId(other);
  if (fault) throw validationFailed([{ pointer: '{other}', message: fault }]);
  return [playerId, other];
}

/** The `{circle}` of a path. */
export function circleOf(circle: string): string {
  const fault = faultOfNamedId(circle);
  if (fault) throw validationFailed([{ pointer: '{circle}', message: fault }]);
  return circle;
}
