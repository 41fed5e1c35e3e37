import { FriendGraphOwner } from '@laddercast/commands';
import { Circles, Friendships, type FriendLists } from '@laddercast/ledger';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { answerInTime, circleNotFound } from './circle-members.js';
import { GetCircleMembersQuery, GetFollowsQuery, GetFriendsQuery } from '../queries.js';

@QueryHandler(GetFriendsQuery)
export class GetFriendsHandler implements IQueryHandler<GetFriendsQuery> {
  constructor(
    private readonly friendships: Friendships,
    private readonly owner: FriendGraphOwner,
  ) {}

  async execute({ playerId }: GetFriendsQuery): Promise<FriendLists> {
    const graph = this.owner.others();
    if (graph === null) return this.friendships.listsOf(playerId);
    // How friends are made elsewhere is not known here: there are no requests.
    return { friends: [...(await answerInTime(graph.friendsOf(playerId)))], asked: [], askedBy: [] };
  }
}

@QueryHandler(GetFollowsQuery)
export class GetFollowsHandler implements IQueryHandler<GetFollowsQuery> {
  constructor(private readonly owner: FriendGraphOwner) {}

  async execute({ playerId }: GetFollowsQuery): Promise<string[]> {
    return [...(await answerInTime(this.owner.graph.followedBy(playerId)))];
  }
}

@QueryHandler(GetCircleMembersQuery)
export class GetCircleMembersHandler implements IQueryHandler<GetCircleMembersQuery> {
  constructor(private readonly circles: Circles) {}

  async execute({ circleId, readerId }: GetCircleMembersQuery): Promise<string[]> {
    const members = await this.circles.membersOf(circleId);
    if (members.length === 0) throw circleNotFound(circleId);
    return members.filter(({ id, listed }) => listed || readerId === null || id === readerId).map(({ id }) => id);
  }
}
