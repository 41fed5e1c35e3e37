import { toTimestamp } from '@laddercast/platform';
import type { ListEnvelope, ListSelection } from '../queries.js';

/** A page of a list by its 0-based offset. */
export interface OffsetPage {
  offset: number;
  limit: number;
}

/**
 * The paths of the pages beside one. The page before ends where this one begins, and is shorter when there is less before:
 * who follows the paths, in either direction, is shown no row twice and misses none.
 * @param route what follows the board in the path: `entries`
 */
export function linksBeside(
  selection: ListSelection,
  { board, window, total }: ListEnvelope,
  route: string,
  { offset, limit }: OffsetPage,
): { next: string | null; prev: string | null } {
  const pathOf = (page: OffsetPage): string => {
    const query = new URLSearchParams({
      window: window.id,
      limit: String(page.limit),
      offset: String(page.offset),
    });
    if (selection.scope) query.set('scope', selection.scope);
    if (selection.rankStyle) query.set('rankStyle', selection.rankStyle);
    if (selection.withPlayers) query.set('fields', 'player');
    if (selection.fromReplica) query.set('from', 'replica');
    if (selection.asOfMs !== undefined) query.set('asOf', toTimestamp(selection.asOfMs));
    if (selection.edition !== undefined) query.set('edition', String(selection.edition));
    return `/v1/boards/${board}/${route}?${query.toString()}`;
  };
  const end = offset + limit;
  // Behind the end of the list nothing is shown: the page before is its last.
  const begin = Math.min(offset, total);
  const before = Math.max(0, begin - limit);
  return {
    next: end < total ? pathOf({ offset: end, limit }) : null,
    prev: begin > 0 ? pathOf({ offset: before, limit: begin - before }) : null,
  };
}
