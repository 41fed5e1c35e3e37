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
    // How friends are made elsewhere is not known here: there are no requests.
    return { friends: [...(await answerInTime(graph.friendsOf(playerId)))], asked: [], askedBy: [] };
  }
}
