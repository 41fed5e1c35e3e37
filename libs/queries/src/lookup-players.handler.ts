import type { RankedEntry } from '@laddercast/domain';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { ListReader } from './list-reader.js';
import { LookupPlayersQuery, type PlayersLookup } from './queries.js';

@QueryHandler(LookupPlayersQuery)
export class LookupPlayersHandler implements IQueryHandler<LookupPlayersQuery> {
  constructor(private readonly reader: ListReader) {}

  async execute({ selection, playerIds, ranked }: LookupPlayersQuery): Promise<PlayersLookup> {
    const { resolved, style } = await this.reader.open(selection);
    const reading = await this.reader.projection.lookup(resolved.list, playerIds, style);
    const found = reading.entries.filter((entry) => entry !== null);
    const completed = await this.reader.details.complete(resolved, found);
    const rows = new Map(completed.map((row) => [row.playerId, row]));
    const entries = ranked ? amongThemselves(completed) : playerIds.map((playerId) => rows.get(playerId) ?? null);
    return { ...this.reader.envelope(resolved, style, reading), entries };
  }
}

const amongThemselves = (rows: RankedEntry[]): RankedEntry[] => [...rows].sort((a, b) => a.rank - b.rank);
