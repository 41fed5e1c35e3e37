import { FriendGraphOwner } from '@laddercast/commands';
import { Friendships, type FriendLists } from '@laddercast/ledger';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { answerInTime } from './circle-members.js';
import { GetFriendsQuery } from '../queries.js';

@QueryHandler(GetFriendsQuery)
export class GetFriendsHandler implements IQueryHandler<GetFriendsQuery> {
  constructor(
    private readonly friendships: Friendships,
    private readonly owner: FriendGraphOwner,
  ) {}

  async execute({ playerId }: GetFriendsQuery): Promise<FriendLists> {
    const graph = this.owner.theirs;
    if (graph === null) return this.friendships.listsOf(playerId);
    // With a friend graph of a team's own, there are no requests here: how friends are made is not known.
    return { friends: [...(await answerInTime(graph.friendsOf(playerId)))], asked: [], askedBy: [] };
  }
}
