import { isUnused, type ResolvedList } from '@laddercast/queries';

/**
 * How long an ended window is read from the projection before that is checked again; less than the resolver's distance
 * to the end of the keys.
 */
const ENDED_FOR_MS = 1500;
/** How late it is noticed that standings were revised, where the announcement was lost. */
const REVISED_WITHIN_MS = 5000;

/**
 * Until when a resolved list holds, by the ledger's time (Unix ms): from its freeze on, and again after its end, a
 * window is read from other standings, and acts may revise those. A reading at a time when that may have come must be resolved anew.
 */
export function readableUntilMs({ window, edition, atMs }: ResolvedList): number {
  const { freezeAtMs, endsAtMs } = window;
  if (endsAtMs === null || isUnused(window)) return Infinity;
  // A reading of the projection must not be after the freeze, and the freeze may have just come.
  if (atMs < endsAtMs)
    return Math.min(edition === null ? (freezeAtMs ?? endsAtMs) : atMs + REVISED_WITHIN_MS, endsAtMs);
  // Frozen standings were shown because the end had not certainly come.
  const isToChange = edition === null || edition.kind === 'frozen';
  return atMs + (isToChange ? ENDED_FOR_MS : REVISED_WITHIN_MS);
}
