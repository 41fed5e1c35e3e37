import type { RankedEntry } from '@laddercast/domain';
import type { ProjectedEntry } from '@laddercast/projections';
import type { EntryDetails, ResolvedList } from '@laddercast/queries';
import type { RowsReading } from './watched-channel.js';

/** The most rows whose details are asked for at once. */
const DETAILS_AT_ONCE = 500;

/** A row as its player sees it. */
export interface CompletedRow {
  row: RankedEntry;
  /** Whether others see the row, too. */
  isListed: boolean;
}

/** Completes entries of one list, in the order given, including those of players who are not listed. */
export async function completedRows(
  details: EntryDetails,
  resolved: ResolvedList,
  entries: readonly ProjectedEntry[],
): Promise<CompletedRow[]> {
  const completed: CompletedRow[] = [];
  for (let start = 0; start < entries.length; start += DETAILS_AT_ONCE) {
    const part = entries.slice(start, start + DETAILS_AT_ONCE);
    const rows = await details.complete(resolved, part, { including: 'all', areLasting: true });
    completed.push(...rows.map((row) => ({ row, isListed: details.isShownIn(resolved, row.playerId) })));
  }
  return completed;
}

/** As {@link completedRows}, for several readings at once. */
export async function completedReadings(
  details: EntryDetails,
  resolved: ResolvedList,
  readings: readonly (readonly ProjectedEntry[])[],
): Promise<CompletedRow[][]> {
  const rows = await completedRows(details, resolved, readings.flat());
  let next = 0;
  return readings.map(({ length }) => rows.slice(next, (next += length)));
}

/** The rows that a channel shows: those of listed players, and that of `ownId`. */
export function shownOf(rows: readonly CompletedRow[], total: number, ownId: string | null): RowsReading {
  const entries = rows.filter(({ row, isListed }) => isListed || row.playerId === ownId).map(({ row }) => row);
  const shown = new Set(entries.map(({ playerId }) => playerId));
  const hidden = rows.map(({ row }) => row.playerId).filter((playerId) => !shown.has(playerId));
  return { total, entries, hidden: new Set(hidden) };
}
