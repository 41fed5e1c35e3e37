import type { PageReading } from '@laddercast/projections';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { EntriesPlaces, shownBeside } from './entries-places.js';
import { ordinalsFrom, pageAtOffset } from './get-entries.handler.js';
import { ListReader } from '../rows/list-reader.js';
import type { ResolvedList } from '../lists/list-resolver.js';
import { GetEntriesAroundQuery, type EntriesPage } from '../queries.js';

/** How often a player who moves away between two readings is looked for. */
const LOOKS_MAX = 3;

@QueryHandler(GetEntriesAroundQuery)
export class GetEntriesAroundHandler implements IQueryHandler<GetEntriesAroundQuery> {
  constructor(
    private readonly reader: ListReader,
    private readonly places: EntriesPlaces,
  ) {}

  async execute({ selection, around, limit }: GetEntriesAroundQuery): Promise<EntriesPage> {
    const { resolved, style } = await this.reader.open(selection);
    let offset = 0;
    let reading: PageReading;
    let looks = 0;
    do {
      const index = await this.places.indexNow(resolved, selection, around);
      ({ offset, reading } = await readAround(resolved, index, limit, (at) =>
        resolved.ranks.page(resolved.list, at, limit, style),
      ));
      looks += 1;
    } while ('playerId' in around && !holds(reading, around.playerId) && looks < LOOKS_MAX);
    const envelope = this.reader.envelope(resolved, style, reading);
    const including = shownBeside(around);
    const rows = await this.reader.details.complete(resolved, reading.entries, { including });
    const ordinals = ordinalsFrom(offset, reading.entries);
    const entries = await this.reader.details.withChange(resolved, style, rows, ordinals);
    return pageAtOffset({ selection, offset, limit }, envelope, entries);
  }
}

/** A page with a 0-based index in its middle, as far as the list reaches. */
export async function readAround(
  { ranks, list }: ResolvedList,
  index: number,
  limit: number,
  read: (offset: number) => Promise<PageReading>,
): Promise<{ offset: number; reading: PageReading }> {
  const offset = Math.max(0, index - Math.floor((limit - 1) / 2));
  const reading = await read(offset);
  if (offset === 0 || reading.entries.length === limit) return { offset, reading };
  const { total } = await ranks.total(list);
  const ofEnd = Math.max(0, Math.min(offset, total - limit));
  return { offset: ofEnd, reading: ofEnd === offset ? reading : await read(ofEnd) };
}

const holds = ({ entries }: PageReading, playerId: string): boolean =>
  entries.some((entry) => entry.playerId === playerId);
