import { FriendGraphOwner } from '@laddercast/commands';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { answerInTime } from './circle-members.js';
import { GetFollowsQuery } from '../queries.js';

@QueryHandler(GetFollowsQuery)
export class GetFollowsHandler implements IQueryHandler<GetFollowsQuery> {
  constructor(private readonly owner: FriendGraphOwner) {}

  async execute({ playerId }: GetFollowsQuery): Promise<string[]> {
    return [...(await answerInTime(this.owner.graph.followedBy(playerId)))];
  }
}
