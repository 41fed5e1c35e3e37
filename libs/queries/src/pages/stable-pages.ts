import { isPerRun, type RankStyle } from '@laddercast/domain';
import { toTimestamp } from '@laddercast/platform';
import type { Checkpoint, CheckpointPage, PageReading, ProjectedEntry } from '@laddercast/projections';
import { Injectable } from '@nestjs/common';
import { boardVersionOf } from '../lists/board-version.js';
import { encodeCursor, type EntriesCursor } from './entries-cursor.js';
import { ordinalsFrom } from './get-entries.handler.js';
import { named } from '../lists/ranks-of-runs.js';
import { ListReader } from '../rows/list-reader.js';
import type { ResolvedList } from '../lists/list-resolver.js';
import type { EntriesPage } from '../queries.js';
import { markOf, type StableWorld } from './stable-worlds.js';

/** How a page that holds still was asked for. */
export interface StableRequest {
  style: RankStyle;
  limit: number;
  /** Players who are shown although they are not listed. */
  including: string[];
}

/** Makes answers of pages that hold still, with the cursors of those beside them. */
@Injectable()
export class StablePages {
  constructor(private readonly reader: ListReader) {}

  /** @param resolved whose list is of the checkpoint's generation */
  async ofCheckpoint(
    resolved: ResolvedList,
    { style, limit, including }: StableRequest,
    { checkpoint, index, entries: read, keys }: CheckpointPage,
  ): Promise<EntriesPage> {
    const entries = byPlayers(resolved, read);
    const { openedAtMs, closesAtMs, total, listVersion } = checkpoint;
    const rows = await this.reader.details.complete(resolved, entries, { including, arePast: true });
    // Whoever is shown to some only is not named in a cursor.
    const listed = including.length === 0 ? rows : await this.reader.details.complete(resolved, entries);
    const shown = new Set(listed.map(({ playerId }) => playerId));
    const cursorBeside = (at: number, direction: EntriesCursor['direction']): string => {
      const { playerId, rank } = entries[at]!;
      const { generation, shards, versions } = resolved.list;
      const { id, slot } = checkpoint;
      const place = {
        generation,
        shards,
        versions,
        checkpoint: { id, slot, listVersion },
        beside: shown.has(playerId) ? keys[at]! : index + at,
        denseRank: style === 'dense' ? rank : null,
      };
      return pathOf(resolved, limit, { ...namesOf(resolved, style), direction, place });
    };
    return {
      ...this.reader.envelope(resolved, style, checkpoint, openedAtMs),
      boardVersion: boardVersionOf(resolved, listVersion, openedAtMs),
      entries: await this.reader.details.withChange(resolved, style, rows, ordinalsFrom(index, entries)),
      next: entries.length > 0 && index + entries.length < total ? cursorBeside(entries.length - 1, 'after') : null,
      prev: entries.length > 0 && index > 0 ? cursorBeside(0, 'before') : null,
      cursorExpiresAt: toTimestamp(closesAtMs),
    };
  }

  /** Of a checkpoint with entries among its own that only this reader has. */
  async ofWorld(
    { resolved }: StableWorld,
    { style, limit, including }: StableRequest,
    checkpoint: Checkpoint,
    { offset, reading }: { offset: number; reading: PageReading },
  ): Promise<EntriesPage> {
    const { openedAtMs, closesAtMs, id, slot, listVersion } = checkpoint;
    const { total } = reading;
    const entries = byPlayers(resolved, reading.entries);
    const rows = await this.reader.details.complete(resolved, entries, { including, arePast: true });
    const path = (at: number, direction: EntriesCursor['direction']): string => {
      const { generation, shards, versions } = resolved.list;
      const denseRank = style === 'dense' ? entries[at - offset]!.rank : null;
      const place = { generation, shards, versions, checkpoint: { id, slot, listVersion }, beside: at, denseRank };
      return pathOf(resolved, limit, { ...namesOf(resolved, style), direction, place, ...ownOf(resolved) });
    };
    const last = offset + entries.length - 1;
    return {
      ...this.reader.envelope(resolved, style, reading, openedAtMs),
      boardVersion: boardVersionOf(resolved, listVersion, openedAtMs),
      entries: await this.reader.details.withChange(resolved, style, rows, ordinalsFrom(offset, entries)),
      next: entries.length > 0 && last + 1 < total ? path(last, 'after') : null,
      prev: entries.length > 0 && offset > 0 ? path(offset, 'before') : null,
      cursorExpiresAt: toTimestamp(closesAtMs),
    };
  }

  /** Of standings, and of a list that nothing can be in: they hold still by themselves. */
  async ofEdition(
    resolved: ResolvedList,
    { style, limit, including }: StableRequest,
    offset: number,
    reading: PageReading,
  ): Promise<EntriesPage> {
    const { edition } = resolved;
    const path = (direction: EntriesCursor['direction'], at: number): string => {
      const asOfMs = edition!.kind === 'frozen' ? null : edition!.asOfMs;
      const place = { edition: edition!.uid, asOfMs, offset: at };
      return pathOf(resolved, limit, { ...namesOf(resolved, style), direction, place, ...ownOf(resolved) });
    };
    const end = offset + reading.entries.length;
    const rows = await this.reader.details.complete(resolved, reading.entries, { including });
    return {
      ...this.reader.envelope(resolved, style, reading),
      // One version on all pages, also where the window leaves the projection meanwhile.
      boardVersion: boardVersionOf({ ...resolved, boardVersion: undefined }, reading.listVersion, resolved.atMs),
      entries: await this.reader.details.withChange(resolved, style, rows, ordinalsFrom(offset, reading.entries)),
      next: reading.entries.length > 0 && end < reading.total ? path('after', end) : null,
      prev: offset > 0 ? path('before', offset) : null,
      cursorExpiresAt: null,
    };
  }
}

/** Entries that were read by their keys. */
const byPlayers = ({ board }: ResolvedList, entries: readonly ProjectedEntry[]): readonly ProjectedEntry[] =>
  isPerRun(board.definition) ? entries.map(named) : entries;

/** What a cursor says of the entries that are in the list for this reader alone. */
export const ownOf = ({ ownEntries }: ResolvedList): Pick<EntriesCursor, 'own'> =>
  ownEntries === undefined ? {} : { own: markOf(ownEntries) };

const namesOf = (
  { board, window, scope }: ResolvedList,
  style: RankStyle,
): Omit<EntriesCursor, 'direction' | 'place'> => ({
  boardId: board.id,
  boardUid: board.uid,
  window: window.id,
  windowUid: window.uid,
  scope,
  style,
});

function pathOf({ board, scope, withPlayers }: ResolvedList, limit: number, cursor: EntriesCursor): string {
  const query = new URLSearchParams({ limit: String(limit), cursor: encodeCursor(cursor) });
  if (withPlayers) query.set('fields', 'player');
  return `/v1/boards/${board.id}/${scope === GUILDS ? 'guilds' : 'entries'}?${query.toString()}`;
}

/** The scope of the list whose entries are guilds. */
export const GUILDS = 'guilds';
