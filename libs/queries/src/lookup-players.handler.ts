import type { RankedEntry } from '@laddercast/domain';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { ListReader } from './list-reader.js';
import { LookupPlayersQuery, type PlayersLookup } from './queries.js';

@QueryHandler(LookupPlayersQuery)
export class LookupPlayersHandler implements IQueryHandler<LookupPlayersQuery> {
  constructor(private readonly reader: ListReader) {}

  async execute({ selection, playerIds, ranked, unlistedShown }: LookupPlayersQuery): Promise<PlayersLookup> {
    const { resolved, style } = await this.reader.open(selection);
    const reading = await resolved.ranks.lookup(resolved.list, playerIds, style);
    const found = reading.entries.filter((entry) => entry !== null);
    const named = await this.reader.details.complete(resolved, found, { including: unlistedShown });
    const completed = await this.reader.details.withChange(resolved, style, named);
    const rows = new Map(completed.map((row) => [row.playerId, row]));
    if (!ranked) {
      return {
        ...this.reader.envelope(resolved, style, reading),
        entries: playerIds.map((id) => rows.get(id) ?? null),
      };
    }
    // Tied players share a rank in other styles; their order among themselves is the ordinal one.
    const ordinal = style === 'ordinal' ? reading : await resolved.ranks.lookup(resolved.list, playerIds, 'ordinal');
    const place = new Map(ordinal.entries.flatMap((entry) => (entry ? [[entry.playerId, entry.rank] as const] : [])));
    const placeOf = (row: RankedEntry): number => place.get(row.playerId) ?? Infinity;
    const entries = [...rows.values()].sort((a, b) => placeOf(a) - placeOf(b));
    return { ...this.reader.envelope(resolved, style, reading), entries };
  }
}
