import { LadderError, percentileOf } from '@laddercast/domain';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { ListReader } from './list-reader.js';
import { GetPlayerQuery, type PlayerRank } from './queries.js';

@QueryHandler(GetPlayerQuery)
export class GetPlayerHandler implements IQueryHandler<GetPlayerQuery> {
  constructor(private readonly reader: ListReader) {}

  async execute({ selection, playerId, above, below, fallbackToLast }: GetPlayerQuery): Promise<PlayerRank> {
    const { resolved, style } = await this.reader.open(selection);
    const { projection, details } = this.reader;
    const reading = await projection.player(resolved.list, playerId, above, below, style);
    const envelope = this.reader.envelope(resolved, style, reading);
    if (!reading.entry) {
      if (!fallbackToLast) {
        throw new LadderError(
          'ENTRY_NOT_FOUND',
          `"${playerId}" has no entry on board "${envelope.board}" in ${envelope.window.id}.`,
          {
            total: reading.total,
          },
        );
      }
      const shown = above + below + 1;
      const end = await projection.page(resolved.list, Math.max(0, reading.total - shown), shown, style);
      return { ...envelope, entry: null, neighbours: await details.complete(resolved, end.entries) };
    }
    const neighbours = await details.complete(resolved, reading.neighbours);
    const own =
      neighbours.find((row) => row.playerId === playerId) ?? (await details.complete(resolved, [reading.entry]))[0]!;
    const percentile = percentileOf(own.rank, reading.total);
    return { ...envelope, entry: { ...own, percentile, accuracy: 'exact' }, neighbours };
  }
}
