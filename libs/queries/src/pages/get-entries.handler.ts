import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { isPerRun, LadderError, NEVER_USED_SCOPE, type RankedEntry, type RankStyle } from '@laddercast/domain';
import { metrics, monotonicMs, nowMs } from '@laddercast/platform';
import {
  AnsweredVersions,
  ReplicaReads,
  type PageReading,
  type RankSnapshot,
  type ReplicaStores,
} from '@laddercast/projections';
import { ListReader, rowsOfSnapshot } from '../rows/list-reader.js';
import type { ResolvedList } from '../lists/list-resolver.js';
import { boardVersionOf } from '../lists/board-version.js';
import { RanksOfPlayer } from '../lists/ranks-of-player.js';
import { named } from '../lists/ranks-of-runs.js';
import { linksBeside } from './offset-links.js';
import { GetEntriesQuery, type EntriesPage, type ListEnvelope } from '../queries.js';

const PAGES_OF_SNAPSHOT_MAX = 200;

@QueryHandler(GetEntriesQuery)
export class GetEntriesHandler implements IQueryHandler<GetEntriesQuery> {
  /** Pages of a snapshot are the same for everybody until the next tick: the same object, so that it is sent the same. */
  private readonly pages = new WeakMap<RankSnapshot, Map<string, EntriesPage>>();
  /** The newest boardVersion of pages that may come from a replica, and were not exact. */
  private readonly answered = new AnsweredVersions();

  constructor(
    private readonly reader: ListReader,
    private readonly replica: ReplicaReads,
  ) {}

  execute(query: GetEntriesQuery): Promise<EntriesPage> {
    return query.selection.fromReplica ? this.nearOrNow(query) : this.now(query);
  }

  /** From a replica where that is allowed, and has what is asked for. No version is waited for there. */
  private async nearOrNow(query: GetEntriesQuery): Promise<EntriesPage> {
    const { resolved, style } = await this.reader.open({ ...query.selection, minVersion: undefined });
    const { list, edition } = resolved;
    const isThere = edition === null && list.scope !== NEVER_USED_SCOPE;
    if (!isThere) return this.now(query);
    const answered = this.answered.newest(list);
    const least = Math.max(answered, query.selection.minVersion ?? 0);
    const page = await this.replica.read(
      'page',
      list,
      (replica, asOfMs) => this.near(query, { resolved, style, least }, replica, asOfMs),
      () => this.now(query),
    );
    if (page.accuracy === 'exact') return page;
    // The last snapshot in memory, while nothing can be asked.
    if (page.boardVersion < answered) throw nothingAsNew();
    this.answered.note(list, page.boardVersion, nowMs());
    return page;
  }

  /** As of a moment ago it is off by nothing but what its own reading says; null where it is of a version below `least`. */
  private async near(
    query: GetEntriesQuery,
    { resolved, style, least }: { resolved: ResolvedList; style: RankStyle; least: number },
    { ranks }: ReplicaStores,
    asOfMs: number,
  ): Promise<EntriesPage | null> {
    const beganAtMs = monotonicMs();
    const seen = resolved.ownEntries ? new RanksOfPlayer(ranks, resolved.ownEntries) : ranks;
    const reading = await seen.page(resolved.list, query.offset, query.limit, style);
    if (boardVersionOf(resolved, reading.listVersion, resolved.atMs) < least) return null;
    const entries = isPerRun(resolved.board.definition) ? reading.entries.map(named) : reading.entries;
    const { errorBound = 0 } = reading;
    const estimate = { ...reading, entries, accuracy: 'estimated', errorBound } as const;
    return this.pageOf(query, { resolved, style }, estimate, { beganAtMs, asOfMs });
  }

  private async now(query: GetEntriesQuery): Promise<EntriesPage> {
    const { selection, offset, limit } = query;
    const { resolved, style } = await this.reader.open(selection);
    const snapshot = this.reader.snapshot(resolved, selection.minVersion);
    const fromMemory = snapshot && (await this.fromSnapshot(query, resolved, style, snapshot));
    if (fromMemory) return fromMemory;
    try {
      const beganAtMs = monotonicMs();
      const profiles = this.reader.details.ahead(resolved);
      const reading = await resolved.ranks.page(resolved.list, offset, limit, style);
      return await this.pageOf(query, { resolved, style }, reading, { beganAtMs, profiles });
    } catch (error) {
      const last = isUnavailable(error) ? this.reader.lastKnown(resolved, selection.minVersion) : undefined;
      const lastPage = last && (await this.fromSnapshot(query, resolved, style, last));
      if (!lastPage) throw error;
      metrics.staleAnswers.inc();
      return lastPage;
    }
  }

  private async pageOf(
    query: GetEntriesQuery,
    { resolved, style }: { resolved: ResolvedList; style: RankStyle },
    reading: PageReading,
    {
      beganAtMs,
      asOfMs,
      profiles,
    }: { beganAtMs: number; asOfMs?: number; profiles?: Promise<boolean | null> | undefined },
  ): Promise<EntriesPage> {
    const { entries, listVersion } = reading;
    const envelope = this.reader.envelope(resolved, style, reading, asOfMs);
    const read = { listVersion, beganAtMs };
    const rows = await this.reader.details.complete(resolved, entries, { read, profiles });
    const ordinals = ordinalsFrom(query.offset, entries);
    return pageAtOffset(query, envelope, await this.reader.details.withChange(resolved, style, rows, ordinals));
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
      selection.fromReplica,
      selection.asOfMs,
      selection.edition,
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

const nothingAsNew = (): LadderError =>
  new LadderError('PROJECTION_UNAVAILABLE', 'Nothing as new as what was answered before can be read now.', {
    retryAfterSeconds: 1,
  });

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
