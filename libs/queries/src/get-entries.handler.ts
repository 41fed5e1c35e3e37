import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { LadderError, type RankedEntry, type RankStyle } from '@laddercast/domain';
import type { RankSnapshot } from '@laddercast/projections';
import { inStyle, ListReader } from './list-reader.js';
import type { ResolvedList } from './list-resolver.js';
import { GetEntriesQuery, type EntriesPage, type ListEnvelope } from './queries.js';

const PAGES_OF_SNAPSHOT_MAX = 200;

@QueryHandler(GetEntriesQuery)
export class GetEntriesHandler implements IQueryHandler<GetEntriesQuery> {
  /** Pages of a snapshot are the same for everybody until the next tick: the same object, so that it is sent the same. */
  private readonly pages = new WeakMap<RankSnapshot, Map<string, EntriesPage>>();

  constructor(private readonly reader: ListReader) {}

  async execute(query: GetEntriesQuery): Promise<EntriesPage> {
    const { selection, offset, limit } = query;
    const { resolved, style } = await this.reader.open(selection);
    const snapshot = this.reader.snapshot(resolved, selection.minVersion);
    if (snapshot && covers(snapshot, offset, limit)) return this.fromSnapshot(query, resolved, style, snapshot);
    try {
      const reading = await this.reader.projection.page(resolved.list, offset, limit, style);
      const envelope = this.reader.envelope(resolved, style, reading);
      return page(query, envelope, await this.reader.details.complete(resolved, reading.entries));
    } catch (error) {
      const last = this.reader.lastKnown(resolved, selection.minVersion);
      if (!last || !covers(last, offset, limit) || !isUnavailable(error)) throw error;
      return this.fromSnapshot(query, resolved, style, last);
    }
  }

  private fromSnapshot(
    query: GetEntriesQuery,
    resolved: ResolvedList,
    style: RankStyle,
    snapshot: RankSnapshot,
  ): EntriesPage {
    const { selection, offset, limit } = query;
    const envelope = this.reader.envelope(resolved, style, snapshot, snapshot.asOfMs);
    const pages = this.pages.get(snapshot) ?? new Map<string, EntriesPage>();
    this.pages.set(snapshot, pages);
    const name = [style, selection.rankStyle, offset, limit, envelope.window.resetsAt].join();
    const known = pages.get(name);
    if (known) return known;
    const made = page(query, envelope, inStyle(snapshot.entries, style).slice(offset, offset + limit));
    if (pages.size < PAGES_OF_SNAPSHOT_MAX) pages.set(name, made);
    return made;
  }
}

const isUnavailable = (error: unknown): boolean =>
  error instanceof LadderError && error.code === 'PROJECTION_UNAVAILABLE';

const covers = ({ entries, total }: RankSnapshot, offset: number, limit: number): boolean =>
  offset + limit <= entries.length || entries.length === total;

function page(
  { selection, offset, limit }: GetEntriesQuery,
  envelope: ListEnvelope,
  entries: RankedEntry[],
): EntriesPage {
  const path = (at: number): string => {
    const query = new URLSearchParams({ window: envelope.window.id, limit: String(limit), offset: String(at) });
    if (selection.rankStyle) query.set('rankStyle', selection.rankStyle);
    return `/v1/boards/${envelope.board}/entries?${query.toString()}`;
  };
  return {
    ...envelope,
    entries,
    next: offset + limit < envelope.total ? path(offset + limit) : null,
    prev: offset > 0 ? path(Math.max(0, offset - limit)) : null,
  };
}
