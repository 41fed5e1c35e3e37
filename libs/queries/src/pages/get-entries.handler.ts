import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { LadderError, type RankedEntry, type RankStyle } from '@laddercast/domain';
import { metrics, monotonicMs } from '@laddercast/platform';
import type { RankSnapshot } from '@laddercast/projections';
import { ListReader, rowsOfSnapshot } from '../rows/list-reader.js';
import type { ResolvedList } from '../lists/list-resolver.js';
import { linksBeside } from './offset-links.js';
import { GetEntriesQuery, type EntriesPage, type ListEnvelope } from '../queries.js';

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
    const fromMemory = snapshot && (await this.fromSnapshot(query, resolved, style, snapshot));
    if (fromMemory) return fromMemory;
    try {
      const beganAtMs = monotonicMs();
      const profiles = this.reader.details.ahead(resolved);
      const reading = await resolved.ranks.page(resolved.list, offset, limit, style);
      const envelope = this.reader.envelope(resolved, style, reading);
      const read = { listVersion: reading.listVersion, beganAtMs };
      const rows = await this.reader.details.complete(resolved, reading.entries, { read, profiles });
      const ordinals = ordinalsFrom(offset, reading.entries);
      return pageAtOffset(query, envelope, await this.reader.details.withChange(resolved, style, rows, ordinals));
    } catch (error) {
      const last = isUnavailable(error) ? this.reader.lastKnown(resolved, selection.minVersion) : undefined;
      const lastPage = last && (await this.fromSnapshot(query, resolved, style, last));
      if (!lastPage) throw error;
      metrics.staleAnswers.inc();
      return lastPage;
    }
  }

  /** null when the snapshot does not show all of the page. */
  private async fromSnapshot(
    query: GetEntriesQuery,
    resolved: ResolvedList,
    style: RankStyle,
    snapshot: RankSnapshot,
  ): Promise<EntriesPage | null> {
    const { selection, offset, limit } = query;
    const envelope = this.reader.envelope(resolved, style, snapshot, snapshot.asOfMs);
    const pages = this.pages.get(snapshot) ?? new Map<string, EntriesPage>();
    this.pages.set(snapshot, pages);
    const name = [
      style,
      selection.rankStyle,
      offset,
      limit,
      envelope.window.resetsAt,
      envelope.window.edition,
      envelope.window.revising,
      envelope.boardVersion,
      envelope.players,
      envelope.accuracy,
      // The next tax can be on its way before a tick says anything new.
      envelope.decay && JSON.stringify(envelope.decay),
    ].join();
    // Faces change, and a snapshot does not know.
    const known = resolved.withPlayers ? undefined : pages.get(name);
    if (known) return known;
    const shown = rowsOfSnapshot(snapshot, offset, limit, style);
    if (shown === null) return null;
    const rows = await this.reader.details.withPlayers(resolved, shown);
    const ordinals = new Map(snapshot.entries.map(({ playerId, rank }) => [playerId, rank]));
    const made = pageAtOffset(query, envelope, await this.reader.details.withChange(resolved, style, rows, ordinals));
    // What a row's `change` is counted from can come, and go, while the snapshot stays.
    const isLasting = !resolved.board.definition.change && !resolved.withPlayers;
    if (pages.size < PAGES_OF_SNAPSHOT_MAX && isLasting) pages.set(name, made);
    return made;
  }
}

const isUnavailable = (error: unknown): boolean =>
  error instanceof LadderError && error.code === 'PROJECTION_UNAVAILABLE';

/** The places of players who follow each other from a 0-based offset; 1-based. */
export const ordinalsFrom = (offset: number, entries: readonly { playerId: string }[]): Map<string, number> =>
  new Map(entries.map(({ playerId }, at) => [playerId, offset + at + 1]));

/** An answer to a page by offset, with the paths of those beside it. */
export function pageAtOffset(
  { selection, offset, limit }: Pick<GetEntriesQuery, 'selection' | 'offset' | 'limit'>,
  envelope: ListEnvelope,
  entries: RankedEntry[],
): EntriesPage {
  const route = selection.ofGuilds ? 'guilds' : 'entries';
  return { ...envelope, entries, ...linksBeside(selection, envelope, route, { offset, limit }) };
}
