import { Circles } from '@laddercast/ledger';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { circleNotFound } from './circle-members.js';
import { GetCircleMembersQuery } from '../queries.js';

@QueryHandler(GetCircleMembersQuery)
export class GetCircleMembersHandler implements IQueryHandler<GetCircleMembersQuery> {
  constructor(private readonly circles: Circles) {}

  async execute({ circleId, readerId }: GetCircleMembersQuery): Promise<string[]> {
    const members = await this.circles.membersOf(circleId);
    if (members.length === 0) throw circleNotFound(circleId);
    return members.filter(({ id, listed }) => listed || readerId === null || id === readerId).map(({ id }) => id);
  }
}
