import { rankAmongThemselves } from '@laddercast/domain';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { CircleMembers } from './circle-members.js';
import { ListReader } from '../rows/list-reader.js';
import { linksBeside } from '../pages/offset-links.js';
import { GetCircleQuery, type CirclePage, type CircleName } from '../queries.js';

/** Boards of friends, follows and named circles: merged when they are read, by looking up each member's entry. */
@QueryHandler(GetCircleQuery)
export class GetCircleHandler implements IQueryHandler<GetCircleQuery> {
  constructor(
    private readonly reader: ListReader,
    private readonly members: CircleMembers,
  ) {}

  async execute({ selection, circle, offset, limit, readerId }: GetCircleQuery): Promise<CirclePage> {
    const [{ resolved, style }, members] = await Promise.all([this.reader.open(selection), this.members.of(circle)]);
    const reading = await resolved.ranks.lookup(resolved.list, members, style);
    const found = reading.entries.filter((entry) => entry !== null);
    const ranked = rankAmongThemselves(resolved.list.ordering, found, style);
    // Cut first, then leave out unlisted players: they keep their places.
    const shown = ranked.slice(offset, offset + limit);
    const rows = await this.reader.details.complete(resolved, shown, {
      including: readerId === null ? [] : [readerId],
    });
    const globalRanks = new Map(shown.map(({ playerId, globalRank }) => [playerId, globalRank]));
    const ofList = this.reader.envelope(resolved, style, reading);
    const players = ofList.players === undefined ? {} : { players: ranked.length };
    const envelope = { ...ofList, total: ranked.length, ...players };
    return {
      ...envelope,
      members: members.length,
      entries: rows.map((row) => ({ ...row, globalRank: globalRanks.get(row.playerId)! })),
      ...linksBeside(selection, envelope, routeOf(circle), { offset, limit }),
    };
  }
}

const routeOf = (circle: CircleName): string =>
  circle.kind === 'circle' ? `circles/${circle.circleId}` : `${circle.kind}/${encodeURIComponent(circle.playerId)}`;
